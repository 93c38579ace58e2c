"""Balanced, disjoint splits; membership depends on ids and seed, never on row order."""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from judgelab.data.records import Item, Pool
from judgelab.data.source import DataSource, SplitUnit
from judgelab.errors import ConfigError, DataError
from judgelab.run.randomness import derived_seed

Items = tuple[Item, ...]


class Splits(NamedTuple):
    """The three parts of a source."""

    train: Items
    validation: Items
    test: Items


def unique_texts(items: Iterable[Item]) -> tuple[Items, int, int]:
    """Items with one (query, response) text each, the repeats dropped, and those dropped as contradictory.

    A text that carries both labels leaves altogether; of equal items the one with the smallest id stays.
    """
    by_text: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in items:
        by_text[item.query, item.response].append(item)
    kept: list[Item] = []
    repeats = conflicting = 0
    for same in by_text.values():
        if len({item.label for item in same}) > 1:
            conflicting += len(same)
            continue
        kept.append(min(same, key=lambda item: item.item_id))
        repeats += len(same) - 1
    return tuple(kept), repeats, conflicting


def split(items: Sequence[Item], unit: SplitUnit, fractions: tuple[float, float], seed: int) -> Splits:
    """Splits by seeded hash order, stratified by label, in whole units; `fractions` are test and validation.

    Units (items, or all items of one query) with equally many items of each label form a stratum; each
    stratum of n units gives the nearest whole number to n·fraction, so that sizes do not depend on the seed.
    """
    test_fraction, validation_fraction = fractions
    units: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        units[item.query if unit is SplitUnit.query else item.item_id].append(item)
    strata: dict[Hashable, list[str]] = defaultdict(list)
    for key, members in units.items():
        strata[tuple(sorted(item.label for item in members))].append(key)
    parts: tuple[list[Item], ...] = ([], [], [])
    for keys in strata.values():
        ordered = sorted(keys, key=lambda key: derived_seed(seed, "split", key))
        tests = _nearest(len(keys) * test_fraction)
        held_out = min(tests + _nearest(len(keys) * validation_fraction), len(keys))
        for part, chosen in zip(parts, (ordered[held_out:], ordered[tests:held_out], ordered[:tests]), strict=True):
            part.extend(item for key in chosen for item in units[key])
    return Splits(*(_seeded_order(part, seed) for part in parts))


def balance(items: Sequence[Item], seed: int) -> tuple[Items, int]:
    """Equally many items of each label, the first in seeded hash order, and how many were dropped."""
    kept = _first_of_each_label(items, len(items), seed)
    return kept, len(items) - len(kept)


def limit(items: Sequence[Item], size: int, seed: int) -> Items:
    """At most `size` items, equally many of each label; the same ones stay when the limit grows."""
    return _first_of_each_label(items, size // 2, seed)


def settle(parts: Splits, source: DataSource, seed: int) -> tuple[Splits, dict[str, int]]:
    """Each part balanced and cut to `data.limit`, with counts; DataError where a part lacks a label."""
    balanced = Splits(*(balance(part, seed)[0] for part in parts))
    for name, before, after in zip(Splits._fields, parts, balanced, strict=True):
        if not after and (before or name != "validation"):
            ones = sum(item.label for item in before)
            raise DataError(
                f"data={source.name} ({source.path or 'no data.path'}): the {name} split has {ones} items "
                f"with label 1 and {len(before) - ones} with label 0; it needs both labels, so add items or "
                f"change the split (data.test_fraction, data.validation_fraction, data.split_unit)"
            )
    size = source.limit
    limited = balanced if size is None else Splits(*(limit(part, size, seed) for part in balanced))
    counts = {
        "dropped_for_balance": _total(parts) - _total(balanced),
        "dropped_for_limit": _total(balanced) - _total(limited),
    }
    return limited, counts


def check_settings(source: DataSource) -> None:
    """ConfigError for fractions that leave no training part, and for a limit below one item of each label."""
    for key in ("test_fraction", "validation_fraction"):
        value = getattr(source, key)
        if not 0 <= value < 1:
            raise ConfigError(f"data.{key}={value}: expected a number from 0 to below 1")
    if source.test_fraction + source.validation_fraction >= 1:
        raise ConfigError(
            f"data.test_fraction={source.test_fraction} and data.validation_fraction="
            f"{source.validation_fraction} leave nothing to train on: their sum must be below 1"
        )
    if source.limit is not None and source.limit < 2:
        raise ConfigError(f"data.limit={source.limit}: expected null or at least 2 (one item of each label)")


def guard(pool: Pool, places: Mapping[str, str]) -> None:
    """DataError when anything of the test split reaches training or validation, or of validation training.

    Ids and (query, response) texts are compared, those of pairs too; `places` tells file and row of an item.
    """
    _guard_part("test", pool.test, pool.train + pool.validation, pool, ("train_pairs", "validation_pairs"), places)
    _guard_part("validation", pool.validation, pool.train, pool, ("train_pairs",), places)


def _guard_part(
    name: str,
    held_out: Items,
    others: Items,
    pool: Pool,
    pair_fields: Sequence[str],
    places: Mapping[str, str],
) -> None:
    by_id = {item.item_id: item for item in held_out}
    by_text = {(item.query, item.response): item for item in held_out}
    remedy = "remove one" if name == "test" else "remove one or set data.split_unit=query"
    for other in others:
        leaked = by_id.get(other.item_id) or by_text.get((other.query, other.response))
        if leaked:
            raise DataError(
                f"{_named(leaked.item_id, places)}: this {name} item is also the training item "
                f"{_named(other.item_id, places)}; {remedy}"
            )
    for pair in (pair for field in pair_fields for pair in getattr(pool, field)):
        texts = [(pair.query, pair.satisfying), (pair.query, pair.other)]
        leaks = [by_id[i] for i in pair.item_ids if i in by_id] + [by_text[t] for t in texts if t in by_text]
        if leaks:
            sources = ", ".join(_named(item_id, places) for item_id in pair.item_ids)
            raise DataError(
                f"{_named(leaks[0].item_id, places)}: this {name} item is part of the training pair "
                f"{pair.pair_id!r} (made from {sources}); {remedy}"
            )


def _named(item_id: str, places: Mapping[str, str]) -> str:
    return f"{places[item_id]} ({item_id!r})" if item_id in places else repr(item_id)


def _nearest(value: float) -> int:
    return math.floor(value + 0.5)


def _total(parts: Splits) -> int:
    return sum(map(len, parts))


def _seeded_order(items: Iterable[Item], seed: int) -> Items:
    return tuple(sorted(items, key=lambda item: derived_seed(seed, "order", item.item_id)))


def _first_of_each_label(items: Sequence[Item], most: int, seed: int) -> Items:
    ordered = _seeded_order(items, seed)
    ones = [item for item in ordered if item.label == 1]
    zeros = [item for item in ordered if item.label == 0]
    size = min(most, len(ones), len(zeros))
    return _seeded_order(ones[:size] + zeros[:size], seed)
