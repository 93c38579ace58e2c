"""Batches depend on seed and epoch alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab.errors import TrainingError
from judgelab.training.batches import ExampleBatches, chunks, epoch_batches
from judgelab.training.prefix_tree import Example

ROWS = [Example(f"row-{i}", "pointwise", (1,), (i,), 0) for i in range(23)]


@given(st.permutations(ROWS), st.integers(1, 8), st.booleans(), st.integers(0, 9), st.integers(0, 3))
def test_row_position_does_not_matter(rows: list[Example], size: int, drop_last: bool, seed: int, epoch: int) -> None:
    assert epoch_batches(rows, size, drop_last, seed, epoch) == epoch_batches(ROWS, size, drop_last, seed, epoch)


@given(st.integers(1, 30), st.booleans())
def test_every_row_once_unless_dropped(size: int, drop_last: bool) -> None:
    flat = [row.example_id for batch in epoch_batches(ROWS, size, drop_last, 1, 0) for row in batch]
    assert len(flat) == len(set(flat)) == (len(ROWS) // size * size if drop_last else len(ROWS))


def test_epochs_and_seeds_differ() -> None:
    orders = {
        tuple(e.example_id for b in epoch_batches(ROWS, 4, False, s, e) for e in b) for s in (1, 2) for e in (0, 1)
    }
    assert len(orders) == 4


def test_chunks_of_nothing() -> None:
    assert chunks([], 4, drop_last=False) == []


def test_too_few_rows_for_one_step_name_the_counts() -> None:
    with pytest.raises(TrainingError, match=r"23 training rows .* trainer\.batch_size=24"):
        ExampleBatches(ROWS, [], batch_size=24, drop_last=True, seed=0)
