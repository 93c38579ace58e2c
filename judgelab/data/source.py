"""What every data source has in common: its configuration, and checked reading of files."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from omegaconf import MISSING

from judgelab.errors import DataError

if TYPE_CHECKING:
    from judgelab.data.records import Pool


class SplitUnit(Enum):
    """What a train/test split keeps together."""

    item = "item"
    query = "query"


@dataclass
class DataSource:
    """Configuration of a source and its loader; each source is a subclass in a module of its own."""

    name: str = MISSING
    path: str | None = None
    limit: int | None = None  # items kept per split, balanced over the labels; null keeps all
    split_unit: SplitUnit = SplitUnit.item
    test_fraction: float = 0.3
    validation_fraction: float = 0.1

    def load(self, criterion_name: str, slots: tuple[str, ...], seed: int) -> "Pool":
        """Read, check, balance and split the source; raises DataError naming file and row."""
        raise TypeError("choose a data source: data=sample|do_not_answer|aegis2|…")

    def slot_texts(self, criterion_name: str, slots: tuple[str, ...], known: Mapping[str, str]) -> dict[str, str]:
        """The texts that the criterion shows, out of those the source knows; DataError where one is not known."""
        for slot in slots:
            if slot not in known:
                raise DataError(
                    f"data={self.name} has no text for the slot {slot!r} that the criterion {criterion_name} shows "
                    f"(it has: {', '.join(known) or 'none'}); choose other data, or drop it from criterion.slots"
                )
        return {slot: known[slot] for slot in slots}
