"""What share of a diagnostic's spread over the format × judge grid the format and the judge explain (Format §3.1)."""

from dataclasses import dataclass

import numpy as np

from judgelab.evaluation.levels import Floats


@dataclass(frozen=True)
class VarianceShares:
    """Shares of the sum of squares, which add to one; with one value per cell the rest holds the interaction."""

    format: float
    judge: float
    residual: float


def variance_shares(grid: Floats) -> VarianceShares | None:
    """Two-way shares of a grid [formats, judges]; null for a missing cell, one row or column, or a constant grid."""
    if min(grid.shape) < 2 or np.isnan(grid).any():
        return None
    mean = grid.mean()
    total = ((grid - mean) ** 2).sum()
    if np.isclose(total, 0, atol=1e-24):
        return None
    formats, judges = grid.shape
    by_format = judges * ((grid.mean(axis=1) - mean) ** 2).sum() / total
    by_judge = formats * ((grid.mean(axis=0) - mean) ** 2).sum() / total
    return VarianceShares(float(by_format), float(by_judge), float(1 - by_format - by_judge))
