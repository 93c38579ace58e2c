"""The records that flow from the data to the judge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Item:
    """One pointwise item (x, a, c, y) of CPA §3: a response to a query and whether it satisfies the criterion.

    `label` is 1 when the response satisfies the criterion. `slots` holds further texts that the criterion's
    prompt shows (context, reference, …). `rationales` holds zero or more reasons that reach the label.
    """

    item_id: str
    query: str
    response: str
    label: int
    slots: Mapping[str, str] = field(default_factory=dict)
    rationales: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pair:
    """Two responses to one query with opposite labels: the pairwise view of CPA §4.

    `reasons` says of the satisfying and of the other response what following it means and what decides; `rationales`
    are whole ones, of the pair with the satisfying response first and of that with the other first. `item_ids` are
    the pointwise items that the pair was made from: one for a counterfactual, two for a natural pair.
    """

    pair_id: str
    query: str
    satisfying: str
    other: str
    item_ids: tuple[str, ...]
    slots: Mapping[str, str] = field(default_factory=dict)
    reasons: tuple[str, str] | None = None
    rationales: tuple[str, str] | None = None


@dataclass(frozen=True)
class Pool:
    """What a source yields: items and pairs by split, and a count for everything that was left out."""

    train: tuple[Item, ...]
    validation: tuple[Item, ...]
    test: tuple[Item, ...]
    train_pairs: tuple[Pair, ...]
    validation_pairs: tuple[Pair, ...]
    counts: Mapping[str, int]
    inputs: Mapping[str, str]
    """Path or hub id of each input -> sha256 of its content (or the hub revision)."""


def item_table(items: Sequence[Item]) -> list[dict[str, str | int]]:
    """The rows of items.parquet: which items were judged, and their labels."""
    return [{"item_id": item.item_id, "label": item.label} for item in items]
