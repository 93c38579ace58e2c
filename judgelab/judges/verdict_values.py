"""Which allowed verdict of a format a short text stands for, and where verdicts occur inside prose."""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from judgelab.config.schema import FormatConfig

NUMBER = re.compile(
    r"(?P<value>[+-]?\d{1,9}(?:\.\d{1,9})?)"
    r"(?:\s*(?:/|out\s+of|of)\s*(?P<scale>\d{1,9}(?:\.\d{1,9})?)|\s?(?P<percent>%))?(?![\w%/]|\.\d|-\d)",
    re.IGNORECASE,
)
"""A number with what it is counted out of; not the start of a longer number, a range or a word."""

NEGATED = re.compile(
    r"(?:\b(?:not|never|cannot|neither|nor|no|without|than|instead of)|n't)\b(?:\s+\w+){0,3}\s+\W*$", re.IGNORECASE
)
"""A negation within a few words before a verdict."""


class Found(NamedTuple):
    """A value in a text: the verdict it stands for (null: none that the format allows) and where it stands."""

    verdict: str | None
    start: int
    end: int


class Verdicts:
    """The allowed verdicts of one format, as they are written.

    Verdicts are whole numbers (with or without sign), single letters (exact case) or words (any case when they stand
    alone, exact case inside prose, where "accept" is also a verb).
    """

    def __init__(self, fmt: FormatConfig) -> None:
        self.allowed = list(fmt.verdicts)

    @cached_property
    def numeric(self) -> bool:
        """Whether every verdict is a whole number."""
        return all(verdict.lstrip("+-").isdecimal() for verdict in self.allowed)

    @cached_property
    def worded(self) -> bool:
        """Whether every verdict is a word of two letters or more, which prose can hold without ambiguity."""
        return not self.numeric and all(len(verdict) > 1 for verdict in self.allowed)

    @cached_property
    def highest(self) -> int:
        """The top of a numeric scale."""
        return max(self._by_number)

    @cached_property
    def signed(self) -> bool:
        """Whether the scale has verdicts below zero."""
        return min(self._by_number) < 0

    @cached_property
    def _by_number(self) -> dict[int, str]:
        return {int(verdict): verdict for verdict in self.allowed}

    @cached_property
    def _words(self) -> re.Pattern[str]:
        longest_first = sorted(map(re.escape, self.allowed), key=len, reverse=True)
        return re.compile(rf"(?<![\w-])(?:{'|'.join(longest_first)})(?![\w-])", re.IGNORECASE)

    def legal(self, value: Any) -> str | None:
        """The verdict that a JSON value or a whole text stands for."""
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return None
        text = str(value).strip()
        if not self.numeric:
            return self._word(text)
        found = NUMBER.fullmatch(text)
        return self._of_number(found) if found else None

    def at(self, text: str, position: int) -> Found | None:
        """The value that starts at a position: any number for a numeric format, else an allowed word."""
        if self.numeric:
            number = NUMBER.match(text, position)
            return Found(self._of_number(number), number.start(), number.end()) if number else None
        word = self._words.match(text, position)
        verdict = self._word(word[0]) if word else None
        return Found(verdict, word.start(), word.end()) if word and verdict else None

    def occurrences(self, text: str) -> Iterator[Found]:
        """Allowed verdicts anywhere in a text, words in their exact case; a mention of the whole scale is none."""
        if self.numeric:
            plain = self._scale_mention.sub(lambda found: " " * len(found[0]), text)
            for number in re.finditer(rf"(?<![\w./]){NUMBER.pattern}", plain, re.IGNORECASE):
                verdict = self._of_number(number)
                if verdict is not None:
                    yield Found(verdict, number.start(), number.end())
        else:
            for word in self._words.finditer(text):
                if word[0] in self.allowed:
                    yield Found(word[0], word.start(), word.end())

    @cached_property
    def _scale_mention(self) -> re.Pattern[str]:
        low, high = min(self._by_number), self.highest
        return re.compile(rf"(?<![\w.]){low}\s*(?:to|-|and)\s*{high}(?![\w.])", re.IGNORECASE)

    def _word(self, text: str) -> str | None:
        if text in self.allowed:
            return text
        matching = [verdict for verdict in self.allowed if len(verdict) > 1 and verdict.casefold() == text.casefold()]
        return matching[0] if len(matching) == 1 else None

    def _of_number(self, number: re.Match[str]) -> str | None:
        """A whole number on this scale; "4/5" only out of the scale's top, "85%" only where that is 100."""
        value = float(number["value"])
        if value != int(value):
            return None
        if number["percent"] and (self.signed or self.highest != 100):
            return None
        if number["scale"] is not None and (self.signed or float(number["scale"]) != self.highest):
            return None
        return self._by_number.get(int(value))
