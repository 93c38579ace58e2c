"""MedQA (USMLE): questions with options by letter, from JSON lines."""

from pathlib import Path

from judgelab.data.biomedical import ChoiceExample, Examples, Source
from judgelab.data.choices import choice_example, option_text, same_answer
from judgelab.data.reading import jsonl_table, read_bytes
from judgelab.data.rows import Row, distinct
from judgelab.errors import DataError
from judgelab.run.randomness import sha256_text


def load_medqa(path: str, setting: str) -> Examples[ChoiceExample]:
    """The questions of a MedQA file with `question`, `options`, `answer` and `answer_idx`.

    The id of a question is its `realidx` where the file has one, else the hash of its text. DataError names file
    and row.
    """
    table = jsonl_table(path, read_bytes(Path(path), setting))
    rows, repeats = distinct(table.rows, _identity)
    return Examples(tuple(map(_example, rows)), {"dropped_duplicate_rows": repeats}, {table.file: table.sha256})


def _identity(row: Row) -> str | int:
    return row.identifier("realidx") if "realidx" in row.values else sha256_text(row.text("question"))


def _example(row: Row) -> ChoiceExample:
    options = row.value("options")
    if not isinstance(options, dict) or len(options) < 2:
        raise DataError(f"{row.place}: 'options' is {options!r}, expected an object of at least two letters")
    texts = {letter: Row(row.file, row.number, options).text(letter) for letter in sorted(options)}
    gold = row.text("answer_idx")
    same_answer(row, texts, gold, row.text("answer"))
    question = row.text("question")
    source = Source(str(_identity(row)), f"question:{sha256_text(option_text(question))}", row.place)
    return choice_example(row, source, question, texts, gold)
