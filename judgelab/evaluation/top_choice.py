"""What a selector that takes the best-scored candidate of each prompt gets (Format paper §3, Tables 1 and 5)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgelab.evaluation.levels import DECIMALS, Codes, Floats


@dataclass(frozen=True)
class TopChoice:
    """Agreement of the best-scored candidate with the reference's best ones, over prompts that have both.

    `expected` is exact under a uniform tie-break, `drawn` is one seeded tie-break, `uniform` is what choosing blindly
    gives. `unscored` counts prompts without any score, `without_reference` those without any reference.
    """

    expected: float | None
    drawn: float | None
    uniform: float | None
    prompts: int
    unscored: int
    without_reference: int


def selection_chances(prompts: Codes, values: Floats) -> Floats:
    """Each candidate's chance of being chosen when the best of its prompt is, ties broken uniformly.

    `prompts` numbers each candidate's prompt from 0, candidates of one stand together. A prompt without values
    chooses nobody.
    """
    best, count = _top(prompts, values)
    return best / np.maximum(count, 1)[prompts]


def top_tied(prompts: Codes, scores: Floats) -> tuple[float | None, int]:
    """Share of prompts whose best score is shared (TT), and over how many prompts; one lone candidate is untied."""
    _, count = _top(prompts, scores)
    judged = count[count > 0]
    return (float((judged > 1).mean()) if len(judged) else None), len(judged)


def top_choice(prompts: Codes, scores: Floats, reference: Floats, keys: NDArray[np.int64]) -> TopChoice:
    """Top-1 agreement; the reference's best are sought among all candidates, so an unscored best one is a miss.

    `keys` are seeded random numbers, one per candidate: the smallest among tied candidates is drawn.
    """
    truth_best, truth_count = _top(prompts, reference)
    judge_best, judge_count = _top(prompts, scores)
    valid = (truth_count > 0) & (judge_count > 0)
    hits = np.bincount(prompts, judge_best * truth_best, len(valid))[valid] / judge_count[valid]
    chosen = _drawn(prompts, judge_best, keys)
    drawn = truth_best[chosen[valid]]
    sizes = np.bincount(prompts, minlength=len(valid))
    return TopChoice(
        expected=float(hits.mean()) if valid.any() else None,
        drawn=float(drawn.mean()) if valid.any() else None,
        uniform=float((truth_count[valid] / sizes[valid]).mean()) if valid.any() else None,
        prompts=int(valid.sum()),
        unscored=int((judge_count == 0).sum()),
        without_reference=int((truth_count == 0).sum()),
    )


def _top(prompts: Codes, values: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """1.0 for each candidate with the best value of its prompt, and how many of them each prompt has."""
    filled = np.where(np.isnan(values), -np.inf, np.round(values, DECIMALS))
    total = int(prompts.max(initial=-1)) + 1
    best = np.full(total, -np.inf)
    np.maximum.at(best, prompts, filled)
    is_top = (filled == best[prompts]) & (filled > -np.inf)
    return is_top.astype(float), np.bincount(prompts[is_top], minlength=total)


def _drawn(prompts: Codes, is_top: Floats, keys: NDArray[np.int64]) -> NDArray[np.intp]:
    """Index of the drawn candidate of every prompt; one of no meaning where a prompt has none."""
    order = np.lexsort((keys, -is_top, prompts))
    return order[np.unique(prompts[order], return_index=True)[1]]


@dataclass(frozen=True)
class PositionRates:
    """How often each listing position is chosen among prompts with equally many candidates."""

    candidates: int
    prompts: int
    rates: tuple[float, ...]


def position_rates(prompts: Codes, positions: Codes, scores: Floats) -> list[PositionRates]:
    """Choice rates by listing position, one entry per number of candidates from 2 on; 1/k each without an effect.

    Prompts without any score leave.
    """
    chances = selection_chances(prompts, scores)
    sizes = np.bincount(prompts)
    judged = np.bincount(prompts, chances, len(sizes)) > 0
    result = []
    for size in np.unique(sizes[judged & (sizes > 1)]):
        chosen = (judged & (sizes == size))[prompts]
        count = int((judged & (sizes == size)).sum())
        rates = np.bincount(positions[chosen], chances[chosen], size) / count
        result.append(PositionRates(int(size), count, tuple(map(float, rates))))
    return result
