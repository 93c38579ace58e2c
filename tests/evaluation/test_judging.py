"""Score rows become one classification per run; a missing row is an error, never a smaller n."""

import pytest

from judgelab.data.records import Item
from judgelab.evaluation.judging import evaluate_rows, evaluate_verdicts

ITEMS = [Item("a", "q", "r", 1), Item("b", "q", "s", 0)]


def _row(item: str, repeat: int, score: float | None) -> dict:
    status = "invalid" if score is None else "ok"
    return {"candidate_id": item, "repeat": repeat, "status": status, "score": score}


def test_runs_are_kept_apart() -> None:
    rows = [_row("a", 0, 1.0), _row("b", 0, 0.0), _row("b", 1, None), _row("a", 1, 1.0)]
    evaluation = evaluate_rows("after", ITEMS, rows)
    assert [run.accuracy_strict for run in evaluation.runs] == [1.0, 0.5]
    metrics = evaluation.metrics()
    assert metrics["evaluation/after/accuracy_strict"] == 0.75
    assert metrics["evaluation/after/accuracy_strict_sd"] == pytest.approx(0.5**0.5 / 2)
    assert (metrics["evaluation/after/n"], metrics["evaluation/after/runs"]) == (2, 2)
    assert evaluation.confusion.n == 4


def test_a_missing_row_is_an_error() -> None:
    with pytest.raises(ValueError, match="3 score rows for 2 items in 2 runs"):
        evaluate_rows("after", ITEMS, [_row("a", 0, 1.0), _row("b", 0, 0.0), _row("b", 1, None)])


def test_one_run_has_no_deviation() -> None:
    assert not any(name.endswith("_sd") for name in evaluate_verdicts("tfidf", ITEMS, [1, 1]).metrics())
