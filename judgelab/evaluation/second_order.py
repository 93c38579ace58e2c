"""The quadratic model of merging and joint training in closed form (CPA A.2)."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def merge_bias(separation: float, weight: float) -> float:
    """B(λ) = ½(1 − λ)²·Δ*ᵀH_pointΔ*, in nats (eq. 8); `separation` is Δ*ᵀH_pointΔ*."""
    return 0.5 * (1 - weight) ** 2 * separation


def merged_variance(weight: float, correlation: float) -> float:
    """λ² + (1 − λ)² + 2λ(1 − λ)ρ, the share of one expert's variance that a merge has (A.2)."""
    return weight**2 + (1 - weight) ** 2 + 2 * weight * (1 - weight) * correlation


def excess_risk(weight: float, separation: float, variance: float, correlation: float) -> float:
    """Bias and variance of a merge together, in nats: what λ* minimises."""
    return merge_bias(separation, weight) + 0.5 * variance * merged_variance(weight, correlation)


def noise_ratio(variance: float, correlation: float, separation: float) -> float | None:
    """κ = v(1 − ρ)/b; null where the separation b is not positive, as at a point that is no minimum."""
    return variance * (1 - correlation) / separation if separation > 0 else None


def optimal_weight(ratio: float | None) -> float | None:
    """λ* = (1 + κ)/(1 + 2κ) (eq. 9); null where κ is null or negative, as the formula then has no minimum in (½, 1]."""
    return None if ratio is None or ratio < 0 else (1 + ratio) / (1 + 2 * ratio)


def error_correlation(pointwise: Floats, pairwise: Floats, crossed: Floats) -> float | None:
    """ρ between the two experts' errors around their means over seeds.

    Inputs are Gram matrices [seeds, seeds] of the updates: pointwise, pairwise, and pointwise with pairwise. Null for
    one seed, or where one of the experts does not vary.
    """
    seeds = len(crossed)
    if seeds < 2:
        return None
    center = np.eye(seeds) - 1 / seeds
    spread = [float(np.trace(center @ gram @ center)) for gram in (pointwise, pairwise)]
    if min(spread) <= 0:
        return None
    return float(np.trace(center @ crossed @ center)) / float(np.sqrt(spread[0] * spread[1]))
