"""From a generated reply to a verdict; a failed parse is never a number.

A verdict is stand-alone when it is the whole reply, a line of its own, opens the reply, or carries a label, a tag or
JSON. The last stand-alone verdict binds, over anything in prose; two different ones on one line bind nothing.
"""

import re
from dataclasses import dataclass

from judgelab.config.schema import FormatConfig
from judgelab.judges.reply_text import counted_text, unquoted
from judgelab.judges.stand_alone import StandAlone, label, stand_alone, without_objects
from judgelab.judges.verdict_values import Verdicts

_REFUSAL = re.compile(
    r"\b(?:I(?:'m| am)? (?:cannot|can't|can not|won't|will not|unable to|not able to|sorry|must decline|decline to"
    r"|refuse to|apologi[sz]e|(?:do not|don't) feel comfortable)|as an AI)\b",
    re.IGNORECASE,
)
_LARGEST_SCALE = 100
"""Scales end here at the latest, so that a cut 100 cannot be the start of a longer number."""


@dataclass(frozen=True)
class Parsed:
    """What a reply amounts to: status ok, invalid, truncated or refused; verdict and score only where ok."""

    status: str
    verdict: str | None = None
    score: float | None = None


def parse_reply(text: str, fmt: FormatConfig, truncated: bool) -> Parsed:
    """Read the verdict of a reply; `truncated` says that the token budget cut it.

    An end-of-turn token in the text closes it all the same. Prose that was cut holds no verdict: the rest could
    have named another.
    """
    failed = Parsed("truncated" if truncated else "invalid")
    counted = counted_text(text)
    if counted is None:
        return failed
    reply, verdicts, cut = counted.text, Verdicts(fmt), truncated and not counted.ended
    found = stand_alone(reply, fmt, verdicts)
    prose = None if found or cut else _in_prose(reply, verdicts)
    binding = _last(found, reply) if found else prose
    if binding is None:
        return Parsed("refused") if not truncated and _REFUSAL.search(reply) else failed
    if binding.verdict is None or (cut and _may_still_grow(reply, binding, fmt, verdicts)):
        return failed
    return Parsed("ok", binding.verdict, fmt.verdicts[binding.verdict])


def _last(found: list[StandAlone], reply: str) -> StandAlone:
    """The stand-alone verdict that binds; a null one where its line holds another."""
    last = max(found, key=lambda each: each.end)
    line_start = reply.rfind("\n", 0, last.start) + 1
    same_line = {each.verdict for each in found if each.end > line_start}
    return last if len(same_line) == 1 else StandAlone(last.start, last.end, None)


def _in_prose(reply: str, verdicts: Verdicts) -> StandAlone | None:
    """The one allowed word that prose holds, where nothing negates it; numbers and letters in prose are no verdicts."""
    text = unquoted(without_objects(reply))
    if not verdicts.worded or verdicts.denied(text):
        return None
    found = list(verdicts.occurrences(text))
    if len({each.verdict for each in found}) != 1:
        return None
    return StandAlone(found[-1].start, found[-1].end, found[-1].verdict)


def _may_still_grow(reply: str, binding: StandAlone, fmt: FormatConfig, verdicts: Verdicts) -> bool:
    """Whether the budget cut the reply so close behind a verdict that more tokens could have changed it.

    A number may go on as a longer one, a range or another scale; a whole word only as a choice between two. A reply
    that ends in a label or an open object announced another verdict.
    """
    tail = reply[-200:].rpartition("\n")[2]
    if re.search(rf"(?:{label(fmt).pattern}|{{\s*\"{re.escape(fmt.verdict_key)}\"?[^}}]*)\Z", tail, re.IGNORECASE):
        return True
    rest = reply[binding.end :]
    if binding.closed:
        return False
    if verdicts.worded:
        return re.fullmatch(r"[ *_`\"')\]]*(?:[/|,&]|\b(?:or?|and?))\s*\w*", rest) is not None
    if verdicts.numeric and not rest.strip():
        ended = "\n" in rest or reply[binding.end - 1] == "%"
        return not ended and int(binding.verdict or 0) < _LARGEST_SCALE
    return re.fullmatch(r"[^\w\n]*\w{0,3} ?(?:of?)? ?", rest) is not None
