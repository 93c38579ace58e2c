"""BFCL: requests with tools and every accepted value of each argument."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgelab.data.reading import jsonl_table, read_bytes
from judgelab.data.records import Pool
from judgelab.data.rows import Row, Table, distinct
from judgelab.data.tool_calls import Call, Example
from judgelab.data.tool_source import ToolSource
from judgelab.errors import DataError

SETTING = "data.path=FOLDER, the bfcl folder with BFCL_v4_CATEGORY.json and possible_answer/"
OMITTED = ""  # stands in a list of accepted values where the argument may be left out


@dataclass
class BFCL(ToolSource):
    """The categories of a folder that have an answer file; an argument is given its first accepted value.

    An argument that may be left out first of all is left out. Categories without answers (irrelevance: no call is
    right) say nothing of arguments and are not read.
    """

    def load(self, criterion_name: str, slots: tuple[str, ...], seed: int) -> Pool:
        """The pool of all categories; raises DataError naming file and row."""
        if self.path is None:
            raise DataError(f"data={self.name} reads a local copy and data.path is null; set {SETTING}")
        answers = sorted((Path(self.path).expanduser() / "possible_answer").glob("BFCL_*.json"))
        if not answers:
            raise DataError(f"{self.path}: no possible_answer/BFCL_*.json; set {SETTING}")
        examples: list[Example] = []
        inputs: dict[str, str] = {}
        counts = Counter(dropped_duplicate_rows=0)
        for answer in answers:
            asked, accepted = (_table(file) for file in (answer.parent.parent / answer.name, answer))
            inputs |= {table.file: table.sha256 for table in (asked, accepted)}
            examples += _examples(asked, accepted, counts)
        return self.pool_of(criterion_name, slots, seed, examples, counts, inputs)


def _table(file: Path) -> Table:
    return jsonl_table(str(file), read_bytes(file, SETTING))


def _examples(asked: Table, accepted: Table, counts: Counter[str]) -> list[Example]:
    by_id: dict[str, Row] = {}
    for table in (asked, accepted):
        rows, repeated = distinct(table.rows, lambda row: row.text("id"))
        counts["dropped_duplicate_rows"] += repeated
        if table is accepted:
            by_id = {row.text("id"): row for row in rows}
        else:
            questions = rows
    missing = [row for row in questions if row.text("id") not in by_id]
    if missing:
        raise DataError(f"{missing[0].place}: {accepted.file} has no answer to id {missing[0].text('id')!r}")
    return [_example(row, by_id[row.text("id")]) for row in questions]


def _example(row: Row, answer: Row) -> Example:
    return Example(
        example_id=row.text("id"),
        conversation=_conversation(row),
        tools=json.dumps(row.value("function"), ensure_ascii=False),
        calls=tuple(
            _call(name, lists, answer) for call in _objects(answer, "ground_truth") for name, lists in call.items()
        ),
        place=row.place,
    )


def _conversation(row: Row) -> str:
    """The messages of the one turn; the role is named where there are several."""
    turns = row.value("question")
    if not (isinstance(turns, list) and len(turns) == 1 and isinstance(turns[0], list) and turns[0]):
        raise DataError(f"{row.place}: 'question' must be a list of one turn, itself a list of messages")
    messages = [Row(row.file, row.number, message) for message in turns[0]]
    if len(messages) == 1:
        return messages[0].text("content")
    return "\n".join(f"{message.text('role')}: {message.text('content').strip()}" for message in messages)


def _objects(row: Row, column: str) -> list[dict[str, Any]]:
    values = row.value(column)
    if not (isinstance(values, list) and values and all(isinstance(value, dict) for value in values)):
        raise DataError(f"{row.place}: {column!r} must be a list of objects, at least one")
    return values


def _call(name: str, lists: Mapping[str, Any], answer: Row) -> Call:
    accepted = {argument: _accepted(name, argument, values, answer) for argument, values in lists.items()}
    given = {argument: values[0] for argument, values in accepted.items() if values and values[0] != OMITTED}
    return Call(name, given, accepted)


def _accepted(name: str, argument: str, values: Any, answer: Row) -> tuple[Any, ...]:
    if not isinstance(values, list):
        raise DataError(f"{answer.place}: {name}.{argument} is {values!r}, expected the list of accepted values")
    return tuple(_plain(value) for value in values)


def _plain(value: Any) -> Any:
    """A value with the first choice inside of it: objects hold a list of accepted values per key."""
    if isinstance(value, dict):
        chosen = {
            key: _plain(choices[0] if isinstance(choices, list) and choices else choices)
            for key, choices in value.items()
        }
        return {key: choice for key, choice in chosen.items() if choice != OMITTED}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return value
