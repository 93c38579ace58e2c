import json
from pathlib import Path

import pytest

from judgelab.data.tool_conversations import ToolConversations
from judgelab.errors import DataError

PUBLIC = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "glaive_toolcall"
FILE = PUBLIC / "glaive_toolcall_en_demo.json"
needs_public = pytest.mark.skipif(not PUBLIC.is_dir(), reason="no shared/data/glaive_toolcall beside the repository")


def load(path, seed=42, **settings):
    return ToolConversations(name="hermes", path=str(path), **settings).load("tool_parameters", ("tools",), seed)


@needs_public
def test_given_calls_are_the_first_ones_of_the_public_file():
    pool = load(FILE)
    firsts = {}
    for row in json.loads(FILE.read_text("utf-8")):
        turns = row["conversations"]
        at = next((n for n, turn in enumerate(turns) if turn["from"] == "function_call"), 0)
        if at:
            firsts.setdefault(turns[at - 1]["value"].strip(), []).append(json.loads(turns[at]["value"]))
    items = pool.train + pool.validation + pool.test
    assert len(items) > 100
    for item in items:
        # Where several turns come before the call, the last of them closes the query.
        last = next(text for text in firsts if item.query.endswith(text))
        assert item.label == (json.loads(item.response) in firsts[last])


def turn(speaker, text):
    return {"from": speaker, "value": text}


def row(n, reply, opening=None):
    turns = [turn("system", "the tools"), turn("human", f"ask {n}"), turn("gpt", reply), turn("tool", "done")]
    return {"conversations": opening or turns, "tools": '[{"name": "f"}]'}


def write(path, rows):
    path.write_text(json.dumps(rows), "utf-8")
    return path


def tagged(n):
    return f"<tool_call>\n{{'arguments': {{'a': 'value {n}', 'deep': None}}, 'name': 'f'}}\n</tool_call>"


def test_tagged_calls_are_read_as_python_or_json_and_the_system_turn_is_left_out(tmp_path):
    rows = [row(n, tagged(n)) for n in range(11)]
    rows += [row(11, '<tool_call>{"name": "f", "arguments": {"a": "json"}}</tool_call>'), row(12, "I cannot.")]
    pool = load(write(tmp_path / "h.json", rows))
    items = pool.train + pool.validation + pool.test
    assert pool.counts["skipped_without_call"] == 1
    assert len(items) == 24
    given = {item.query: json.loads(item.response) for item in items if item.label}
    assert given["ask 3"] == {"name": "f", "arguments": {"a": "value 3", "deep": None}}
    assert given["ask 11"]["arguments"] == {"a": "json"}


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (row(2, "<tool_call>{'name': 'f'</tool_call>"), "is no object with 'name' and 'arguments'"),
        (row(2, "<tool_call>{'name': 'f'}</tool_call>"), "is no object with 'name' and 'arguments'"),
        (row(2, "", [turn("gpt", tagged(2))]), "'conversations' opens with a call"),
        (row(2, "", ["text"]), "'conversations' must be a list of turns"),
    ],
)
def test_bad_rows_name_file_and_row(tmp_path, bad, message):
    rows = [row(n, tagged(n)) for n in range(12)]
    rows[2] = bad
    with pytest.raises(DataError, match=f"h.json, row 3: .*{message}"):
        load(write(tmp_path / "h.json", rows))
