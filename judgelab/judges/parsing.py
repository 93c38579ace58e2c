"""From a generated reply to a verdict; a failed parse is never a number (definitions of the house: last one binds)."""

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from judgelab.config.schema import FormatConfig

_THINK_OPEN, _THINK_CLOSE = "<think>", "</think>"
_DECORATION = "*_`\"'“”‘’[](){}<>#.,:;!? \t"
_REFUSAL = re.compile(
    r"\b(?:I(?:'m| am)? (?:cannot|can't|can not|won't|unable to|not able to|sorry)|I must decline|as an AI)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Parsed:
    """What a reply amounts to: status ok, invalid, truncated or refused; verdict and score only where ok."""

    status: str
    verdict: str | None = None
    score: float | None = None


@dataclass(frozen=True)
class _Candidate:
    """A stand-alone verdict at a line; a null verdict is one that the format does not allow."""

    line: int
    position: int
    verdict: str | None


def parse_reply(text: str, fmt: FormatConfig, truncated: bool) -> Parsed:
    """Read the verdict of a reply; `truncated` says that the token budget cut it.

    Only stand-alone verdicts bind: JSON with the verdict key, a labelled value, or a line of its own. Single
    letters and digits inside prose never bind, since "A" is also an article and "1" also a count.
    """
    reply = _after_reasoning(unicodedata.normalize("NFKC", text))
    failed = Parsed("truncated" if truncated else "invalid")
    if reply is None:
        return failed
    candidates = sorted([*_json_verdicts(reply, fmt), *_line_verdicts(reply, fmt)], key=lambda c: c.position)
    if not candidates:
        return Parsed("refused") if not truncated and _REFUSAL.search(reply) else failed
    last = candidates[-1]
    same_line = {candidate.verdict for candidate in candidates if candidate.line == last.line}
    if last.verdict is None or len(same_line) > 1 or _may_still_grow(reply, last, truncated):
        return failed
    return Parsed("ok", last.verdict, fmt.verdicts[last.verdict])


def _after_reasoning(reply: str) -> str | None:
    """The text after the last closed reasoning block; null where one is still open."""
    _, _, rest = reply.rpartition(_THINK_CLOSE)
    return None if _THINK_OPEN in rest else rest


def _json_verdicts(reply: str, fmt: FormatConfig) -> Iterator[_Candidate]:
    """Every complete JSON object that has the verdict key."""
    decoder = json.JSONDecoder(object_pairs_hook=list)
    start = reply.find("{")
    while start >= 0:
        try:
            pairs, end = decoder.raw_decode(reply, start)
        except (json.JSONDecodeError, RecursionError):
            start = reply.find("{", start + 1)
            continue
        values = {repr(value): value for key, value in pairs if key == fmt.verdict_key}
        if values:
            verdict = _legal(next(iter(values.values())), fmt) if len(values) == 1 else None
            yield _Candidate(reply.count("\n", 0, start), start, verdict)
        start = reply.find("{", end)


def _line_verdicts(reply: str, fmt: FormatConfig) -> Iterator[_Candidate]:
    """Lines that hold nothing but a verdict, with or without its label."""
    label = re.compile(rf"^(?:final\s+)?(?:verdict|answer|{re.escape(fmt.verdict_key)})\s*(?:is|[:=])\s*(.+)$", re.I)
    position = 0
    for number, line in enumerate(reply.split("\n")):
        bare = line.strip(_DECORATION)
        labelled = label.match(bare)
        value = labelled[1].strip(_DECORATION) if labelled else bare
        value = re.sub(r"^response\s+", "", value, flags=re.IGNORECASE) if not _is_numeric(fmt) else value
        verdict = _legal(value, fmt)
        if verdict is not None or (labelled and re.fullmatch(r"[\w./%+-]+", value)):
            yield _Candidate(number, position, verdict)
        position += len(line) + 1


def _legal(value: Any, fmt: FormatConfig) -> str | None:
    """The allowed verdict that a JSON value or a bare text stands for."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value).strip()
    if _is_numeric(fmt) and re.fullmatch(r"\d+(?:\.0+)?", text):
        text = str(int(float(text)))  # "1.0" and digits of other scripts read as their number
    return text if text in fmt.verdicts else None


def _is_numeric(fmt: FormatConfig) -> bool:
    return all(verdict.isdecimal() for verdict in fmt.verdicts)


def _may_still_grow(reply: str, last: _Candidate, truncated: bool) -> bool:
    """Whether the budget cut the reply right behind a bare verdict, which more tokens could have changed."""
    return truncated and reply[last.position] != "{" and last.line == reply.count("\n")
