"""Parts of a batch: every row once, none padded to more than twice its length or a few tokens."""

from hypothesis import given, settings
from hypothesis import strategies as st

from judgelab.engines.base import Request
from judgelab.engines.hf_prefixes import SHORT, PrefixReader
from judgelab.models.tiny import tiny_model

MODEL = tiny_model(7)


@given(st.lists(st.integers(1, 300), min_size=1, max_size=10))
@settings(max_examples=30, deadline=None)
def test_parts_hold_every_row_once_and_bound_the_padding(lengths: list[int]) -> None:
    requests = [Request(str(row), (5, 6, 7, 10 + row, *[20] * (length - 1)), row) for row, length in enumerate(lengths)]
    for batch in PrefixReader(MODEL, 0, 16).read(requests):
        rows = [row for part in batch.parts() for row in part.tolist()]
        assert sorted(rows) == list(range(len(batch.requests)))
        for part in batch.parts():
            own = batch.tail_mask[part].sum(dim=1)
            assert own.max() <= max(2 * own.min(), own.min() + SHORT)
