"""Rationales for targets: the student's own where they reach the right verdict, else the auditor's (CPA §4)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judgelab.config.schema import CriterionConfig, FormatConfig, SynthesisConfig
from judgelab.data.records import Item
from judgelab.engines.base import Reply
from judgelab.judges.parsing import parse_reply
from judgelab.judges.prompts import Prompt, build_prompt
from judgelab.judges.reply_text import answer_text
from judgelab.synthesis.counterfactuals import Answers, Attempt, Writer
from judgelab.synthesis.roles import Question

_FENCE = re.compile(r"```\w*\s*\Z")


@dataclass(frozen=True)
class Rationale:
    """A text that reaches the right verdict, and who wrote it."""

    text: str
    writer: str


def rationale_of(reply: Reply, fmt: FormatConfig, score: float) -> str | None:
    """The text before the JSON verdict of a reply; null where the verdict is not `score` or no text comes before."""
    if parse_reply(reply.text, fmt, reply.truncated).score != score:
        return None
    text = answer_text(reply.text)
    objects = list(re.finditer(rf"\{{[^{{}}]*\"{re.escape(fmt.verdict_key)}\"[^{{}}]*\}}", text))
    if not objects:
        return None
    return _FENCE.sub("", text[: objects[-1].start()]).strip() or None


def pointwise_rationales(
    items: Sequence[Item],
    criterion: CriterionConfig,
    fmt: FormatConfig,
    config: SynthesisConfig,
    writers: Mapping[str, Answers],
) -> dict[str, list[Rationale]]:
    """Up to `config.rationales` distinct ones per item; `writers` are asked in turn for what is still missing."""
    found: dict[str, list[Rationale]] = {item.item_id: [] for item in items}
    for name, writer in writers.items():
        lacking = [item for item in items if len(found[item.item_id]) < config.rationales]
        prompts = [build_prompt(criterion, fmt, item.query, item.response, item.slots, None) for item in lacking]
        replies = _draws(writer, prompts, config.draws)
        for item, drawn in zip(lacking, replies, strict=True):
            kept = found[item.item_id]
            for reply in drawn:
                text = rationale_of(reply, fmt, float(item.label))
                if text and len(kept) < config.rationales and text not in {each.text for each in kept}:
                    kept.append(Rationale(text, name))
    return found


def pair_rationales(
    items: Sequence[Item], pairs: Mapping[str, Attempt], writer: Writer, student: Answers
) -> dict[str, tuple[Rationale | None, Rationale | None]]:
    """One rationale per order of each accepted pair, with the satisfying response first and with the other first.

    The student's where one of its replies names the right response, else the auditor's from the audit.
    """
    fmt, draws = writer.pair_format, writer.config.draws
    paired = [item for item in items if item.item_id in pairs]
    prompts = [
        writer.pair_prompt(item, pairs[item.item_id].text, (item.label == 1) == satisfying_first)
        for item in paired
        for satisfying_first in (True, False)
    ]
    drawn = _draws(student, prompts, draws)
    result = {}
    for item, satisfying_first, other_first in zip(paired, drawn[::2], drawn[1::2], strict=True):
        audits = pairs[item.item_id].audits
        in_order = audits if item.label == 1 else audits[::-1]
        result[item.item_id] = (
            _first(satisfying_first, "student", fmt, 1.0) or _first(in_order[:1], "auditor", fmt, 1.0),
            _first(other_first, "student", fmt, 0.0) or _first(in_order[1:], "auditor", fmt, 0.0),
        )
    return result


def _first(replies: Sequence[Reply], writer: str, fmt: FormatConfig, score: float) -> Rationale | None:
    texts = (rationale_of(reply, fmt, score) for reply in replies)
    return next((Rationale(text, writer) for text in texts if text), None)


def _draws(writer: Answers, prompts: Sequence[Prompt], draws: int) -> list[list[Reply]]:
    """`draws` replies to each prompt; those to one prompt stand together, so that they share its reading."""
    replies = writer.ask([Question(prompt, repeat) for prompt in prompts for repeat in range(draws)])
    return [replies[start : start + draws] for start in range(0, len(replies), draws)]
