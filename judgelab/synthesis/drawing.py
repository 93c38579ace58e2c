"""One pair per source, balanced over the bins; the same whatever the order of the sources."""

from collections import Counter
from collections.abc import Mapping, Sequence

from judgelab.run.randomness import derived_seed, generator

Ranks = tuple[int, int]


def drawn_pairs(
    sources: Mapping[str, Mapping[int, Sequence[Ranks]]], seed: int, suite: str
) -> dict[str, tuple[int, Ranks]]:
    """Bin and ranks of one pair per source id: from the bin that has the fewest so far, ties drawn by seed.

    Sources come in seeded order, those with fewer bins first, since they have no choice that could come later.
    """

    def turn(source_id: str) -> tuple[int, int]:
        return len(sources[source_id]), derived_seed(seed, "pair_order", suite, source_id)

    filled: Counter[int] = Counter()
    drawn: dict[str, tuple[int, Ranks]] = {}
    for source_id in sorted(sources, key=turn):
        rng = generator(seed, "pair_draw", suite, source_id)
        bins = sources[source_id]
        number = min(sorted(bins), key=lambda each: (filled[each], rng.random()))
        filled[number] += 1
        drawn[source_id] = number, rng.choice(bins[number])
    return drawn


def gold_slot(seed: int, suite: str, source_id: str) -> str:
    """The slot, A or B with equal chances, that shows the better candidate."""
    return "AB"[derived_seed(seed, "pair_slots", suite, source_id) % 2]
