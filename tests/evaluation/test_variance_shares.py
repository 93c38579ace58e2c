"""Variance shares against least squares on dummy variables."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from judgelab.evaluation.variance_shares import variance_shares


@given(arrays(float, st.tuples(st.integers(2, 5), st.integers(2, 4)), elements=st.floats(-5, 5, width=32)))
def test_shares_against_least_squares(grid: np.ndarray) -> None:
    found = variance_shares(grid)
    total = ((grid - grid.mean()) ** 2).sum()
    if total < 1e-20:
        assert found is None
        return
    values = grid.ravel()
    rows, columns = (each.ravel() for each in np.indices(grid.shape))
    explained = []
    for groups in (rows, columns):
        dummies = (groups[:, None] == np.unique(groups)).astype(float)
        fitted = dummies @ np.linalg.lstsq(dummies, values, rcond=None)[0]
        explained.append(((fitted - values.mean()) ** 2).sum() / total)
    assert (found.format, found.judge) == pytest.approx(tuple(explained), abs=1e-7)
    assert found.format + found.judge + found.residual == pytest.approx(1)


def test_what_has_no_shares() -> None:
    assert variance_shares(np.array([[1.0, np.nan], [2.0, 3.0]])) is None
    assert variance_shares(np.array([[1.0], [2.0]])) is None
    assert variance_shares(np.ones((3, 3))) is None


def test_additive_grids_have_no_residual() -> None:
    found = variance_shares(np.add.outer([0.0, 1.0, 4.0], [0.0, 0.5]))
    assert found.residual == pytest.approx(0, abs=1e-12)
    assert found.format > found.judge > 0
