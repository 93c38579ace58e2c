"""Conversations with tool calls in the ShareGPT layout: Glaive's and Hermes'."""

import ast
import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgelab.data.hub import hub_table
from judgelab.data.reading import json_table, read_bytes
from judgelab.data.records import Pool
from judgelab.data.rows import Row, Table, distinct
from judgelab.data.tool_calls import Call, Example
from judgelab.data.tool_source import ToolSource
from judgelab.errors import DataError
from judgelab.run.randomness import sha256_text

SETTING = "data.path=FILE.json, a list of objects with conversations and tools"
_TAGGED = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)
# A system turn repeats the tools, which are a slot of their own.
_LEFT_OUT = "system"


@dataclass
class ToolConversations(ToolSource):
    """The first call of each conversation, as a `function_call` turn or in <tool_call> tags of a `gpt` turn.

    `path` is a JSON file of the release, null reads the hub data set `repo` (its configuration `part`, if any).
    Conversations without a call are skipped and counted.
    """

    repo: str = "NousResearch/hermes-function-calling-v1"
    part: str | None = "func_calling_singleturn"
    revision: str | None = None

    def load(self, criterion_name: str, slots: tuple[str, ...], seed: int) -> Pool:
        """The pool of the table; raises DataError naming file and row."""
        table = self._table()
        rows, repeated_rows = distinct(table.rows, _name)
        made = [_example(row) for row in rows]
        examples = [example for example in made if example is not None]
        counts = Counter(dropped_duplicate_rows=repeated_rows, skipped_without_call=len(made) - len(examples))
        return self.pool_of(criterion_name, slots, seed, examples, counts, {table.file: table.sha256})

    def _table(self) -> Table:
        if self.path is None:
            return hub_table(self.repo, self.revision, None, SETTING, (self.part, "train"))
        return json_table(self.path, read_bytes(Path(self.path), SETTING))


def _name(row: Row) -> str:
    """Not every release numbers its rows, so the content is the name."""
    return sha256_text(json.dumps([row.value("conversations"), row.value("tools")]))[:12]


def _example(row: Row) -> Example | None:
    turns = row.value("conversations")
    if not isinstance(turns, list) or not all(isinstance(turn, dict) for turn in turns):
        raise DataError(f"{row.place}: 'conversations' must be a list of turns with 'from' and 'value'")
    spoken: list[tuple[str, str]] = []
    for turn in (Row(row.file, row.number, turn) for turn in turns):
        speaker, text = turn.text("from"), turn.text("value")
        written = [text] if speaker == "function_call" else _TAGGED.findall(text) if speaker == "gpt" else []
        if written:
            calls = tuple(_call(text, row) for text in written)
            return Example(_name(row), _conversation(spoken, row), row.text("tools"), calls, row.place)
        if speaker != _LEFT_OUT:
            spoken.append((speaker, text.strip()))
    return None


def _conversation(spoken: list[tuple[str, str]], row: Row) -> str:
    """The turns before the call; the speaker is named where there are several."""
    if not spoken:
        raise DataError(f"{row.place}: 'conversations' opens with a call; remove the row or add what was asked")
    return spoken[0][1] if len(spoken) == 1 else "\n".join(f"{speaker}: {text}" for speaker, text in spoken)


def _call(text: str, row: Row) -> Call:
    match _object(text.strip()):
        case {"name": str(name), "arguments": dict(arguments)}:
            return Call(name, arguments, {argument: (value,) for argument, value in arguments.items()})
    raise DataError(f"{row.place}: the call {text.strip()[:80]!r} is no object with 'name' and 'arguments'")


def _object(text: str) -> Any:
    """JSON, or the Python literal that Hermes writes; None where it is neither."""
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return None
