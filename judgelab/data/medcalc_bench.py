"""MedCalc-Bench: patient notes with the inputs of a medical calculator and the accepted answers, from its CSV."""

import ast
import math
from pathlib import Path
from typing import Any

from judgelab.data.biomedical import CalculatorExample, Examples, Source
from judgelab.data.reading import csv_table, read_bytes
from judgelab.data.rows import Row, distinct
from judgelab.errors import DataError

IDENTIFIERS = ("Unique ID", "Row Number")
CALENDAR_CALCULATORS = {"13", "68", "69"}  # due date, conception, gestational age: the answer is no number


def load_medcalc_bench(path: str, setting: str) -> Examples[CalculatorExample]:
    """The rows of a MedCalc-Bench file that have a number as their answer; the others are counted.

    Rows of one patient note belong to one group. DataError names file and row.
    """
    table = csv_table(path, read_bytes(Path(path), setting))
    rows, repeats = distinct(table.rows, _identity)
    numeric = [row for row in rows if row.text("Calculator ID") not in CALENDAR_CALCULATORS]
    counts = {"dropped_duplicate_rows": repeats, "dropped_calendar_answers": len(rows) - len(numeric)}
    return Examples(tuple(map(_example, numeric)), counts, {table.file: table.sha256})


def _identity(row: Row) -> str | int:
    column = next((name for name in IDENTIFIERS if name in row.values), IDENTIFIERS[0])
    return row.identifier(column)


def _example(row: Row) -> CalculatorExample:
    lower, upper = _number(row, "Lower Limit"), _number(row, "Upper Limit")
    if lower > upper:
        raise DataError(f"{row.place}: 'Lower Limit' {lower} is above 'Upper Limit' {upper}")
    return CalculatorExample(
        source=Source(str(_identity(row)), f"note:{row.text('Note ID')}", row.place),
        calculator_id=int(_number(row, "Calculator ID")),
        calculator_name=row.text("Calculator Name"),
        passage=row.text("Patient Note"),
        question=row.text("Question"),
        entities=_entities(row),
        answer=_number(row, "Ground Truth Answer"),
        lower=lower,
        upper=upper,
    )


def _number(row: Row, column: str) -> float:
    text = row.text(column)
    try:
        value = float(text)
    except ValueError as error:
        raise DataError(f"{row.place}: {column!r} is {text!r}, expected a number") from error
    if not math.isfinite(value):
        raise DataError(f"{row.place}: {column!r} is {text!r}, expected a finite number")
    return value


def _entities(row: Row) -> dict[str, Any]:
    text = row.text("Relevant Entities")
    try:
        entities = ast.literal_eval(text)  # a Python literal, not JSON
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise DataError(f"{row.place}: 'Relevant Entities' is no Python literal: {text[:80]!r}") from error
    if not isinstance(entities, dict) or not all(isinstance(name, str) for name in entities):
        raise DataError(f"{row.place}: 'Relevant Entities' is {text[:80]!r}, expected a dict with names as keys")
    return entities
