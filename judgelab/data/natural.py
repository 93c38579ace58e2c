"""From labelled items to a pool whose pairs come from the data: two responses to one query, opposite labels."""

from collections.abc import Iterable, Mapping

from judgelab.data.pairs import natural_pairs, touching
from judgelab.data.records import Item, Pool
from judgelab.data.source import DataSource
from judgelab.data.splits import guard, settle, split, unique_texts


def natural_pool(
    source: DataSource,
    items: Iterable[Item],
    seed: int,
    counts: Mapping[str, int],
    inputs: Mapping[str, str],
    places: Mapping[str, str],
) -> Pool:
    """Unique items, split in units of the source, balanced, with the natural pairs of each part.

    The partner of a pair may be an item that balancing left out, of the same split. `counts` holds what the
    source itself skipped, `places` file and row of each item id.
    """
    kept, repeats, conflicting = unique_texts(items)
    everything = split(kept, source.split_unit, (source.test_fraction, source.validation_fraction), seed)
    parts, more_counts = settle(everything, source, seed)
    train_pairs = touching(natural_pairs(everything.train, seed), parts.train)
    validation_pairs = touching(natural_pairs(everything.validation, seed), parts.validation)
    pool = Pool(
        *parts,
        train_pairs=train_pairs,
        validation_pairs=validation_pairs,
        counts={
            **counts,
            "dropped_exact_duplicates": repeats,
            "dropped_conflicting_labels": conflicting,
            **more_counts,
            "natural_pairs": len(train_pairs) + len(validation_pairs),
        },
        inputs=inputs,
    )
    guard(pool, places)
    return pool
