"""What a judge is asked and what it should answer, as text; data stays apart from the project's own words."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from judgelab.config.schema import CriterionConfig, FormatConfig
from judgelab.data.records import Pair
from judgelab.errors import ConfigError, DataError
from judgelab.run.randomness import sha256_text

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class Segment(NamedTuple):
    """A stretch of a prompt: fixed text of the project, or text that comes from data and may be cut."""

    text: str
    is_data: bool
    name: str


Prompt = tuple[Segment, ...]


def build_prompt(
    criterion: CriterionConfig,
    fmt: FormatConfig,
    query: str,
    response: str,
    slots: Mapping[str, str],
    other: str | None,
) -> Prompt:
    """The user message of one judgment, filled in one pass; `other` is the second response of a pair.

    Raises ConfigError where the template has a placeholder too many or too few, and DataError where the item
    lacks a slot that the criterion shows.
    """
    values = {
        "rubric": [Segment(criterion.rubric, False, "rubric")],
        "slots": list(slot_sections(criterion, slots, query)),
        "query": [Segment(query, True, "query")],
        "response": [Segment(response, True, "response")],
    }
    if other is not None:
        values["other"] = [Segment(other, True, "other")]
    return filled(f"format {fmt.name}", fmt.template, values)


def filled(owner: str, template: str, values: Mapping[str, Sequence[Segment]]) -> Prompt:
    """A template with every placeholder replaced, in one pass, so that data with braces stays as it is.

    Raises ConfigError, which names the `owner`, where the template has a placeholder too many or too few.
    """
    # Splitting at one capturing group alternates literal text and placeholder names.
    pieces = _PLACEHOLDER.split(template)
    _check_placeholders(owner, pieces[1::2], set(values))
    segments: list[Segment] = []
    for index, piece in enumerate(pieces):
        segments += values[piece] if index % 2 else [Segment(piece, False, "template")]
    return tuple(segments)


def slot_sections(criterion: CriterionConfig, slots: Mapping[str, str], query: str) -> Iterator[Segment]:
    """The further texts of a criterion, each under a heading; DataError where the item lacks one."""
    for slot in criterion.slots:
        if slot not in slots:
            raise DataError(
                f"criterion {criterion.name} shows the slot '{slot}', which the item with query {query[:60]!r} "
                f"lacks (it has: {', '.join(slots) or 'none'}); add it to the data or drop it from criterion.slots"
            )
        yield Segment(f"## {slot.replace('_', ' ').capitalize()}\n", False, "template")
        yield Segment(slots[slot], True, slot)
        yield Segment("\n\n", False, "template")


def _check_placeholders(owner: str, found: list[str], expected: set[str]) -> None:
    for name in found:
        if name not in expected:
            raise ConfigError(
                f"{owner}: the template has {{{name}}}, which nothing fills here; expected {_braced(expected)}"
            )
    for name in sorted(expected):
        if found.count(name) != 1:
            raise ConfigError(
                f"{owner}: the template must have {{{name}}} exactly once, it has it "
                f"{found.count(name)} times; expected {_braced(expected)}"
            )


def _braced(names: set[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(names))


def prompt_sha(criterion: CriterionConfig, fmt: FormatConfig) -> str:
    """Identity of a prompt before its data: hex SHA-256 of rubric, slots, template and verdicts."""
    parts = [criterion.rubric, list(criterion.slots), fmt.template, fmt.verdict_key, dict(fmt.verdicts)]
    return sha256_text(json.dumps(parts))


def verdict_of(fmt: FormatConfig, score: float) -> str:
    """The verdict that the format's score map gives this score."""
    matching = [verdict for verdict, value in fmt.verdicts.items() if value == score]
    if len(matching) != 1:
        raise ConfigError(f"format {fmt.name}: verdicts must map exactly one verdict to {score}, not {len(matching)}")
    return matching[0]


def target_text(fmt: FormatConfig, verdict: str, rationale: str) -> str:
    """What a judge should reply: the rationale, then the verdict as JSON on a line of its own (CPA §4)."""
    value = int(verdict) if verdict.isdecimal() else verdict
    answer = json.dumps({fmt.verdict_key: value})
    return f"{rationale}\n{answer}" if rationale else answer


def pair_rationale(criterion: CriterionConfig, pair: Pair, satisfying_first: bool) -> str:
    """The rationale of a pairwise target, Response A first whichever it is; empty where the pair gives none.

    Made of reasons, it opens with what the pointwise rationale of Response A says, so that the formats teach each
    other.
    """
    if pair.rationales is not None:
        return pair.rationales[0 if satisfying_first else 1]
    if pair.reasons is None:
        return ""
    texts = pair.reasons if satisfying_first else reversed(pair.reasons)
    return " ".join(
        reason_sentence(criterion, f"Response {name}", text) for name, text in zip("AB", texts, strict=True)
    )


def reason_sentence(criterion: CriterionConfig, response: str, reason: str) -> str:
    """The criterion's sentence with the response's name and its reason in it; ConfigError where one has no place."""
    sentence = criterion.reason_sentence
    if sorted(_PLACEHOLDER.findall(sentence)) != ["reason", "response"]:
        raise ConfigError(
            f"criterion.reason_sentence={sentence!r}: expected {{response}} and {{reason}} exactly once each"
        )
    return _PLACEHOLDER.sub(lambda match: {"response": response, "reason": reason}[match[1]], sentence)
