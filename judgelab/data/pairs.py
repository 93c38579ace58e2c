"""Pairs of responses to one query with opposite labels (CPA §4)."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from judgelab.data.records import Item, Pair
from judgelab.errors import DataError
from judgelab.run.randomness import derived_seed


def counterfactual_pair(
    item: Item,
    counterfactual: str,
    reasons: tuple[str, str] | None = None,
    rationales: tuple[str, str] | None = None,
) -> Pair:
    """An item beside its label-flipped rewriting: the satisfying text is the response when its label is 1.

    DataError where the rewriting is empty or says the same, whatever its spacing and capitals.
    """
    if not counterfactual.strip():
        raise DataError(f"the counterfactual of item {item.item_id!r} is empty; it must carry the other label")
    if same_text(counterfactual, item.response):
        raise DataError(
            f"the counterfactual of item {item.item_id!r} equals its response; it must carry the other label"
        )
    texts = (item.response, counterfactual) if item.label == 1 else (counterfactual, item.response)
    return Pair(
        pair_id=f"{item.item_id}:counterfactual",
        query=item.query,
        satisfying=texts[0],
        other=texts[1],
        item_ids=(item.item_id,),
        slots=item.slots,
        reasons=reasons,
        rationales=rationales,
    )


def natural_pairs(items: Sequence[Item], seed: int) -> tuple[Pair, ...]:
    """Opposite labels of one query (and the same slots), matched in seeded order, each item at most once."""
    groups: dict[tuple[object, ...], tuple[list[Item], list[Item]]] = defaultdict(lambda: ([], []))
    for item in sorted(items, key=lambda item: derived_seed(seed, "natural_pairs", item.item_id)):
        groups[item.query, *sorted(item.slots.items())][item.label].append(item)
    return tuple(
        _natural_pair(satisfying, other)
        for zeros, ones in groups.values()
        for satisfying, other in zip(ones, zeros, strict=False)
    )


def touching(pairs: Iterable[Pair], items: Iterable[Item]) -> tuple[Pair, ...]:
    """The pairs that at least one of the items belongs to, in the order of their ids."""
    ids = {item.item_id for item in items}
    chosen = (pair for pair in pairs if ids.intersection(pair.item_ids))
    return tuple(sorted(chosen, key=lambda pair: pair.pair_id))


def same_text(one: str, other: str) -> bool:
    """Whether two texts say the same, whatever their spacing and capitals."""
    return one.casefold().split() == other.casefold().split()


def _natural_pair(satisfying: Item, other: Item) -> Pair:
    return Pair(
        pair_id=f"{satisfying.item_id}|{other.item_id}",
        query=satisfying.query,
        satisfying=satisfying.response,
        other=other.response,
        item_ids=(satisfying.item_id, other.item_id),
        slots=satisfying.slots,
    )
