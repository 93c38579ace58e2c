"""Summaries of scores against counting by hand."""

from fractions import Fraction
from itertools import product

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab.evaluation.score_summary import Flips, captured_mass, flip_rates, summarize


def _frame(scores: list[float | None], name: str = "likert5") -> pd.DataFrame:
    statuses = ["ok" if score is not None else "invalid" for score in scores]
    keys = {"criterion": "c", "judge": "j", "decoding": "d", "prompt_id": "p", "other_id": None, "order": None}
    ids = [f"c{n}" for n in range(len(scores))]
    scores = pd.Series(scores, dtype=float)
    return pd.DataFrame({**keys, "format": name, "candidate_id": ids, "status": statuses, "score": scores})


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, None]), min_size=1, max_size=30))
def test_figures_equal_counting(scores: list[float | None]) -> None:
    (summary,) = summarize(_frame(scores))
    scored = [score for score in scores if score is not None]
    assert summary.requests == len(scores)
    assert summary.parse_rate == len(scored) / len(scores)
    assert summary.distinct == len(set(scored))
    if not scored:
        assert (summary.mean, summary.tie_probability, summary.top_share) == (None, None, None)
        return
    pairs = list(product(scored, repeat=2))
    assert summary.tie_probability == pytest.approx(float(Fraction(sum(a == b for a, b in pairs), len(pairs))))
    assert summary.mean == pytest.approx(sum(scored) / len(scored))
    assert summary.top_share == pytest.approx(max(map(scored.count, scored)) / len(scored))


def test_errors_are_no_replies_and_formats_keep_their_order() -> None:
    rows = pd.concat([_frame([1.0, None], "numeric100"), _frame([0.5], "binary")])
    rows.loc[rows["status"] == "invalid", "status"] = "error"
    numeric, binary = summarize(rows)
    assert (numeric.format, binary.format) == ("numeric100", "binary")
    assert numeric.statuses == {"ok": 1, "error": 1}
    assert numeric.parse_rate == 1.0


def test_ties_are_those_of_judgments_and_statuses_those_of_samples() -> None:
    rows = _frame([1.0, 0.0, 0.0, 1.0, 1.0, None])
    rows["candidate_id"] = ["a", "a", "b", "b", "c", "c"]
    (summary,) = summarize(rows)
    # a and b mean 0.5, c is 1.0 by its one sample: Σ p² = (2/3)² + (1/3)².
    assert (summary.requests, summary.parse_rate, summary.distinct) == (6, 5 / 6, 2)
    assert summary.tie_probability == pytest.approx(5 / 9)
    assert summary.mean == pytest.approx(2 / 3)


def test_scores_that_agree_to_nine_decimals_tie() -> None:
    (summary,) = summarize(_frame([0.1 + 0.2, 0.3]))
    assert (summary.distinct, summary.tie_probability) == (1, 1.0)


def test_flips_count_what_parsed_both_times() -> None:
    keys = {"format": "binary", "prompt_id": "p", "other_id": None, "order": None}
    first = pd.DataFrame(
        [
            {**keys, "candidate_id": f"c{i}", "repeat": 0, "verdict": v, "text": str(v)}
            for i, v in enumerate(["A", "B", "A", None])
        ]
    )
    again = pd.DataFrame(
        [
            {**keys, "candidate_id": f"c{i}", "repeat": 1, "verdict": v, "text": str(v)}
            for i, v in enumerate(["A", "A", None, "B"])
        ]
    )
    assert flip_rates(first, again) == {"binary": Flips(rate=0.5, parsed=2, replies_changed=0.75, asked=4)}


def test_captured_mass_is_a_mean_over_judgments_that_have_one() -> None:
    masses = [0.25, 0.75, None, 0.5]
    rows = pd.DataFrame({"format": ["b", "b", "b", "a"], "mass": pd.Series(masses, dtype=float)})
    assert captured_mass(rows) == {"b": (0.5, 2), "a": (0.5, 1)}
    assert captured_mass(rows.assign(mass=None)) == {}
