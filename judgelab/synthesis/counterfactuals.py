"""Counterfactuals that a synthesizer writes and an auditor accepts in both orders (CPA §4)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from judgelab.config.schema import CriterionConfig, FormatConfig, SynthesisConfig
from judgelab.data.pairs import same_text
from judgelab.data.records import Item
from judgelab.engines.base import Reply
from judgelab.errors import DataError
from judgelab.judges.parsing import Parsed, parse_reply
from judgelab.judges.prompts import Prompt, Segment, build_prompt, filled, slot_sections
from judgelab.judges.reply_text import answer_text
from judgelab.synthesis.languages import other_language
from judgelab.synthesis.roles import Question


class Outcome(Enum):
    """What became of a try; the value is what the synthesizer is told before the next one."""

    accepted = ""
    cut = "it was too long and broke off"
    empty = "it is empty"
    unchanged = "it says the same as Response A"
    other_language = "it is written in another language than Response A"
    unreadable = "a reviewer could not decide between the two responses"
    refuted = "a reviewer who compared the two responses in both orders did not find that it gets that verdict"


class Answers(Protocol):
    """Whoever answers questions, such as a Role."""

    def ask(self, questions: Sequence[Question]) -> list[Reply]:
        """The replies in the order of the questions."""
        ...


@dataclass(frozen=True)
class Attempt:
    """One try at an item, from 1: what was asked and written, what came of it, and the auditor's replies.

    `audits` are those to (response, counterfactual) and to (counterfactual, response); none where the text was
    turned down before.
    """

    item_id: str
    number: int
    prompt: str
    reply: str
    text: str
    outcome: Outcome
    audits: tuple[Reply, ...] = ()
    verdicts: tuple[str | None, ...] = ()


@dataclass(frozen=True)
class Writer:
    """Asks for counterfactuals until the auditor accepts them or the tries run out."""

    criterion: CriterionConfig
    pair_format: FormatConfig
    config: SynthesisConfig
    synthesizer: Answers
    auditor: Answers

    def write(self, items: Sequence[Item]) -> list[Attempt]:
        """Every try at every item, in the order of the tries; the last one of an item says how it ended."""
        attempts: list[Attempt] = []
        pending: dict[str, tuple[Item, Attempt | None]] = {item.item_id: (item, None) for item in items}
        for number in range(1, self.config.attempts + 1):
            made = self._try(list(pending.values()), number)
            attempts += made
            for attempt in made:
                item = pending.pop(attempt.item_id)[0]
                if attempt.outcome is not Outcome.accepted:
                    pending[item.item_id] = item, attempt
            if not pending:
                break
        return attempts

    def _try(self, pending: Sequence[tuple[Item, Attempt | None]], number: int) -> list[Attempt]:
        prompts = [self._prompt(item, earlier) for item, earlier in pending]
        replies = self.synthesizer.ask([Question(prompt, number - 1) for prompt in prompts])
        texts = [answer_text(reply.text) for reply in replies]
        outcomes = [
            text_outcome(item, text, reply.truncated)
            for (item, _), text, reply in zip(pending, texts, replies, strict=True)
        ]
        readable = [
            (item, text) for (item, _), text, outcome in zip(pending, texts, outcomes, strict=True) if outcome is None
        ]
        audited = iter(self._audit(readable))
        attempts = []
        for (item, _), prompt, reply, text, outcome in zip(pending, prompts, replies, texts, outcomes, strict=True):
            written = ("".join(segment.text for segment in prompt), reply.text, text)
            if outcome is not None:
                attempts.append(Attempt(item.item_id, number, *written, outcome))
                continue
            audits = next(audited)
            read = [parse_reply(audit.text, self.pair_format, audit.truncated) for audit in audits]
            verdicts = tuple(each.verdict for each in read)
            attempts.append(Attempt(item.item_id, number, *written, audit_outcome(item.label, read), audits, verdicts))
        return attempts

    def _prompt(self, item: Item, earlier: Attempt | None) -> Prompt:
        values = {
            "rubric": [Segment(self.criterion.rubric, False, "rubric")],
            "query": [Segment(item.query, True, "query")],
            "slots": list(slot_sections(self.criterion, item.slots, item.query)),
            "response": [Segment(item.response, True, "response")],
            "target": [Segment(self.criterion.labels[1 - item.label], False, "target")],
            "history": list(self._history(earlier)),
        }
        return filled("synthesis.template", self.config.template, values)

    def _history(self, earlier: Attempt | None) -> Iterable[Segment]:
        if earlier is None:
            return ()
        values = {
            "previous": [Segment(earlier.text, True, "previous")],
            "reason": [Segment(earlier.outcome.value, False, "reason")],
        }
        return filled("synthesis.retry", self.config.retry, values)

    def _audit(self, written: Sequence[tuple[Item, str]]) -> list[tuple[Reply, ...]]:
        """The auditor's replies to both orders of each pair."""
        questions = [Question(self.pair_prompt(item, text, first)) for item, text in written for first in (True, False)]
        replies = self.auditor.ask(questions)
        return [tuple(replies[start : start + 2]) for start in range(0, len(replies), 2)]

    def pair_prompt(self, item: Item, counterfactual: str, original_first: bool) -> Prompt:
        """Which of the two satisfies the criterion?"""
        texts = (item.response, counterfactual) if original_first else (counterfactual, item.response)
        return build_prompt(self.criterion, self.pair_format, item.query, texts[0], item.slots, texts[1])


def text_outcome(item: Item, text: str, truncated: bool) -> Outcome | None:
    """Why a text cannot be the counterfactual of an item, whoever judges it; null where it can."""
    if truncated:
        return Outcome.cut
    if not text:
        return Outcome.empty
    if same_text(text, item.response):
        return Outcome.unchanged
    return Outcome.other_language if other_language(item.response, text) else None


def audit_outcome(label: int, audits: Sequence[Parsed]) -> Outcome:
    """Accepted where the same text wins in both orders, and it is the one that should (CPA §4).

    `audits` are of (response, counterfactual) and of (counterfactual, response); score 1 is Response A.
    """
    scores = [audit.score for audit in audits]
    if None in scores:
        return Outcome.unreadable
    return Outcome.accepted if scores == [float(label), 1.0 - label] else Outcome.refuted


def accepted(attempts: Iterable[Attempt]) -> Mapping[str, Attempt]:
    """The accepted try of each item that has one."""
    return {attempt.item_id: attempt for attempt in attempts if attempt.outcome is Outcome.accepted}


def check_offered(items: Sequence[Item], held_out: Sequence[Item]) -> None:
    """DataError where an item of the test split is offered for synthesis."""
    tested = {item.item_id for item in held_out} | {(item.query, item.response) for item in held_out}
    for item in items:
        if item.item_id in tested or (item.query, item.response) in tested:
            raise DataError(
                f"item {item.item_id!r} is in the test split: counterfactuals are written for training items only "
                "(CPA §4); remove it from the items offered"
            )
