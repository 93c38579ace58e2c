import json
import re
from collections import Counter
from importlib.resources import files

import pytest
from sklearn.metrics import f1_score

from judgelab.data.sample import SampleSource
from judgelab.errors import DataError

CEILING = 0.65  # macro-F1 that a rule without reading may reach on the bundled test split


def bundled():
    text = (files("judgelab.data") / "samples" / "criminality.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def macro_f1(labels, verdicts):
    """The better of a rule and its opposite."""
    return max(
        f1_score(labels, [int(v == sign) for v in verdicts], average="macro", zero_division=0) for sign in (True, False)
    )


def words(text):
    return set(re.findall(r"[a-z']+", text.lower()))


def test_bundled_train_items_have_a_rationale_and_a_pair_and_splits_are_balanced():
    train = [row for row in bundled() if row["split"] == "train"]
    assert len(train) >= 64
    assert all(row["rationales"] and row["counterfactual"].strip() for row in train)
    assert all(len(row["pair_reasons"]) == 2 for row in train)
    pool = SampleSource(name="sample").load("criminality", (), 42)
    assert len(pool.train) + len(pool.validation) == len(train)
    assert len(pool.test) == 48
    for part in (pool.train, pool.validation, pool.test):
        assert len({Counter(item.label for item in part)[label] for label in (0, 1)}) == 1
    assert len(pool.train_pairs) == len(pool.train)
    assert len(pool.validation_pairs) == len(pool.validation)


@pytest.mark.parametrize("measure", [len, lambda text: len(text.split())], ids=["characters", "words"])
def test_no_length_rule_reads_the_bundled_test_labels(measure):
    test = [row for row in bundled() if row["split"] == "test"]
    labels, lengths = [row["label"] for row in test], [measure(row["response"]) for row in test]
    best = max(macro_f1(labels, [length > limit for length in lengths]) for limit in set(lengths))
    assert best <= CEILING


def test_no_single_keyword_reads_the_bundled_test_labels():
    test = [row for row in bundled() if row["split"] == "test"]
    labels, bags = [row["label"] for row in test], [words(row["response"]) for row in test]
    best = max((macro_f1(labels, [word in bag for bag in bags]), word) for word in set.union(*bags))
    assert best[0] <= CEILING, best


def rows(train=4, test=4):
    made = [
        {
            "id": f"{part}{n}",
            "split": part,
            "query": f"query {part} {n}",
            "response": f"response {part} {n}",
            "label": n % 2,
        }
        for part, size in (("train", train), ("test", test))
        for n in range(size)
    ]
    return [row | ({"counterfactual": f"flip of {row['id']}"} if row["split"] == "train" else {}) for row in made]


def write(tmp_path, content):
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in content), encoding="utf-8")
    return path


def load(path, criterion="any", slots=(), **settings):
    return SampleSource(name="sample", path=str(path), **settings).load(criterion, slots, 42)


def test_a_users_file_keeps_its_own_splits_and_reports_its_hash(tmp_path):
    content = [row | {"context": f"about {row['id']}"} for row in rows(train=20)]
    pool = load(write(tmp_path, content), slots=("context",))
    assert {item.item_id for item in pool.test} == {f"test{n}" for n in range(4)}
    assert (len(pool.train), len(pool.validation)) == (18, 2)
    assert all(item.slots == {"context": f"about {item.item_id}"} for item in pool.train)
    assert list(pool.inputs) == [str(tmp_path / "mine.jsonl")]


def test_row_order_changes_nothing(tmp_path):
    forward = load(write(tmp_path, rows(20)))
    backward = load(write(tmp_path, rows(20)[::-1]))
    assert (forward.train, forward.validation, forward.test) == (
        backward.train,
        backward.validation,
        backward.test,
    )
    assert forward.train_pairs == backward.train_pairs


def test_repeats_majorities_and_limits_are_counted(tmp_path):
    content = rows(train=8)
    content += [content[0], content[1] | {"id": "again"}, content[0] | {"id": "extra", "response": "new"}]
    content += [content[2] | {"id": "contradiction", "label": 1}]
    pool = load(write(tmp_path, content), limit=2, validation_fraction=0.0)
    assert pool.counts == {
        "dropped_duplicate_rows": 1,
        "dropped_exact_duplicates": 1,
        "dropped_conflicting_labels": 2,
        "dropped_for_balance": 0,
        "dropped_for_limit": 8,
    }
    assert {pair.item_ids[0] for pair in pool.train_pairs} == {item.item_id for item in pool.train}


def broken(row, **change):
    content = rows()
    content[row - 1] = content[row - 1] | change
    return content


def without(row, column):
    content = rows()
    del content[row - 1][column]
    return content


BAD = {
    "wrong column": (without(2, "label"), "row 2: no column 'label'; the nearest existing column is"),
    "no counterfactual": (without(3, "counterfactual"), "row 3: no column 'counterfactual'"),
    "empty query": (broken(2, query="  "), "row 2: empty 'query'"),
    "empty response": (broken(2, response=""), "row 2: empty 'response'"),
    "empty rationale": (broken(2, rationales=["a", ""]), "row 2: 'rationales' must be a list of texts"),
    "one reason": (broken(2, pair_reasons=["a"]), "row 2: 'pair_reasons' must be two texts"),
    "repeated rationale": (broken(2, rationales=["a", "a"]), "row 2: 'rationales' repeats a text"),
    "label 2": (broken(2, label=2), r"row 2: 'label' is 2, outside \{0, 1\}"),
    "text label": (broken(2, label="1"), "row 2: 'label' is '1', outside"),
    "unknown split": (broken(2, split="dev"), "row 2: 'split' is 'dev', outside"),
    "empty counterfactual": (broken(2, counterfactual=""), "row 2: empty 'counterfactual'"),
    "same counterfactual": (
        broken(2, counterfactual="response train 1"),
        "row 2: the counterfactual of item 'train1' equals its response",
    ),
    "counterfactual in capitals": (
        broken(2, counterfactual="Response  TRAIN 1"),
        "row 2: the counterfactual of item 'train1' equals its response",
    ),
    "duplicate id": (broken(2, id="train0"), "row 2: id 'train0' is already that of .*mine.jsonl, row 1"),
    "id type": (
        [rows()[0] | {"id": "1"}, rows()[1] | {"id": 1}],
        "row 2: id 1 differs only in type .*, row 1",
    ),
    "test item in training": (
        broken(5, query="query train 1", response="response train 1"),
        r"row 5 \('test0'\): this test item is also the training item .*mine.jsonl, row 2",
    ),
    "test item in a training pair": (
        broken(5, query="query train 1", response="flip of train1"),
        r"row 5 \('test0'\): this test item is part of the training pair 'train1:.* .*mine.jsonl, row 2",
    ),
}


@pytest.mark.parametrize(("content", "message"), BAD.values(), ids=BAD)
def test_bad_rows_name_file_and_row(tmp_path, content, message):
    with pytest.raises(DataError, match=f"mine.jsonl, {message}"):
        load(write(tmp_path, content))


def test_bad_files_name_the_path_and_the_place(tmp_path):
    with pytest.raises(DataError, match=r"absent.jsonl: no such file; set data.path="):
        load(tmp_path / "absent.jsonl")
    path = write(tmp_path, rows())
    path.write_bytes(path.read_bytes().replace(b"response train 1", b"r\xe9ponse train 1"))
    with pytest.raises(DataError, match=r"mine.jsonl, line 2: not UTF-8 at byte offset \d+"):
        load(path)
    path.write_text(path.read_bytes().decode("latin-1")[:-1], encoding="utf-8")
    with pytest.raises(DataError, match=r"mine.jsonl, row 8: broken JSON"):
        load(path)


def test_a_missing_slot_names_its_column(tmp_path):
    with pytest.raises(DataError, match=r"mine.jsonl, row 1: no column 'context'"):
        load(write(tmp_path, rows()), slots=("context",))


def test_a_criterion_without_bundled_sample_names_those_that_have_one():
    with pytest.raises(DataError, match=r"no bundled sample for criterion 'tidiness', only for .*criminality"):
        SampleSource(name="sample").load("tidiness", (), 42)
