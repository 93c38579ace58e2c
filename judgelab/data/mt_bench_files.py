"""What MT-bench's answer and grade files say, in FastChat's layout: texts of models, and GPT-4's grades of texts."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from judgelab.data.candidate_rows import response_text
from judgelab.data.references import as_reference
from judgelab.data.rows import Row, Table, distinct
from judgelab.errors import DataError

START, END = "[The Start of Assistant's Answer]\n", "\n[The End of Assistant's Answer]"
UNPARSED = -1  # what FastChat writes where GPT-4's reply held no grade
Key = tuple[str, str, str]  # question, model, text


class Answer(NamedTuple):
    """The first-turn text of a model, and the row that it stands in."""

    row: Row
    question_id: str | int
    model: str
    text: str

    @property
    def key(self) -> Key:
        """What its grades are matched by."""
        return str(self.question_id), self.model, self.text


Rated = tuple[Answer, float | None]


def answers(table: Table, counts: Counter[str]) -> Iterator[Answer]:
    """Every choice of every question; the model is the name of the file, as in the grades, not the row's `model_id`."""
    model = Path(table.file).stem
    rows, repeats = distinct(table.rows, lambda row: row.identifier("question_id"))
    counts["dropped_duplicate_rows"] += repeats
    for row in rows:
        choices = row.value("choices")
        if not isinstance(choices, list) or not choices or not all(isinstance(choice, dict) for choice in choices):
            raise DataError(f"{row.place}: 'choices' must be a list of objects with 'turns'")
        for choice in choices:
            text = response_text(first_turn(Row(row.file, row.number, choice)), "turns")
            yield Answer(row, row.identifier("question_id"), model, text)


def first_turn(row: Row) -> Row:
    """The row with the first of its `turns` in their place."""
    turns = row.value("turns")
    if not isinstance(turns, list) or not turns:
        raise DataError(f"{row.place}: 'turns' must be a list of texts, at least one")
    return Row(row.file, row.number, {"turns": turns[0]})


def grades(table: Table, counts: Counter[str]) -> Iterator[Rated]:
    """The graded text and the grade of every first-turn row; what is left out is counted in `counts`."""
    rows, repeats = distinct(table.rows, lambda row: json.dumps(row.values, sort_keys=True))
    counts["dropped_duplicate_rows"] += repeats
    for row in rows:
        if row.identifier("turn") != 1:
            counts["skipped_later_turns"] += 1
            continue
        grade = as_reference(row.value("score"), "score", row.place)
        counts["grades_without_score"] += grade in (None, UNPARSED)
        graded = Answer(row, row.identifier("question_id"), row.text("model"), _graded_text(row))
        yield graded, None if grade == UNPARSED else grade


def _graded_text(row: Row) -> str:
    prompt = row.text("user_prompt")
    if prompt.count(START) != 1 or prompt.count(END) != 1:
        raise DataError(f"{row.place}: 'user_prompt' must have {START.strip()!r} and {END.strip()!r}, each once")
    text = prompt.partition(START)[2].rpartition(END)[0]
    return text if text.strip() else ""
