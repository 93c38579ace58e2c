"""What of a generated reply counts: the text after its reasoning, up to the end of the turn, in one spelling."""

import re
import unicodedata
from typing import NamedTuple

END_OF_TURN = re.compile(r"<\|im_end\|>|<\|endoftext\|>|<\|eot_id\|>|<\|end\|>|<end_of_turn>|</s>")
REASONING_OPENS = re.compile(r"[<\[]think(?:ing)?[>\]]", re.IGNORECASE)
REASONING_CLOSES = re.compile(r"[<\[]/think(?:ing)?[>\]]", re.IGNORECASE)
QUOTED = re.compile(r"\"[^\"\n]*\"|“[^“”\n]*”|«[^«»\n]*»|‘[^‘’\n]*’|(?<!\w)'[^'\n]*'(?!\w)")
"""A quotation within a line; no alternative runs past its own mark, so that reading stays linear."""
_SPELLINGS = {
    **dict.fromkeys("‐‑‒–—−", "-"),
    **dict.fromkeys("⁄∕", "/"),
    **dict.fromkeys("\r\v\f\x85\u2028\u2029", "\n"),
    "٪": "%",
    "٫": ".",
}


class Counted(NamedTuple):
    """The part of a reply that can hold its verdict, and whether an end-of-turn token closed it."""

    text: str
    ended: bool


def counted_text(reply: str) -> Counted | None:
    """The part of a reply that can hold its verdict; null where a reasoning block is still open.

    Digits of any script, full-width letters, the several minus signs and line ends come out as their ASCII forms,
    and characters without a width are left out.
    """
    normal = unicodedata.normalize("NFKC", reply)
    spelled = normal.translate({ord(character): _plain(character) for character in set(normal)})
    turn, *behind = END_OF_TURN.split(re.sub(r"(?<=\w)’(?=\w)", "'", spelled), maxsplit=1)
    answer = REASONING_CLOSES.split(turn)[-1]
    return None if REASONING_OPENS.search(answer) else Counted(answer, bool(behind))


def answer_text(reply: str) -> str:
    """What a reply says after its reasoning and before its end of turn, as it was written; empty where none."""
    answer = REASONING_CLOSES.split(END_OF_TURN.split(reply, maxsplit=1)[0])[-1]
    return "" if REASONING_OPENS.search(answer) else answer.strip()


def _plain(character: str) -> str:
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    return "" if unicodedata.category(character) == "Cf" else _SPELLINGS.get(character, character)


def is_quoted(line: str) -> bool:
    """Whether a line is quoted as a whole: behind a quote mark, or between quotation marks."""
    text = line.strip().strip("*_`").strip()
    return text.startswith(">") or QUOTED.fullmatch(text) is not None


def unquoted(text: str) -> str:
    """A text with every quotation blanked out, so that positions stay."""
    lines = (" " * len(line) if line.lstrip().startswith(">") else line for line in text.split("\n"))
    return QUOTED.sub(lambda found: " " * len(found[0]), "\n".join(lines).replace('\\"', "\\ "))


def blanked(text: str, spans: list[tuple[int, int]]) -> str:
    """A text with spans, sorted and apart, blanked out but for their line ends, so that positions stay."""
    pieces, position = [], 0
    for start, end in spans:
        pieces += [text[position:start], re.sub(r"[^\n]", " ", text[start:end])]
        position = end
    return "".join([*pieces, text[position:]])
