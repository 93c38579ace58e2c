"""Ranks, rank gaps and their bins: which candidates of one example may form a pair (biomedical judges, Algorithm 2)."""

from collections.abc import Sequence
from dataclasses import dataclass

from judgelab.run.randomness import derived_seed
from judgelab.synthesis.mutation import Candidate

BINS = 3  # hard, medium, easy
TOLERANCE = 1e-9  # the paper's own example has a gap of exactly its threshold


@dataclass(frozen=True)
class GapRule:
    """How pairs are taken from a ranking.

    A pair counts when its scores differ by at least `threshold` (the paper's 0.05). `atomic` pairs set rank 1
    against a lower rank, in one bin; the others are filed by rank gap.
    """

    threshold: float
    higher_is_better: bool
    atomic: bool


def ranked(candidates: Sequence[Candidate], higher_is_better: bool, seed: int, source_id: str) -> list[Candidate]:
    """Best first; candidates of equal score in an order drawn for the example."""
    sign = -1 if higher_is_better else 1
    return sorted(
        candidates,
        key=lambda each: (sign * each.score, derived_seed(seed, "rank_tie", source_id, each.lineage.number)),
    )


def gap_bin(gap: int, count: int) -> int:
    """Bin of a rank gap 1..count-1, from 1 (hard, small gaps) to 3 (easy): the gap's share rounded up."""
    return -(-BINS * gap // (count - 1))


def valid_pairs(scores: Sequence[float], rule: GapRule, scale: float = 1.0) -> dict[int, list[tuple[int, int]]]:
    """Pairs of ranks (better, worse), counted from 1, by bin; bins without a pair are absent.

    `scores` are in rank order. Score gaps are divided by `scale` before they meet the threshold.
    """
    pairs: dict[int, list[tuple[int, int]]] = {}
    count = len(scores)
    for better in range(1, 2 if rule.atomic else count):
        for worse in range(better + 1, count + 1):
            gap = abs(scores[better - 1] - scores[worse - 1]) / scale
            if gap >= rule.threshold - TOLERANCE and scores[better - 1] != scores[worse - 1]:
                number = 1 if rule.atomic else gap_bin(worse - better, count)
                pairs.setdefault(number, []).append((better, worse))
    return pairs
