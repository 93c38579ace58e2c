"""Finds the stand-alone verdicts of a reply: in JSON, a tag, behind a label, on a line of their own, at its start."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from judgelab.config.schema import FormatConfig
from judgelab.judges.reply_text import blanked, is_quoted, unquoted
from judgelab.judges.verdict_values import Verdicts

_DECORATION = "*_`\"'“”‘’«»[](){}<>#.,:;!?|=\\$ \t"
_TRIED_OBJECTS = 100
"""How many opening braces are tried from the end: the last complete object binds."""
_QUOTE_MARKS = tuple("\"'“”‘’«»")
_REASON = r"(?:because|since|as|for|given|due)\b"


@dataclass(frozen=True)
class StandAlone:
    """A stand-alone verdict; a null one is a value that the format does not allow.

    `closed` says that more tokens could not change it.
    """

    start: int
    end: int
    verdict: str | None
    closed: bool = False


def stand_alone(reply: str, fmt: FormatConfig, verdicts: Verdicts) -> list[StandAlone]:
    """The stand-alone verdicts that decide a reply: all in JSON and tags, the opening one, those of the last line."""
    text = without_objects(reply)
    tags = list(_tagged(text, fmt, verdicts))
    text = blanked(text, [(each.start, each.end) for each in tags])
    answers = (_answer(reply, fmt, verdicts, *each) for each in _objects(reply))
    return [
        *(each for each in answers if each),
        *tags,
        *_opening(text, verdicts),
        *_last_line(text, label(fmt), verdicts),
    ]


def without_objects(reply: str) -> str:
    """A reply with its complete JSON objects blanked out, so that nothing inside them counts as prose."""
    return blanked(reply, [(start, end) for start, end, _ in _objects(reply)])


def _objects(reply: str) -> Iterator[tuple[int, int, list[tuple[str, Any]]]]:
    """Start, end, and pairs of keys and values of every complete JSON object."""
    decoder = json.JSONDecoder(object_pairs_hook=list, strict=False)
    end = 0
    for opening in list(re.finditer(r"\{(?=\s*\")", reply))[-_TRIED_OBJECTS:]:
        if opening.start() < end:
            continue
        try:
            pairs, end = decoder.raw_decode(reply, opening.start())
        except (ValueError, RecursionError):  # ValueError also stands for an integer of thousands of digits
            continue
        yield opening.start(), end, pairs


def _answer(
    reply: str, fmt: FormatConfig, verdicts: Verdicts, start: int, end: int, pairs: list[tuple[str, Any]]
) -> StandAlone | None:
    """What an object states under the verdict key; a key twice with two values stands for nothing."""
    values = {repr(value): value for key, value in pairs if key == fmt.verdict_key}
    if not values or _cited(reply, start, end):
        return None
    verdict = verdicts.legal(next(iter(values.values()))) if len(values) == 1 else None
    return StandAlone(start, end, verdict, closed=True)


def _cited(reply: str, start: int, end: int) -> bool:
    """Whether an object stands between quotation marks or in a quoted line, beside other text."""
    if not (reply[:start] + reply[end:]).strip(_DECORATION + "\n"):
        return False
    between_marks = reply[:start].endswith(_QUOTE_MARKS) and reply.startswith(_QUOTE_MARKS, end)
    return between_marks or reply[reply.rfind("\n", 0, start) + 1 : start].lstrip().startswith(">")


def _tagged(reply: str, fmt: FormatConfig, verdicts: Verdicts) -> Iterator[StandAlone]:
    r"""Values between XML tags of a label, in \boxed{} or in [[ ]]; none inside a quotation."""
    names = f"verdict|answer|score|rating|{re.escape(fmt.verdict_key)}"
    box = r"\\boxed{(?:\\text{)?(?P<box>[^{}\n]{0,200})}"
    tags = rf"<(?P<tag>{names})>(?P<xml>[^<]{{0,200}})</(?P=tag)>|{box}|\[\[(?P<list>[^\[\]\n]{{0,200}})\]\]"
    plain = unquoted(reply)
    for tag in re.finditer(tags, reply, re.IGNORECASE):
        if not plain[tag.start()].isspace() or ("\n" not in reply.strip() and is_quoted(reply)):
            value = tag["xml"] or tag["box"] or tag["list"] or ""
            yield StandAlone(tag.start(), tag.end(), verdicts.legal(_bare(value, verdicts)), closed=True)


def _opening(reply: str, verdicts: Verdicts) -> Iterator[StandAlone]:
    """A verdict that opens the reply; null where a different allowed one follows it in prose.

    A number that has the first line to itself is left to `_own_line`: numbers in later prose count things.
    """
    start = len(reply) - len(reply.lstrip(_DECORATION + "\n"))
    found = verdicts.at(reply, start)
    if found is None or found.verdict is None or unquoted(reply)[start].isspace():
        return
    rest = reply[found.end :]
    sentence = re.split(r"[.\n]", rest[:100], maxsplit=1)[0]
    denied = verdicts.worded and verdicts.denied(found.verdict + sentence)
    if denied or re.match(r"\s*\?", rest) or not _opens(reply[start : found.end], rest, verdicts):
        return
    if verdicts.numeric and verdicts.legal(_bare(reply[start:].partition("\n")[0], verdicts)):
        return
    others = {other.verdict for other in verdicts.occurrences(unquoted(rest))}
    yield StandAlone(start, found.end, found.verdict if others <= {found.verdict} else None)


def _opens(value: str, rest: str, verdicts: Verdicts) -> bool:
    """Whether a first value is the verdict and not the start of a sentence or of a list.

    A number or a single letter opens a reply only before punctuation, a reason, or nothing: "1 problem" counts
    problems, "A response" has an article. A number or letter with a dot or bracket and text behind it ("4. The
    response", "1) Clear") looks like a list item and is no verdict. A word opens one in its exact case, or in any case
    before the same or its object ("Accept the response", but not "Accept that it is hard").
    """
    if not verdicts.worded and re.match(r"[*_`\\]*[.)](?:[*_`]*\s+\S|\w)", rest):
        return False
    if re.match(rf"\s*(?:$|[^\w\s]|\n|{_REASON})", rest):
        return True
    if verdicts.worded:
        return value in verdicts.allowed or re.match(r"\s+(?:the|this|it|response)\b", rest, re.IGNORECASE) is not None
    return value[0] in "+-"


def _last_line(reply: str, labels: re.Pattern[str], verdicts: Verdicts) -> list[StandAlone]:
    """The verdicts of the last line that has any, on its own or behind a label; quoted lines have none."""
    lines = reply.split("\n")
    alone = sum(map(bool, map(str.strip, lines))) == 1
    position = len(reply) + 1
    for line in reversed(lines):
        position -= len(line) + 1
        if not line or line.isspace() or (is_quoted(line) and not alone):
            continue
        own = _own_line(line, position, verdicts)
        found = [own] if own else list(_labelled(line, position, labels, verdicts, alone))
        if found:
            return found
    return []


def _own_line(line: str, position: int, verdicts: Verdicts) -> StandAlone | None:
    """A line that holds nothing but a verdict; "<4" is a comparison, "<4>" is decorated."""
    comparison = verdicts.numeric and "<" in line and ">" not in line
    verdict = None if comparison else verdicts.legal(_bare(line, verdicts))
    return StandAlone(position, position + len(line.rstrip(_DECORATION)), verdict) if verdict is not None else None


def label(fmt: FormatConfig) -> re.Pattern[str]:
    """What names a verdict in front of it, with the scale in brackets where it is given."""
    names = f"verdict|score|rating|decision|{re.escape(fmt.verdict_key)}"
    is_ = r"(?:(?:is|would\s{1,9}be)\b\s{0,9}:?|[:=]|->|→)"
    behind = rf"(?:\s?\((?P<scale>[^()\n]{{1,40}})\))?[*_`]{{0,4}}\s{{0,9}}{is_}\s{{0,9}}"
    # "The answer is 4" may speak of the judged answer, so that this label counts only where a line starts with it.
    answer = r"^\W{0,20}(?:final\s{1,9})?answer(?!\s{1,9}is)"
    return re.compile(
        rf"(?:\b(?:{names})|{answer}){behind}[*_`\"'(\[]{{0,4}}\s{{0,9}}(?:response\s{{1,9}})?", re.IGNORECASE
    )


def _labelled(
    line: str, position: int, labels: re.Pattern[str], verdicts: Verdicts, alone: bool
) -> Iterator[StandAlone]:
    """Values behind a label; null for one that is not allowed, or that another follows before the next label."""
    plain = unquoted(line)
    whole = alone and is_quoted(line)
    found = [each for each in labels.finditer(line) if whole or not plain[each.start()].isspace()]
    for number, each in enumerate(found, start=1):
        end = found[number].start() if number < len(found) else len(line)
        value = verdicts.at(line, each.end())
        if value is None:
            if re.fullmatch(r"[\w./%+-]{1,60}", line[each.end() : end][:80].strip(_DECORATION)):
                yield StandAlone(position + each.start(), position + end, None)
            continue
        others = {other.verdict for other in verdicts.occurrences(plain[value.end : end])}
        fits = others <= {value.verdict} and verdicts.on_this_scale(each["scale"] or "")
        yield StandAlone(position + each.start(), position + value.end, value.verdict if fits else None)


def _bare(text: str, verdicts: Verdicts) -> str:
    """A text without its decoration: markdown, brackets, quotation marks, and a list's bullet."""
    bare = text.strip(_DECORATION)
    bullet = r"^[-+]\s+(?=[+-]\d)" if verdicts.numeric and verdicts.signed else r"^[-+]\s+"
    bare = re.sub(bullet, "", bare).lstrip(_DECORATION)
    return bare if verdicts.numeric else re.sub(r"^response\s+", "", bare, flags=re.IGNORECASE)
