"""What of a generated reply counts: the text after its reasoning, up to the end of the turn, in one spelling."""

import re
import unicodedata

END_OF_TURN = re.compile(r"<\|im_end\|>|<\|endoftext\|>|<\|eot_id\|>|<\|end\|>|<end_of_turn>|</s>")
REASONING_OPENS = re.compile(r"<think(?:ing)?>")
REASONING_CLOSES = re.compile(r"</think(?:ing)?>")
MINUS_SIGNS = "‐‑‒–—−"
QUOTED = re.compile(r"\"[^\"\n]*\"|“[^“”\n]*”|«[^«»\n]*»|(?<!\w)'[^'\n]*'(?!\w)")


def counted_text(reply: str) -> str | None:
    """The part of a reply that can hold its verdict; null where a reasoning block is still open.

    Digits of any script, full-width letters and the several minus signs come out as their ASCII forms.
    """
    spelled = "".join(map(_plain, unicodedata.normalize("NFKC", reply)))
    turn = END_OF_TURN.split(spelled, maxsplit=1)[0]
    answer = REASONING_CLOSES.split(turn)[-1]
    return None if REASONING_OPENS.search(answer) else answer


def _plain(character: str) -> str:
    if character in MINUS_SIGNS:
        return "-"
    return str(unicodedata.decimal(character)) if character.isdecimal() else character


def is_quoted(line: str) -> bool:
    """Whether a line is quoted as a whole: behind a quote mark, or between quotation marks."""
    text = line.strip().strip("*_`").strip()
    return text.startswith(">") or QUOTED.fullmatch(text) is not None


def unquoted(text: str) -> str:
    """A text with every quotation blanked out, so that positions stay."""
    lines = (" " * len(line) if line.lstrip().startswith(">") else line for line in text.split("\n"))
    return QUOTED.sub(lambda found: " " * len(found[0]), "\n".join(lines))
