"""Supervised fine-tuning of a pointwise judge on labelled items."""

from collections.abc import Sequence

from judgelab.config.schema import Condition
from judgelab.data.records import Item, Pair
from judgelab.errors import ConfigError
from judgelab.training.causal_lm import CausalLM
from judgelab.training.examples import ExampleBuilder
from judgelab.training.prefix_tree import Example


class SFT(CausalLM):
    """Completion-only fine-tuning on pointwise rows."""

    @staticmethod
    def examples(
        builder: ExampleBuilder, condition: Condition, items: Sequence[Item], pairs: Sequence[Pair]
    ) -> list[Example]:
        """One row per item and rationale; pairs are not used."""
        if condition is not Condition.pointwise:
            raise ConfigError(
                f"method.condition={condition.value}: method=sft trains on pointwise rows; use method=cpa"
            )
        return builder.pointwise(items)
