import csv
from collections import Counter
from pathlib import Path

import pytest

from judgelab.data.truthfulqa import TruthfulQA
from judgelab.errors import DataError

PUBLIC = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "truthfulqa"
needs_public = pytest.mark.skipif(not PUBLIC.is_dir(), reason="no shared/data/truthfulqa beside the repository")


def load(path, seed=42, slots=("reference",), **settings):
    return TruthfulQA(name="truthfulqa", path=str(path), **settings).load("correctness", slots, seed)


def read(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def write(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def listed(cell):
    return {answer.strip() for answer in cell.split(";")} - {""}


@needs_public
def test_labels_answers_and_references_agree_with_the_public_file():
    pool = load(PUBLIC)
    rows = {row["Question"]: row for row in read(PUBLIC / "TruthfulQA.csv")}
    items = pool.train + pool.validation + pool.test
    for item in items:
        row = rows[item.query]
        assert item.response in listed(row["Correct Answers" if item.label else "Incorrect Answers"])
        assert item.slots == {"reference": row["Best Answer"]}
        assert item.response != row["Best Answer"].strip()
    lone = sum(listed(row["Correct Answers"]) == {row["Best Answer"].strip()} for row in rows.values())
    assert pool.counts["skipped_without_second_answer"] == lone > 0
    assert len(items) + pool.counts["dropped_for_balance"] == 2 * (len(rows) - lone)


@needs_public
def test_splits_are_balanced_and_keep_a_question_and_its_pair_together():
    pool = load(PUBLIC)
    for part in (pool.train, pool.validation, pool.test):
        counts = Counter(item.label for item in part)
        assert counts[0] == counts[1] > 0
    train, validation, test = ({item.query for item in part} for part in (pool.train, pool.validation, pool.test))
    assert not (train & validation or train & test or validation & test)
    assert {pair.query for pair in pool.train_pairs} == train
    assert len(pool.train_pairs) == len(pool.train) / 2
    for pair in pool.train_pairs:
        assert [item_id.split(":")[1] for item_id in pair.item_ids] == ["correct", "incorrect"]


@needs_public
def test_row_order_changes_nothing_and_the_seed_draws_the_answers(tmp_path):
    original = load(PUBLIC)
    reordered = load(write(tmp_path / "TruthfulQA.csv", read(PUBLIC / "TruthfulQA.csv")[::-1]))
    assert (original.train, original.test, original.train_pairs) == (
        reordered.train,
        reordered.test,
        reordered.train_pairs,
    )
    assert {item.response for item in load(PUBLIC, seed=1).train} != {item.response for item in original.train}


def small(questions=20):
    return [
        {
            "Question": f"Question {n}?",
            "Best Answer": f"best {n}",
            "Correct Answers": f"best {n}; right {n}; also right {n};",
            "Incorrect Answers": f"wrong {n}; false {n}",
        }
        for n in range(questions)
    ]


def changed(row, **values):
    rows = small()
    rows[row - 1] = rows[row - 1] | values
    return rows


def test_what_cannot_be_used_is_skipped_and_counted(tmp_path):
    rows = changed(3, **{"Correct Answers": "best 2; both 2", "Incorrect Answers": "both 2; wrong 2"})
    pool = load(write(tmp_path / "TruthfulQA.csv", [*rows, rows[0]]))
    assert pool.counts["answers_on_both_sides"] == 1
    assert pool.counts["skipped_without_second_answer"] == 1
    assert pool.counts["dropped_duplicate_rows"] == 1
    assert sum(map(len, (pool.train, pool.validation, pool.test))) == 2 * 19


BAD = {
    "wrong column": ([{k.replace("Best", "Top"): v for k, v in row.items()} for row in small()], "row 1: no column"),
    "empty list": (changed(3, **{"Incorrect Answers": " ; ;"}), "row 3: 'Incorrect Answers' lists no answer"),
    "empty cell": (changed(3, **{"Correct Answers": ""}), "row 3: empty 'Correct Answers'"),
    "empty question": (changed(3, Question=" "), "row 3: empty 'Question'"),
    "repeated question": (changed(3, Question="Question 0?"), "row 3: id 'Question 0.' is already that of"),
}


@pytest.mark.parametrize(("rows", "message"), BAD.values(), ids=BAD)
def test_bad_rows_name_file_and_row(tmp_path, rows, message):
    write(tmp_path / "TruthfulQA.csv", rows)
    with pytest.raises(DataError, match=f"TruthfulQA.csv, {message}"):
        load(tmp_path)


def test_a_slot_that_the_data_lack_is_refused_with_what_there_is(tmp_path):
    write(tmp_path / "TruthfulQA.csv", small())
    expected = r"data=truthfulqa has no text for the slot 'context' that the criterion correctness .*it has: reference"
    with pytest.raises(DataError, match=expected):
        load(tmp_path, slots=("context",))


def test_the_hub_and_a_file_give_the_same_pool(tmp_path, tmp_path_factory, monkeypatch):
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path_factory.mktemp("cache")))
    write(tmp_path / "TruthfulQA.csv", small())
    # `datasets` reads a local folder under the name of a hub repository as it reads the hub.
    hub = TruthfulQA(name="truthfulqa", repo=str(tmp_path)).load("correctness", ("reference",), 42)
    local = load(tmp_path)
    for field in ("train", "validation", "test", "train_pairs", "counts"):
        assert getattr(hub, field) == getattr(local, field)
