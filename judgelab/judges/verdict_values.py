"""Which allowed verdict of a format a short text stands for, and where verdicts occur inside prose."""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from judgelab.config.schema import FormatConfig

NUMBER = re.compile(
    r"(?P<value>[+-]?\d{1,9}(?:\.\d{1,9})?)"
    r"(?:\s{0,9}(?:/|out\s{1,9}of|of)\s{0,9}(?P<scale>\d{1,9}(?:\.\d{1,9})?)|\s?(?P<percent>%))?"
    r"(?![\w%‰/+±]|[.,]{1,9}\d|-\d)",
    re.IGNORECASE,
)
"""A number with what it is counted out of; not the start of a longer number, a range or a word."""

SCALE = re.compile(
    r"\W{0,4}(?:out\s{1,9}of|on\s{1,9}(?:a|the)\s{1,9}(?:scale\s{1,9}(?:of|from)\s{1,9})?)\W{0,4}"
    r"(?:[+-]?\d{1,9}\s{0,9}(?:to|-|and)\s{0,9})?\+?(?P<top>\d{1,9})",
    re.IGNORECASE,
)
"""The scale in words behind a number: "(out of 10)", "on a 10-point scale", "on a scale of 1 to 10"."""

COUNTING = re.compile(
    r"\s{1,9}(?!(?:or|and|but|to|if|is|was|would|could|may|might|though|because|since|as|at|in|for|rather|instead)\b)"
    r"[^\W\d_]{2}",
    re.IGNORECASE,
)
"""The noun behind a number that counts things: "3 errors"."""

_DENYING = (
    r"\b(?:not|never|cannot|neither|nor|no|nobody|none|nothing|hardly|without|than|instead\s{1,5}of|unable|against|wrong"
    r"|refus\w{1,9}|declin\w{1,9}|fail\w{0,9}|avoid\w{0,9}|\w{1,9}n't)\b"
)
"""Words that turn a verdict behind them, in the same clause, into its denial."""


class Found(NamedTuple):
    """A value in a text: the verdict it stands for (null: none that the format allows) and where it stands."""

    verdict: str | None
    start: int
    end: int


class Verdicts:
    """The allowed verdicts of one format, as they are written.

    Verdicts are whole numbers (on a signed scale a bare "1" or "2" is "+1" or "+2"), single letters (exact case) or
    words (any case when they stand alone, exact case inside prose, where "accept" is also a verb).
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
            if number is None:
                return None
            behind = SCALE.match(text, number.end())
            fits = behind is None or int(behind["top"]) == self.highest
            verdict = self._of_number(number) if fits else None
            return Found(verdict, number.start(), behind.end() if behind else number.end())
        word = self._words.match(text, position)
        verdict = self._word(word[0]) if word else None
        return Found(verdict, word.start(), word.end()) if word and verdict else None

    def occurrences(self, text: str) -> Iterator[Found]:
        """Allowed verdicts anywhere in a text, words in their exact case; neither a count nor the scale is one."""
        if self.numeric:
            plain = self._scale_mention.sub(lambda found: " " * len(found[0]), text)
            for number in re.finditer(rf"(?<![\w./]){NUMBER.pattern}", plain, re.IGNORECASE):
                verdict = self._of_number(number)
                before = plain[max(0, number.start() - 9) : number.start()]
                chosen = number["value"][0] in "+-" or re.search(r"\b(?:or|to|maybe|perhaps)\s$", before)
                if verdict is not None and (chosen or not COUNTING.match(plain, number.end())):
                    yield Found(verdict, number.start(), number.end())
        else:
            for word in self._words.finditer(text):
                if word[0] in self.allowed:
                    yield Found(word[0], word.start(), word.end())

    def denied(self, text: str) -> bool:
        """Whether a text denies or asks one of its verdict words: "not ACCEPT", "ACCEPT is wrong", "ACCEPT?"."""
        return self._denied.search(text) is not None

    @cached_property
    def _denied(self) -> re.Pattern[str]:
        word = rf"(?<![\w-])(?:{'|'.join(map(re.escape, self.allowed))})(?![\w-])"
        before = rf"(?i:{_DENYING}(?:\s{{1,5}}\w{{1,30}}){{0,6}}\W{{1,20}}){word}"
        verb = r"\s{1,5}(?:is|was|would|will|should|could|can|does|may|seems?)\s{1,5}(?:\w{1,30}\s{1,5}){0,2}"
        behind = rf"{word}(?i:[*_`)]{{0,4}}(?:\s{{0,5}}\?|{verb}{_DENYING}|\s{{1,5}}\w{{1,9}}n't\b|\s{{1,5}}cannot\b))"
        return re.compile(f"{before}|{behind}")

    def on_this_scale(self, named: str) -> bool:
        """Whether the scale that a label names in brackets, if any, ends where this one does."""
        numbers = re.findall(r"\d{1,9}", named)
        return not (self.numeric and numbers) or int(numbers[-1]) == self.highest

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
