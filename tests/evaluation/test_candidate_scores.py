"""From score rows to candidates: soft win rates, anchors in either slot, missing matches, repeats."""

import numpy as np
import pandas as pd
import pytest

from judgelab.config.schema import Comparison, FormatConfig
from judgelab.evaluation.candidate_scores import candidate_scores, matches, rated_pool, readings

NAN = float("nan")
POOL = rated_pool(
    pd.DataFrame(
        {
            "prompt_id": ["p"] * 3,
            "candidate_id": ["a", "b", "c"],
            "position": [0, 1, 2],
            "reference": [3.0, 1.0, 2.0],
        }
    )
)


def _rows(fmt: FormatConfig, *asked: tuple[str, str, str, str | None]) -> pd.DataFrame:
    """Rows of (response in slot A, response in slot B, order, verdict)."""
    return pd.DataFrame(
        [
            {
                "prompt_id": "p",
                "candidate_id": first,
                "other_id": second,
                "order": order,
                "repeat": 0,
                "verdict": verdict,
                "score": NAN if verdict is None else fmt.verdicts[verdict],
            }
            for first, second, order, verdict in asked
        ]
    )


def test_the_soft_win_rates_of_the_worked_example(formats: dict[str, FormatConfig]) -> None:
    tournament = formats["tournament"]
    rows = _rows(tournament, ("a", "b", "listing", "+2"), ("a", "c", "listing", "-1"), ("b", "c", "listing", "0"))
    scores = candidate_scores(rows, Comparison.all_pairs, POOL)
    assert scores == pytest.approx([0.5749, 0.3096, 0.6155], abs=5e-5)
    assert scores.sum() == pytest.approx(3 / 2)


def test_a_missing_match_drops_for_both_sides(formats: dict[str, FormatConfig]) -> None:
    tournament = formats["tournament"]
    rows = _rows(tournament, ("a", "b", "listing", "+2"), ("a", "c", "listing", None), ("b", "c", "listing", None))
    scores = candidate_scores(rows, Comparison.all_pairs, POOL)
    assert scores[:2] == pytest.approx([0.8808, 0.1192], abs=5e-5)
    assert np.isnan(scores[2])


def test_each_order_is_one_match(formats: dict[str, FormatConfig]) -> None:
    tournament = formats["tournament"]
    rows = _rows(tournament, ("a", "b", "listing", "+2"), ("b", "a", "reverse", "+2"), ("a", "c", "listing", "+1"))
    listing, both = readings("tournament", rows.iloc[:2])
    assert (listing.name, both.name) == ("tournament", "tournament (both orders)")
    assert candidate_scores(both.rows, Comparison.all_pairs, POOL)[:2] == pytest.approx([0.5, 0.5])
    assert candidate_scores(listing.rows, Comparison.all_pairs, POOL)[:2] == pytest.approx([0.8808, 0.1192], abs=5e-5)
    (drawn,) = readings("tournament", rows)  # a schedule that asks one order here and another there is one reading
    assert drawn.name == "tournament"


def test_an_anchored_candidate_is_scored_from_either_slot(formats: dict[str, FormatConfig]) -> None:
    anchored = formats["anchored"]
    rows = _rows(
        anchored,
        ("a", "c", "listing", "+2"),
        ("c", "a", "reverse", "-1"),
        ("b", "c", "listing", None),
        ("c", "b", "reverse", "+2"),
        ("c", "c", "listing", "+1"),
        ("c", "c", "reverse", "+1"),
    )
    listing, both = readings("anchored", rows)
    assert candidate_scores(listing.rows, Comparison.anchor, POOL) == pytest.approx([1, NAN, 0.75], nan_ok=True)
    assert candidate_scores(both.rows, Comparison.anchor, POOL) == pytest.approx([0.875, 0, 0.5])


def test_repeats_are_averaged_over_what_parsed() -> None:
    rows = pd.DataFrame(
        {
            "prompt_id": ["p"] * 5,
            "candidate_id": ["a", "a", "a", "b", "b"],
            "other_id": [None] * 5,
            "order": [None] * 5,
            "score": [1.0, 0.5, NAN, NAN, NAN],
        }
    )
    assert candidate_scores(rows, Comparison.none, POOL) == pytest.approx([0.75, NAN, NAN], nan_ok=True)


def test_matches_stand_in_their_forward_order(formats: dict[str, FormatConfig]) -> None:
    rows = _rows(
        formats["tournament"],
        ("a", "b", "listing", "+2"),
        ("b", "a", "reverse", "-1"),
        ("c", "b", "reverse", "+1"),
        ("a", "c", "listing", None),
    )
    found = matches(rows, POOL)
    by_pair = {gap: (ahead, back) for gap, ahead, back in zip(found.gap, found.forward, found.reverse, strict=True)}
    assert by_pair[2.0] == (2, -1)  # a before b: the reverse order has b in slot A
    assert np.isnan(by_pair[-1.0][0])  # b before c was asked in reverse only
    assert by_pair[-1.0][1] == 1
    assert all(np.isnan(by_pair[1.0]))
    assert not found.alone.any()
