"""Holm's adjusted p-values against the step-down procedure itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab.evaluation.multiple_tests import holm

P = st.one_of(st.none(), st.floats(0, 1))


@given(st.lists(P, max_size=8), st.floats(0.001, 0.5))
def test_rejections_are_those_of_the_step_down_procedure(p_values: list[float | None], alpha: float) -> None:
    known = sorted(p for p in p_values if p is not None)
    rejected = 0
    while rejected < len(known) and (len(known) - rejected) * known[rejected] <= alpha:
        rejected += 1
    adjusted = holm(p_values)
    assert sum(p is not None and p <= alpha for p in adjusted) == rejected
    assert [p is None for p in adjusted] == [p is None for p in p_values]


def test_a_worked_example() -> None:
    assert holm([0.01, None, 0.04, 0.03]) == [pytest.approx(0.03), None, pytest.approx(0.06), pytest.approx(0.06)]
