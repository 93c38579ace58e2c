"""Training rows from items and pairs: one prompt, one target (rationale, then verdict)."""

from collections import Counter
from collections.abc import Mapping, Sequence

from judgelab.config.schema import CriterionConfig, FormatConfig
from judgelab.data.records import Item, Pair
from judgelab.judges.prompts import build_prompt, pair_rationale, target_text, verdict_of
from judgelab.judges.rendering import Renderer
from judgelab.training.prefix_tree import Example


class ExampleBuilder:
    """Renders rows to token ids and counts what had to be cut to fit `max_length` tokens."""

    def __init__(
        self,
        renderer: Renderer,
        criterion: CriterionConfig,
        pointwise: FormatConfig,
        pairwise: FormatConfig,
        max_length: int,
    ) -> None:
        self.renderer, self.criterion, self.max_length = renderer, criterion, max_length
        self.pointwise_format, self.pairwise_format = pointwise, pairwise
        self.counts: Counter[str] = Counter()

    def pointwise(self, items: Sequence[Item]) -> list[Example]:
        """One row per item and rationale; an item without a rationale gives one verdict-only row (CPA §4)."""
        return [
            self._example(
                self.pointwise_format,
                f"{item.item_id}/pointwise/{index}",
                (item.query, item.response, None),
                item.slots,
                float(item.label),
                rationale,
            )
            for item in items
            for index, rationale in enumerate(item.rationales or ("",))
        ]

    def pairwise(self, pairs: Sequence[Pair]) -> list[Example]:
        """Two rows per pair, one for each order of the responses (CPA §4, swap augmentation)."""
        return [
            self._example(
                self.pairwise_format,
                f"{pair.pair_id}/pairwise/{order}",
                (pair.query, first, second),
                pair.slots,
                score,
                pair_rationale(self.criterion, pair, satisfying_first=bool(score)),
            )
            for pair in pairs
            for order, first, second, score in (
                ("satisfying-first", pair.satisfying, pair.other, 1.0),
                ("other-first", pair.other, pair.satisfying, 0.0),
            )
        ]

    def _example(
        self,
        fmt: FormatConfig,
        example_id: str,
        texts: tuple[str, str, str | None],
        slots: Mapping[str, str],
        score: float,
        rationale: str,
    ) -> Example:
        query, response, other = texts
        verdict = verdict_of(fmt, score)
        completion = self.renderer.render_completion(target_text(fmt, verdict, rationale), verdict)
        prompt = self.renderer.render_prompt(
            build_prompt(self.criterion, fmt, query, response, slots, other),
            self.max_length - len(completion.ids),
        )
        self.counts["rows"] += 1
        self.counts["rows_without_rationale"] += not rationale
        self.counts["rows_cut"] += prompt.cut_tokens > 0
        self.counts["tokens_cut"] += prompt.cut_tokens
        return Example(example_id, fmt.name, prompt.ids, completion.ids, completion.verdict_index)
