"""How many levels a judge's scores use: ties, effective levels, capacity (Format paper §3.1–3.2, Tables 1, 5, 10)."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from judgelab.run.randomness import derived_seed

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

DECIMALS = 9
"""Scores are equal when they agree to so many decimals: soft tournament scores differ in the last bit."""


def scored(scores: Floats) -> Floats:
    """The scores that exist, rounded to where they count as equal."""
    return np.round(scores[~np.isnan(scores)], DECIMALS)


def level_counts(scores: Floats) -> NDArray[np.int64]:
    """How often each distinct score occurs."""
    return np.unique(scored(scores), return_counts=True)[1].astype(np.int64)


def tie_probability(counts: NDArray[np.int64]) -> float | None:
    """Σ p²: how likely two scores drawn with replacement are equal; null without scores."""
    return float(((counts / counts.sum()) ** 2).sum()) if counts.sum() else None


def effective_levels(counts: NDArray[np.int64], alpha: float) -> float | None:
    """D_α = exp(H_α) of Rényi's entropy in nats, α from 0 to infinity; null without scores."""
    used = counts[counts > 0]
    if not len(used):
        return None
    log_shares = np.log(used / used.sum())
    if alpha == 1:
        entropy = -(np.exp(log_shares) * log_shares).sum()
    elif math.isinf(alpha):
        entropy = -log_shares.max()
    else:
        entropy = logsumexp(alpha * log_shares) / (1 - alpha)
    return float(np.exp(entropy))


@dataclass(frozen=True)
class Capacity:
    """What share of a format's K levels is used: D₂/K, ln D₂ / ln K, and ties above their floor of 1/K."""

    levels: int
    share: float
    log_share: float
    excess_ties: float


def capacity(counts: NDArray[np.int64], levels: int) -> Capacity | None:
    """Capacity of a format with `levels` allowed scores; null without scores, or where there is one level only."""
    ties, effective = tie_probability(counts), effective_levels(counts, 2)
    if ties is None or effective is None or levels < 2:
        return None
    return Capacity(levels, effective / levels, math.log(effective) / math.log(levels), ties - 1 / levels)


@dataclass(frozen=True)
class Subsample:
    """Distinct scores and effective levels over random parts of the prompts: means and standard deviations."""

    fraction: float
    prompts: int
    draws: int
    distinct: float
    distinct_sd: float | None
    effective: float
    effective_sd: float | None


def subsamples(
    scores: Floats, prompts: Codes, fractions: Sequence[float], draws: int, seed: int
) -> Iterator[Subsample]:
    """How distinct scores and D₂ change with the size of the pool (Table 10); prompts are drawn, with all candidates.

    `prompts` numbers the prompt of each candidate from 0. Nothing where no score exists.
    """
    known = ~np.isnan(scores)
    if not known.any():
        return
    levels = np.unique(np.round(scores[known], DECIMALS), return_inverse=True)[1]
    owners = prompts[known]
    total = int(prompts.max()) + 1
    for fraction in fractions:
        size = max(1, round(fraction * total))
        counted = [_drawn_counts(levels, owners, total, size, seed, draw) for draw in range(draws)]
        drawn = [counts for counts in counted if counts.sum()]
        if drawn:
            yield _subsample(fraction, size, drawn)


def _drawn_counts(levels: Codes, owners: Codes, total: int, size: int, seed: int, draw: int) -> NDArray[np.int64]:
    random = np.random.default_rng(derived_seed(seed, "subsample", size, draw))
    chosen = np.zeros(total, dtype=bool)
    chosen[random.choice(total, size, replace=False)] = True
    return np.bincount(levels[chosen[owners]], minlength=1)


def _subsample(fraction: float, size: int, drawn: Sequence[NDArray[np.int64]]) -> Subsample:
    distinct = np.array([(counts > 0).sum() for counts in drawn], dtype=float)
    effective = np.array([1 / ((counts / counts.sum()) ** 2).sum() for counts in drawn])
    return Subsample(fraction, size, len(drawn), distinct.mean(), _sd(distinct), effective.mean(), _sd(effective))


def _sd(values: Floats) -> float | None:
    return float(values.std(ddof=1)) if len(values) > 1 else None


ROUND_STEP = 5
WIDE_SCALE = 20
"""A scale of whole numbers this wide or wider is where judges prefer round numbers."""


def round_number_share(verdicts: Sequence[str], allowed: Sequence[str]) -> tuple[float, float] | None:
    """Share of verdicts on multiples of five, and their share of the scale; null for a narrow scale or no verdict."""
    if not all(verdict.isdecimal() for verdict in allowed) or not verdicts:
        return None
    scale = np.array(allowed, dtype=int)
    if scale.max() - scale.min() < WIDE_SCALE:
        return None
    values = np.array(verdicts, dtype=int)
    return float((values % ROUND_STEP == 0).mean()), float((scale % ROUND_STEP == 0).mean())
