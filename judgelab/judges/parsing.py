"""From a generated reply to a verdict; a failed parse is never a number.

A verdict is stand-alone when it is the whole reply, a line of its own, opens the reply, or carries a label, a tag or
JSON. The last stand-alone verdict binds, over anything in prose; two different ones on one line bind nothing.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from judgelab.config.schema import FormatConfig
from judgelab.judges.reply_text import counted_text, is_quoted, unquoted
from judgelab.judges.verdict_values import NEGATED, Found, Verdicts

_DECORATION = "*_`\"'“”‘’«»[](){}<>#.,:;!?~|=\\$ \t\r"
_TRIED_OBJECTS = 100
"""How many opening braces are tried from the end: the last complete object binds."""
_REFUSAL = re.compile(
    r"\b(?:I(?:'m| am)? (?:cannot|can't|can not|won't|unable to|not able to|sorry)|I must decline|as an AI)\b",
    re.IGNORECASE,
)
_CLOSING = "*_`) "
_BECAUSE = r"(?:because|since|as|for|given|due)\b"


@dataclass(frozen=True)
class Parsed:
    """What a reply amounts to: status ok, invalid, truncated or refused; verdict and score only where ok."""

    status: str
    verdict: str | None = None
    score: float | None = None


@dataclass(frozen=True)
class _StandAlone:
    """A stand-alone verdict; a null one is a value that the format does not allow.

    `closed` says that more tokens could not change it.
    """

    start: int
    end: int
    verdict: str | None
    closed: bool = False


def parse_reply(text: str, fmt: FormatConfig, truncated: bool) -> Parsed:
    """Read the verdict of a reply; `truncated` says that the token budget cut it."""
    failed = Parsed("truncated" if truncated else "invalid")
    reply = counted_text(text)
    if reply is None:
        return failed
    verdicts = Verdicts(fmt)
    found = sorted(_stand_alone(reply, fmt, verdicts), key=lambda each: (each.start, each.end))
    binding = _last(found, reply) if found else _in_prose(reply, verdicts)
    if binding is None:
        refused = not found and not truncated and _REFUSAL.search(reply)
        return Parsed("refused") if refused else failed
    if binding.verdict is None or (truncated and _may_still_grow(reply, binding, verdicts)):
        return failed
    return Parsed("ok", binding.verdict, fmt.verdicts[binding.verdict])


def _last(found: list[_StandAlone], reply: str) -> _StandAlone:
    """The stand-alone verdict that binds; a null one where its line holds another."""
    last = max(found, key=lambda each: each.end)
    line_start = reply.rfind("\n", 0, last.start) + 1
    same_line = {each.verdict for each in found if each.end > line_start}
    return last if len(same_line) == 1 else _StandAlone(last.start, last.end, None)


def _stand_alone(reply: str, fmt: FormatConfig, verdicts: Verdicts) -> Iterator[_StandAlone]:
    yield from _json_verdicts(reply, fmt, verdicts)
    yield from _tagged(reply, fmt, verdicts)
    yield from _opening(reply, verdicts)
    labels = _label(fmt)
    lines = reply.split("\n")
    alone = sum(bool(line.strip()) for line in lines) == 1
    position = 0
    for line in lines:
        if alone or not is_quoted(line):
            yield from _own_line(line, position, verdicts)
            yield from _labelled(line, position, labels, verdicts)
        position += len(line) + 1


def _json_verdicts(reply: str, fmt: FormatConfig, verdicts: Verdicts) -> Iterator[_StandAlone]:
    """Complete JSON objects that have the verdict key; a key twice with two values stands for nothing."""
    decoder = json.JSONDecoder(object_pairs_hook=list)
    end = 0
    for opening in list(re.finditer(r"\{(?=\s*\")", reply))[-_TRIED_OBJECTS:]:
        if opening.start() < end:
            continue
        try:
            pairs, end = decoder.raw_decode(reply, opening.start())
        except (ValueError, RecursionError):  # ValueError also stands for an integer of thousands of digits
            continue
        values = {repr(value): value for key, value in pairs if key == fmt.verdict_key}
        if values:
            verdict = verdicts.legal(next(iter(values.values()))) if len(values) == 1 else None
            yield _StandAlone(opening.start(), end, verdict, closed=True)


def _tagged(reply: str, fmt: FormatConfig, verdicts: Verdicts) -> Iterator[_StandAlone]:
    r"""Values between XML tags of a label, in \boxed{} or in [[ ]]."""
    names = f"verdict|answer|score|rating|{re.escape(fmt.verdict_key)}"
    tags = rf"<(?P<tag>{names})>(?P<xml>[^<]{{0,200}})</(?P=tag)>|\\boxed{{(?P<box>[^{{}}\n]{{0,200}})}}"
    for tag in re.finditer(rf"{tags}|\[\[(?P<list>[^\[\]\n]{{0,200}})\]\]", reply, re.IGNORECASE):
        value = tag["xml"] or tag["box"] or tag["list"] or ""
        yield _StandAlone(tag.start(), tag.end(), verdicts.legal(_bare(value, verdicts)), closed=True)


def _opening(reply: str, verdicts: Verdicts) -> Iterator[_StandAlone]:
    """A verdict that opens the reply; null where a different allowed one follows it in prose.

    A number or a single letter opens a reply only before punctuation, a reason, or nothing: "1 problem" counts
    problems, "A response" has an article, and "1. First" is a list.
    """
    start = len(reply) - len(reply.lstrip(_DECORATION + "\n"))
    if is_quoted(reply.strip().partition("\n")[0]):
        return
    found = verdicts.at(reply, start)
    if found is None or found.verdict is None:
        return
    rest = reply[found.end :]
    if re.match(r"\s*\?", rest) or (not verdicts.worded and not _stands_apart(reply[start], rest)):
        return
    others = {other.verdict for other in verdicts.occurrences(unquoted(rest))}
    yield _StandAlone(start, found.end, found.verdict if others <= {found.verdict} else None)


def _stands_apart(first: str, rest: str) -> bool:
    """Whether an opening number or letter is followed by a reason or nothing, and is no list's."""
    if re.match(r"[.)]\s+\S", rest):
        return False
    return first in "+-" or re.match(rf"\s*(?:$|[^\w\s]|\n|{_BECAUSE})", rest) is not None


def _own_line(line: str, position: int, verdicts: Verdicts) -> Iterator[_StandAlone]:
    """A line that holds nothing but a verdict."""
    verdict = verdicts.legal(_bare(line, verdicts))
    if verdict is not None:
        yield _StandAlone(position, position + len(line.rstrip()), verdict)


def _label(fmt: FormatConfig) -> re.Pattern[str]:
    names = f"verdict|score|rating|decision|{re.escape(fmt.verdict_key)}"
    separator = r"[*_`]{0,4}\s*(?:(?:is|would\s+be)\b\s*:?|[:=]|->|→)\s*[*_`\"'(\[]{0,4}\s*(?:response\s+)?"
    # "The answer is 4" may speak of the judged answer, so that this label counts only where a line starts with it.
    return re.compile(rf"(?:\b(?:{names})|^\W*(?:final\s+)?answer(?!\s+is)){separator}", re.IGNORECASE)


def _labelled(line: str, position: int, label: re.Pattern[str], verdicts: Verdicts) -> Iterator[_StandAlone]:
    """Values behind a label; null for one that is not allowed, or that a different one follows on its line."""
    for found in label.finditer(line):
        value = verdicts.at(line, found.end())
        if value is None:
            if re.fullmatch(r"[\w./%+-]+", line[found.end() :].strip(_DECORATION)):
                yield _StandAlone(position + found.start(), position + len(line), None)
            continue
        others = {other.verdict for other in verdicts.occurrences(unquoted(line[value.end :]))}
        verdict = value.verdict if others <= {value.verdict} else None
        yield _StandAlone(position + found.start(), position + value.end, verdict)


def _bare(text: str, verdicts: Verdicts) -> str:
    """A text without its decoration: markdown, brackets, quotation marks, and a list's bullet."""
    bare = text.strip(_DECORATION)
    if not (verdicts.numeric and verdicts.signed):
        bare = re.sub(r"^[-+]\s+", "", bare)
    return bare if verdicts.numeric else re.sub(r"^response\s+", "", bare, flags=re.IGNORECASE)


def _in_prose(reply: str, verdicts: Verdicts) -> _StandAlone | None:
    """The one allowed word that prose holds, where nothing negates it; numbers and letters in prose are no verdicts."""
    if not verdicts.worded:
        return None
    text = unquoted(reply)
    found = list(verdicts.occurrences(text))
    if len({each.verdict for each in found}) != 1 or any(_doubted(text, each) for each in found):
        return None
    return _StandAlone(found[-1].start, found[-1].end, found[-1].verdict)


def _doubted(text: str, found: Found) -> bool:
    """Whether a negation stands before a word, or a question mark behind it."""
    before = text[max(0, found.start - 60) : found.start]
    return NEGATED.search(before) is not None or text[found.end :].lstrip(_CLOSING).startswith("?")


def _may_still_grow(reply: str, binding: _StandAlone, verdicts: Verdicts) -> bool:
    """Whether the budget cut the reply so close behind a verdict that more tokens could have changed it."""
    rest = reply[binding.end :]
    if binding.closed:
        return False
    return re.fullmatch(r" *[.,/%]? *", rest) is not None if verdicts.numeric else rest.strip(" *_`") == ""
