"""Checks that every multiple-choice source makes: options, the right one, and wrong ones that differ from it."""

from collections.abc import Mapping

from judgelab.data.biomedical import ChoiceExample, Source
from judgelab.data.rows import Row
from judgelab.errors import DataError


def choice_example(
    row: Row, source: Source, question: str, options: Mapping[str, str], gold: str, passage: str = ""
) -> ChoiceExample:
    """A checked example; DataError where the answer names no option, or two options read the same."""
    if gold not in options:
        raise DataError(f"{row.place}: the answer is {gold!r}, expected one of {', '.join(options)}")
    letters: dict[str, str] = {}
    for letter, text in options.items():
        earlier = letters.setdefault(option_text(text), letter)
        if earlier != letter:
            role = "the right option" if gold in (earlier, letter) else "option"
            raise DataError(f"{row.place}: option {letter} equals {role} {earlier}, {text!r}; remove one of them")
    return ChoiceExample(source, passage, question, options, gold)


def option_text(text: str) -> str:
    """An option as it is compared with another: case and spacing do not count."""
    return " ".join(text.casefold().split())


def same_answer(row: Row, options: Mapping[str, str], gold: str, answer: str) -> None:
    """DataError where the text of the answer is not the text of the option that the letter names."""
    if option_text(options.get(gold, answer)) != option_text(answer):
        raise DataError(f"{row.place}: the answer is {answer!r}, but option {gold} reads {options[gold]!r}")
