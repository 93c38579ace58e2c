"""Rank agreement of scores with a reference, within prompts and over the pool (Format paper §3.3, Tables 1 and 5).

Candidates without a score or without a reference leave. Pairs that the reference ties enter no numerator.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from judgelab.evaluation.levels import DECIMALS, Codes, Floats


@dataclass(frozen=True)
class PromptMean:
    """A mean over the prompts where a figure is defined, and the mean with the undefined ones as 0.

    `defined` and `undefined` count prompts that have at least one pair to compare.
    """

    mean: float | None
    with_zeros: float | None
    defined: int
    undefined: int


@dataclass(frozen=True)
class WithinPrompts:
    """Agreement within prompts: Kendall's τ_a and τ_b, Somers' D of the score given the reference, Spearman."""

    tau_a: PromptMean
    tau_b: PromptMean
    somers_d: PromptMean
    spearman: PromptMean


@dataclass(frozen=True)
class OverPool:
    """The same figures over all candidates of the pool at once; null where undefined."""

    n: int
    tau_a: float | None
    tau_b: float | None
    somers_d: float | None
    spearman: float | None


def within_prompts(prompts: Codes, scores: Floats, reference: Floats) -> WithinPrompts:
    """Mean agreement within prompts; `prompts` numbers each candidate's prompt, candidates of one stand together.

    τ_a = (C−D)/n₀ is 0 where all scores of a prompt tie; τ_b = (C−D)/√((n₀−n₁)(n₀−n₂)), Somers' D = (C−D)/(n₀−n₂)
    and Spearman are undefined where their denominator is 0.
    """
    known = ~(np.isnan(scores) | np.isnan(reference))
    owners, judged, truth = prompts[known], np.round(scores[known], DECIMALS), np.round(reference[known], DECIMALS)
    first, second = prompt_pairs(owners)
    total = int(prompts.max(initial=-1)) + 1
    of_pair = owners[first]
    by_judge, by_truth = np.sign(judged[first] - judged[second]), np.sign(truth[first] - truth[second])

    def per_prompt(weights: Floats) -> Floats:
        return np.bincount(of_pair, weights, total).astype(float)

    pairs = np.bincount(of_pair, minlength=total).astype(float)
    difference = per_prompt(by_judge * by_truth)
    untied_judge, untied_truth = per_prompt(by_judge**2), per_prompt(by_truth**2)
    comparable = pairs > 0
    return WithinPrompts(
        tau_a=_mean(difference, pairs, comparable),
        tau_b=_mean(difference, np.sqrt(untied_judge * untied_truth), comparable),
        somers_d=_mean(difference, untied_truth, comparable),
        spearman=_mean(*_rank_products(owners, judged, truth, total), comparable),
    )


def prompt_pairs(prompts: Codes) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Indices of the two members of every pair within a prompt, the earlier one first."""
    _, starts, sizes = np.unique(prompts, return_index=True, return_counts=True)
    first, second = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)]
    for size in np.unique(sizes):
        earlier, later = np.triu_indices(size, 1)
        offsets = starts[sizes == size][:, None]
        first.append((offsets + earlier).ravel())
        second.append((offsets + later).ravel())
    return np.concatenate(first), np.concatenate(second)


def _rank_products(owners: Codes, judged: Floats, truth: Floats, total: int) -> tuple[Floats, Floats]:
    """Per prompt, the covariance of average ranks and the product of their standard deviations, both times n."""
    centred = []
    for values in (judged, truth):
        by_prompt = pd.Series(values).groupby(owners).rank().groupby(owners)
        centred.append((by_prompt.obj - by_prompt.transform("mean")).to_numpy())
    x, y = centred
    products = [np.bincount(owners, product, total).astype(float) for product in (x * y, x * x, y * y)]
    return products[0], np.sqrt(products[1] * products[2])


def _mean(numerators: Floats, denominators: Floats, comparable: NDArray[np.bool_]) -> PromptMean:
    defined = comparable & (denominators > 0)
    values = numerators[defined] / denominators[defined]
    among = int(comparable.sum())
    return PromptMean(
        mean=float(values.mean()) if len(values) else None,
        with_zeros=float(values.sum() / among) if among else None,
        defined=len(values),
        undefined=among - len(values),
    )


def over_pool(scores: Floats, reference: Floats) -> OverPool:
    """Agreement over all candidates at once, whatever their prompt."""
    known = ~(np.isnan(scores) | np.isnan(reference))
    judged, truth = np.round(scores[known], DECIMALS), np.round(reference[known], DECIMALS)
    n = len(judged)
    pairs = n * (n - 1) / 2
    untied_judge, untied_truth = pairs - _tied_pairs(judged), pairs - _tied_pairs(truth)
    if not untied_judge or not untied_truth:
        tau_a = 0.0 if pairs else None
        return OverPool(n, tau_a, None, 0.0 if untied_truth else None, None)
    tau_b = float(stats.kendalltau(judged, truth).statistic)
    difference = tau_b * np.sqrt(untied_judge * untied_truth)
    spearman = float(stats.spearmanr(judged, truth).statistic)
    return OverPool(n, float(difference / pairs), tau_b, float(difference / untied_truth), spearman)


def _tied_pairs(values: Floats) -> float:
    counts = np.unique(values, return_counts=True)[1].astype(float)
    return float((counts * (counts - 1) / 2).sum())
