"""What the sources of tool calls have in common: examples become a pool."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judgelab.data.natural import natural_pool
from judgelab.data.records import Item, Pool
from judgelab.data.source import DataSource, SplitUnit
from judgelab.data.splits import check_settings
from judgelab.data.tool_calls import Donors, Example, call_items


@dataclass
class ToolSource(DataSource):
    """Two items per conversation: the call as the data give it, and with one argument that nobody gave.

    CPA takes a numeric score of the Hermes data, which the public release lacks, so the label is made here. The
    tools on offer are the slot `tools`; the conversation before the call is the query. A conversation and its
    pair stay in one split; one with no argument to change is skipped and counted.
    """

    split_unit: SplitUnit = SplitUnit.query

    def pool_of(
        self,
        criterion_name: str,
        slots: tuple[str, ...],
        seed: int,
        examples: Sequence[Example],
        counts: Counter[str],
        inputs: Mapping[str, str],
    ) -> Pool:
        """The pool of the examples; DataError where a slot has no text or a split lacks a label."""
        check_settings(self)
        donors = Donors(examples)
        counts["skipped_without_argument_to_change"] = 0
        items: list[Item] = []
        places: dict[str, str] = {}
        for example in examples:
            texts = self.slot_texts(criterion_name, slots, {"tools": example.tools})
            made = call_items(example, donors, texts, seed)
            counts["skipped_without_argument_to_change"] += not made
            places |= {item.item_id: example.place for item in made}
            items += made
        return natural_pool(self, items, seed, counts, inputs, places)
