"""CPA: joint fine-tuning on pointwise items and their counterfactual pairs (CPA §4)."""

from collections.abc import Sequence

from judgelab.config.schema import Condition
from judgelab.data.records import Item, Pair
from judgelab.errors import TrainingError
from judgelab.training.causal_lm import CausalLM
from judgelab.training.examples import ExampleBuilder
from judgelab.training.prefix_tree import Example


class CPA(CausalLM):
    """The mixture objective w·L_point + (1−w)·L_pair, w being fixed by the composition of the data (CPA eq. 1)."""

    @staticmethod
    def examples(
        builder: ExampleBuilder, condition: Condition, items: Sequence[Item], pairs: Sequence[Pair]
    ) -> list[Example]:
        """Rows of the condition: pointwise, pairwise in both orders, or their concatenation."""
        if condition is not Condition.pointwise and not pairs:
            raise TrainingError(
                f"method.condition={condition.value} needs pairs, and the data has none: "
                "choose method.condition=pointwise or a source with counterfactuals"
            )
        rows: list[Example] = []
        if condition in (Condition.joint, Condition.pointwise):
            rows += builder.pointwise(items)
        if condition in (Condition.joint, Condition.pairwise):
            rows += builder.pairwise(pairs)
        return rows
