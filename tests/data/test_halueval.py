import json
from pathlib import Path

import pytest

from judgelab.data.halueval import HaluEval
from judgelab.errors import DataError

PUBLIC = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "halueval"
needs_public = pytest.mark.skipif(not PUBLIC.is_dir(), reason="no shared/data/halueval beside the repository")


def load(path, seed=42, slots=("context",), **settings):
    return HaluEval(name="halueval", path=path and str(path), **settings).load("hallucination", slots, seed)


def read(path):
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def small(questions=20):
    return [
        {
            "knowledge": f"text {n}",
            "question": f"Question {n}?",
            "right_answer": f"r{n}",
            "hallucinated_answer": f"h{n}",
        }
        for n in range(questions)
    ]


@needs_public
def test_items_agree_with_the_public_file_and_pairs_stay_in_one_split():
    pool = load(PUBLIC)
    rows = {(row["question"], row["knowledge"]): row for row in read(PUBLIC / "qa_data.json")}
    items = pool.train + pool.validation + pool.test
    assert len(items) == 2 * len(rows)
    for item in items:
        row = rows[item.query, item.slots["context"]]
        assert item.response == row["right_answer" if item.label else "hallucinated_answer"]
    train, validation, test = ({item.query for item in part} for part in (pool.train, pool.validation, pool.test))
    assert not (train & validation or train & test or validation & test)
    assert len(pool.train_pairs) == len(pool.train) / 2


@needs_public
def test_row_order_changes_nothing(tmp_path):
    reordered = load(write(tmp_path / "qa_data.json", read(PUBLIC / "qa_data.json")[::-1]))
    assert (reordered.train, reordered.test, reordered.train_pairs) == (
        load(PUBLIC).train,
        load(PUBLIC).test,
        load(PUBLIC).train_pairs,
    )


def test_one_question_about_two_texts_is_two_questions(tmp_path):
    rows = small()
    again = rows[0] | {"knowledge": "another text", "right_answer": "other"}
    pool = load(write(tmp_path / "qa_data.json", [*rows, again, rows[1]]), test_fraction=0.3)
    contexts = {
        item.slots["context"] for item in pool.train + pool.validation + pool.test if item.query == "Question 0?"
    }
    assert contexts <= {"text 0", "another text"}
    assert pool.counts["dropped_duplicate_rows"] == 1
    assert all(pair.slots["context"] in ("another text", f"text {pair.query[9:-1]}") for pair in pool.train_pairs)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("knowledge", "", "row 3: empty 'knowledge'"),
        ("right_answer", None, "row 3: 'right_answer' is None, expected text"),
        ("hallucinated_answer", " ", "row 3: empty 'hallucinated_answer'"),
    ],
)
def test_bad_rows_name_file_and_row(tmp_path, column, value, message):
    rows = small()
    rows[2][column] = value
    with pytest.raises(DataError, match=f"qa_data.json, {message}"):
        load(write(tmp_path / "qa_data.json", rows))


def test_a_right_answer_that_is_also_hallucinated_leaves_both(tmp_path):
    rows = small()
    rows[0]["hallucinated_answer"] = rows[0]["right_answer"]
    assert load(write(tmp_path / "qa_data.json", rows)).counts["dropped_conflicting_labels"] == 2


def test_a_slot_that_the_data_lack_is_refused_with_what_there_is(tmp_path):
    path = write(tmp_path / "qa_data.json", small())
    with pytest.raises(DataError, match=r"no text for the slot 'reference' .*it has: context"):
        load(path, slots=("context", "reference"))
