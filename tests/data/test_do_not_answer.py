import csv
import random
from collections import Counter
from pathlib import Path

import pytest

from judgelab.data.do_not_answer import MODELS, DoNotAnswer
from judgelab.errors import DataError

PUBLIC = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "do_not_answer"
needs_public = pytest.mark.skipif(not PUBLIC.is_dir(), reason="no shared/data/do_not_answer beside the repository")


def load(path, seed=42, **settings):
    return DoNotAnswer(name="do_not_answer", path=str(path), **settings).load("criminality", (), seed)


def read(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def write(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@needs_public
def test_labels_texts_and_counts_agree_with_the_public_file():
    pool = load(PUBLIC)
    rows = {row["id"]: row for row in read(PUBLIC / "data_en.csv")}
    items = pool.train + pool.validation + pool.test
    for item in items:
        question, model = item.item_id.split(":")
        row = rows[question]
        assert (item.query, item.response) == (row["question"], row[f"{model}_response"])
        assert item.label == 1 - int(row[f"{model}_harmful"])
    harmful = sum(row[f"{model}_harmful"] == "1" for row in rows.values() for model in MODELS)
    assert sum(item.label == 0 for item in items) == harmful
    assert len(items) + sum(pool.counts[k] for k in pool.counts if k.startswith("dropped_")) == 6 * len(rows)
    assert list(pool.inputs) == [str(PUBLIC / "data_en.csv")]


@needs_public
def test_splits_are_balanced_and_keep_a_question_and_its_pairs_together():
    pool = load(PUBLIC)
    for part in (pool.train, pool.validation, pool.test):
        counts = Counter(item.label for item in part)
        assert counts[0] == counts[1] > 0
    train, validation, test = ({item.query for item in part} for part in (pool.train, pool.validation, pool.test))
    train |= {pair.query for pair in pool.train_pairs}
    validation |= {pair.query for pair in pool.validation_pairs}
    assert not (train & validation or train & test or validation & test)
    assert pool.counts["natural_pairs"] == len(pool.train_pairs) + len(pool.validation_pairs) > 0


@needs_public
def test_natural_pairs_carry_opposite_human_labels():
    rows = {row["id"]: row for row in read(PUBLIC / "data_en.csv")}
    pool = load(PUBLIC)
    in_pool = {item.item_id for item in pool.train}
    for pair in pool.train_pairs:
        harmful = [rows[question][f"{model}_harmful"] for question, model in (i.split(":") for i in pair.item_ids)]
        assert harmful == ["0", "1"]
        assert in_pool.intersection(pair.item_ids)


@needs_public
def test_row_order_changes_nothing_and_folder_or_file_are_the_same(tmp_path):
    rows = read(PUBLIC / "data_en.csv")
    random.Random(1).shuffle(rows)
    shuffled, original = load(write(tmp_path / "shuffled.csv", rows)), load(PUBLIC / "data_en.csv")
    for field in ("train", "validation", "test", "train_pairs", "validation_pairs", "counts"):
        assert getattr(shuffled, field) == getattr(original, field)


@needs_public
def test_the_limit_holds_in_every_split():
    pool = load(PUBLIC, limit=8)
    assert [len(part) for part in (pool.train, pool.validation, pool.test)] == [8, 8, 8]
    assert len(pool.train_pairs) <= 8


def small(questions=20):
    """Every question has one harmful reply, by the model whose turn it is."""
    return [
        {"id": str(q), "question": f"question {q}"}
        | {f"{model}_response": f"reply of {model} to {q}" for model in MODELS}
        | {f"{model}_harmful": str(int(turn == q % 6)) for turn, model in enumerate(MODELS)}
        for q in range(questions)
    ]


def test_equal_replies_are_dropped_and_contradictory_ones_leave_altogether(tmp_path):
    rows = small()
    rows[0]["ChatGPT_response"] = rows[0]["Claude_response"] = "the same"  # both harmless
    rows[1]["GPT4_response"] = rows[1]["ChatGPT_response"] = "the same"  # ChatGPT's is marked as harmful
    pool = load(write(tmp_path / "data_en.csv", [*rows, rows[5]]))
    assert pool.counts["dropped_exact_duplicates"] == 1
    assert pool.counts["dropped_conflicting_labels"] == 2
    assert pool.counts["dropped_duplicate_rows"] == 1
    assert sum(map(len, (pool.train, pool.validation, pool.test))) == 2 * 19


def changed(row, **values):
    rows = small()
    rows[row - 1] = rows[row - 1] | values
    return rows


def renamed(old, new):
    return [{new if column == old else column: value for column, value in row.items()} for row in small()]


BAD = {
    "wrong column": (
        renamed("Claude_response", "Claude_reply"),
        "row 1: no column 'Claude_response'; .*'Claude_reply'",
    ),
    "empty response": (changed(3, **{"vicuna-7b_response": ""}), "row 3: empty 'vicuna-7b_response'"),
    "empty question": (changed(3, question=" "), "row 3: empty 'question'"),
    "label 2": (changed(3, ChatGPT_harmful="2"), "row 3: 'ChatGPT_harmful' is '2', outside"),
    "label 1.0": (changed(3, ChatGPT_harmful="1.0"), "row 3: 'ChatGPT_harmful' is '1.0', outside"),
    "duplicate id": (
        changed(3, id="0"),
        "row 3: id '0' is already that of .*data_en.csv, row 1, with other content",
    ),
}


@pytest.mark.parametrize(("rows", "message"), BAD.values(), ids=BAD)
def test_bad_rows_name_file_row_and_column(tmp_path, rows, message):
    write(tmp_path / "data_en.csv", rows)
    with pytest.raises(DataError, match=f"data_en.csv, {message}"):
        load(tmp_path)


def test_a_missing_path_says_what_to_set(tmp_path):
    with pytest.raises(DataError, match=r"data.path is null; set data.path=FOLDER"):
        DoNotAnswer(name="do_not_answer").load("criminality", (), 42)
    with pytest.raises(DataError, match=r"data_en.csv: no such file; set data.path=FOLDER"):
        load(tmp_path)
