"""Figures against counting by hand; an unparsed verdict is a miss in the strict ones and leaves the others."""

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab.evaluation.classification import UNPARSED, classify, confusion, mean_and_sd

ROWS = st.lists(st.tuples(st.sampled_from([0, 1]), st.sampled_from([0, 1, None])), min_size=1, max_size=30)


def _f1(rows: list[tuple[int, int | None]], label: int) -> float | None:
    hits = sum(y == v == label for y, v in rows)
    wrong = sum((y == label) != (v == label) for y, v in rows)
    return 2 * hits / (2 * hits + wrong) if hits + wrong else None


@given(ROWS)
def test_figures_equal_counting(rows: list[tuple[int, int | None]]) -> None:
    figures = classify(*map(list, zip(*rows, strict=True)))
    parsed = [(y, v) for y, v in rows if v is not None]
    strict = [_f1(rows, label) or 0.0 for label in (0, 1)]
    assert figures.macro_f1_strict == pytest.approx(statistics.fmean(strict))
    over_parsed = [_f1(parsed, label) for label in (0, 1)]
    if None in over_parsed:
        assert figures.macro_f1_parsed is None
    else:
        assert figures.macro_f1_parsed == pytest.approx(statistics.fmean(over_parsed))
    hits = sum(y == v for y, v in rows)
    assert figures.accuracy_strict == hits / len(rows)
    assert figures.accuracy_parsed == (hits / len(parsed) if parsed else None)
    assert (figures.parse_rate, figures.n, figures.n_parsed) == (
        len(parsed) / len(rows),
        len(rows),
        len(parsed),
    )


@given(ROWS)
def test_confusion_counts_every_row_once(rows: list[tuple[int, int | None]]) -> None:
    matrix = confusion(*map(list, zip(*rows, strict=True)))
    assert matrix.n == len(rows)
    assert sum(matrix.counts[label, UNPARSED] for label in (0, 1)) == sum(v is None for _, v in rows)


def test_a_judge_that_never_parses_scores_zero_strictly_and_nothing_else() -> None:
    figures = classify([0, 1, 1], [None, None, None])
    assert (figures.macro_f1_strict, figures.macro_f1_parsed, figures.accuracy_parsed) == (0.0, None, None)


def test_no_items_is_an_error() -> None:
    with pytest.raises(ValueError, match="no items"):
        classify([], [])


def test_mean_and_sd_leave_nulls_out() -> None:
    assert mean_and_sd([None, 0.5]) == (0.5, None)
    assert mean_and_sd([None]) == (None, None)
    mean, sd = mean_and_sd([0.1, 0.2, 0.4])
    assert mean == pytest.approx(0.7 / 3)
    assert sd == pytest.approx(math.sqrt(((0.1 - mean) ** 2 + (0.2 - mean) ** 2 + (0.4 - mean) ** 2) / 2))
