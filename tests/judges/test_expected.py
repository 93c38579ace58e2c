"""Expected scores against the formula, and what has no mass has no score."""

import json
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab.config.schema import FormatConfig
from judgelab.judges.expected import expected_score, probabilities_text

LIKERT = FormatConfig("likert5", "", "verdict", {str(v): (v - 1) / 4 for v in range(1, 6)})
SHARES = st.lists(st.floats(0, 0.2), min_size=5, max_size=5)


@given(SHARES)
def test_the_score_is_the_mean_over_verdicts(shares: list[float]) -> None:
    found = expected_score(probabilities_text(LIKERT, shares), LIKERT)
    exact = [Fraction(share) for share in json.loads(probabilities_text(LIKERT, shares)).values()]
    assert found.mass == pytest.approx(float(sum(exact)), abs=1e-300)
    if not sum(exact):
        assert (found.parsed.status, found.parsed.score, found.parsed.verdict) == ("invalid", None, None)
        return
    score = sum(share * Fraction(n, 4) for n, share in enumerate(exact)) / sum(exact)
    assert found.parsed.score == pytest.approx(float(score), abs=1e-12)
    assert found.parsed.verdict is not None
    assert exact[int(found.parsed.verdict) - 1] == max(exact)


@given(SHARES)
def test_what_is_kept_has_six_digits(shares: list[float]) -> None:
    kept = json.loads(probabilities_text(LIKERT, shares))
    assert list(kept) == ["1", "2", "3", "4", "5"]
    assert list(kept.values()) == pytest.approx(shares, rel=1e-5, abs=1e-300)


@pytest.mark.parametrize("odd", [math.nan, math.inf])
def test_a_mass_that_is_no_number_is_invalid(odd: float) -> None:
    found = expected_score(probabilities_text(LIKERT, [0.1, 0.2, odd, 0.1, 0.1]), LIKERT)
    assert (found.parsed.status, found.parsed.score, found.mass) == ("invalid", None, None)


def test_no_mass_is_invalid_and_its_mass_is_known() -> None:
    found = expected_score(probabilities_text(LIKERT, [0.0] * 5), LIKERT)
    assert (found.parsed.status, found.parsed.score, found.mass) == ("invalid", None, 0.0)


def test_tiny_masses_are_still_masses() -> None:
    found = expected_score(probabilities_text(LIKERT, [1e-200, 0, 0, 0, 3e-200]), LIKERT)
    assert found.parsed.score == pytest.approx(0.75)
