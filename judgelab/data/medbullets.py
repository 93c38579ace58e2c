"""MedBullets: clinical questions with four or five options, from the benchmark's CSV."""

from pathlib import Path

from judgelab.data.biomedical import ChoiceExample, Examples, Source
from judgelab.data.choices import choice_example, option_text, same_answer
from judgelab.data.reading import csv_table, read_bytes
from judgelab.data.rows import Row, distinct
from judgelab.run.randomness import sha256_text

OPTIONS = {"A": "opa", "B": "opb", "C": "opc", "D": "opd", "E": "ope"}


def load_medbullets(path: str, setting: str) -> Examples[ChoiceExample]:
    """The questions of `medbullets_op4.csv` or `medbullets_op5.csv`; the id of one is its link.

    Questions whose text is the same belong to one group. DataError names file and row.
    """
    table = csv_table(path, read_bytes(Path(path), setting))
    rows, repeats = distinct(table.rows, lambda row: row.text("link"))
    return Examples(tuple(map(_example, rows)), {"dropped_duplicate_rows": repeats}, {table.file: table.sha256})


def _example(row: Row) -> ChoiceExample:
    columns = {letter: column for letter, column in OPTIONS.items() if letter != "E" or column in row.values}
    options = {letter: row.text(column) for letter, column in columns.items()}
    gold = row.text("answer_idx")
    same_answer(row, options, gold, row.text("answer"))
    question = row.text("question")
    source = Source(row.text("link"), f"question:{sha256_text(option_text(question))}", row.place)
    return choice_example(row, source, question, options, gold)
