"""Slot bias of comparative formats: what belongs to the place of a response and not to the response (Format §3.4)."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from judgelab.evaluation.levels import Floats

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % t interval (standard error with n − 1); the interval is null below two values."""

    mean: float
    low: float | None
    high: float | None
    n: int


def estimate(values: Floats) -> Estimate | None:
    """Mean and interval of independent values; null without any."""
    n = len(values)
    if not n:
        return None
    mean = float(values.mean())
    if n < 2:
        return Estimate(mean, None, None, n)
    half = float(stats.sem(values) * stats.t.ppf((1 + CONFIDENCE) / 2, n - 1))
    return Estimate(mean, mean - half, mean + half, n)


@dataclass(frozen=True)
class SlotModel:
    """v_fwd = q + b and v_rev = −q + b over comparisons judged in both orders (Table 4).

    q is the preference for the response that sits in slot A in the forward order, b the pull of slot A itself, both on
    the verdict's scale. `incomplete` comparisons lack a verdict in one order and are left out.
    """

    preference: Estimate | None
    bias: Estimate | None
    incomplete: int


def slot_model(forward: Floats, reverse: Floats) -> SlotModel:
    """Preference and slot bias from verdicts in favour of slot A in either order; NaN where a verdict is missing."""
    both = ~(np.isnan(forward) | np.isnan(reverse))
    ahead, back = forward[both], reverse[both]
    return SlotModel(estimate((ahead - back) / 2), estimate((ahead + back) / 2), int((~both).sum()))


@dataclass(frozen=True)
class GapCorrelation:
    """Pearson's correlation with its Fisher interval, and Spearman's; null where undefined."""

    pearson: float | None
    low: float | None
    high: float | None
    spearman: float | None
    n: int


def gap_correlation(preferences: Floats, gaps: Floats) -> GapCorrelation:
    """How each comparison's q follows the reference's gap between the two responses; NaNs leave."""
    known = ~(np.isnan(preferences) | np.isnan(gaps))
    q, gap = preferences[known], gaps[known]
    n = len(q)
    if n < 2 or np.ptp(q) == 0 or np.ptp(gap) == 0:
        return GapCorrelation(None, None, None, None, n)
    pearson = stats.pearsonr(q, gap)
    interval = pearson.confidence_interval(CONFIDENCE) if n > 3 else None  # Fisher's z has variance 1/(n − 3)
    low, high = (float(interval.low), float(interval.high)) if interval else (None, None)
    return GapCorrelation(float(pearson.statistic), low, high, float(stats.spearmanr(q, gap).statistic), n)


@dataclass(frozen=True)
class SlotShares:
    """How verdicts fall on the slots: shares in favour of A, tied, in favour of B, and the mean verdict."""

    n: int
    unparsed: int
    slot_a: float | None
    tie: float | None
    slot_b: float | None
    mean: float | None


def slot_shares(verdicts: Floats) -> SlotShares:
    """Shares over parsed verdicts in favour of slot A (positive), of neither, of slot B; NaN is unparsed.

    Over comparisons of a response with itself, whatever is not a tie is the slot's doing.
    """
    parsed = verdicts[~np.isnan(verdicts)]
    unparsed = len(verdicts) - len(parsed)
    if not len(parsed):
        return SlotShares(0, unparsed, None, None, None, None)
    slot_a, tie, slot_b = (float((np.sign(parsed) == sign).mean()) for sign in (1, 0, -1))
    return SlotShares(len(parsed), unparsed, slot_a, tie, slot_b, float(parsed.mean()))
