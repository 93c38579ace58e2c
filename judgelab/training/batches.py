"""Batches that depend on (seed, epoch) alone, so that a resumed run sees what an unbroken one sees."""

from collections.abc import Sequence
from typing import TypeVar

import pytorch_lightning as pl
from torch.utils.data import DataLoader

from judgelab.errors import TrainingError
from judgelab.run.randomness import generator
from judgelab.training.prefix_tree import Example

T = TypeVar("T")


def chunks(rows: Sequence[T], size: int, drop_last: bool) -> list[Sequence[T]]:
    """Consecutive slices of `size` rows; a shorter last one is kept or dropped."""
    stop = len(rows) - len(rows) % size if drop_last else len(rows)
    return [rows[start : start + size] for start in range(0, stop, size)]


def epoch_batches(
    examples: Sequence[Example], batch_size: int, drop_last: bool, seed: int, epoch: int
) -> list[Sequence[Example]]:
    """The optimizer batches of one epoch in a seeded order of their own."""
    order = sorted(examples, key=lambda example: example.example_id)
    generator(seed, "epoch order", epoch).shuffle(order)
    return chunks(order, batch_size, drop_last)


def unchanged(batch: Sequence[Example]) -> Sequence[Example]:
    """Collation leaves examples alone: packing happens per micro-batch."""
    return batch


class ExampleBatches(pl.LightningDataModule):
    """Training batches of one optimizer step each, and validation batches of the same size."""

    def __init__(
        self,
        train: Sequence[Example],
        validation: Sequence[Example],
        batch_size: int,
        drop_last: bool,
        seed: int,
    ) -> None:
        super().__init__()
        if drop_last and len(train) < batch_size:
            raise TrainingError(
                f"{len(train)} training rows make no full batch of trainer.batch_size={batch_size}: "
                "lower it, or set trainer.drop_last=false"
            )
        self.train, self.validation = train, validation
        self.batch_size, self.drop_last, self.seed = batch_size, drop_last, seed

    def train_dataloader(self) -> DataLoader:
        """The batches of the current epoch."""
        epoch = self.trainer.current_epoch if self.trainer else 0
        return self._loader(epoch_batches(self.train, self.batch_size, self.drop_last, self.seed, epoch))

    def val_dataloader(self) -> DataLoader:
        """All validation rows."""
        return self._loader(chunks(self.validation, self.batch_size, drop_last=False))

    @staticmethod
    def _loader(batches: list[Sequence[Example]]) -> DataLoader:
        return DataLoader(batches, batch_size=None, collate_fn=unchanged)  # type: ignore[arg-type]
