import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab.engines.server_config import ServerConfig
from judgelab.errors import RunFolderError
from judgelab.run.folder import (
    CONNECTION,
    FolderLock,
    changed_keys,
    config_hash,
    run_folder,
    write_atomic,
    write_json,
    write_parquet,
)

HOLDER = """
import sys
from pathlib import Path
from judgelab.run.folder import FolderLock
with FolderLock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""

TAKER = """
import sys
from pathlib import Path
from judgelab.run.folder import FolderLock
with FolderLock(Path(sys.argv[1])):
    pass
"""

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
configs = st.dictionaries(st.text(), json_values, max_size=5)


@given(configs)
def test_hash_ignores_key_order_paths_and_logger(config: dict[str, object]) -> None:
    turned = dict(reversed(config.items()))
    turned["paths"] = {"output_dir": "elsewhere"}
    turned["logger"] = {"mode": "online"}
    assert config_hash(turned) == config_hash(config)
    assert changed_keys(config, turned) == []


@given(configs, configs)
def test_hash_differs_exactly_where_a_key_differs(old: dict[str, object], new: dict[str, object]) -> None:
    old_json, new_json = (json.dumps(config, sort_keys=True) for config in (old, new))
    if {"paths", "logger"}.isdisjoint({*old, *new}):
        assert (config_hash(old) == config_hash(new)) == (old_json == new_json)
    if changed_keys(old, new):
        assert config_hash(old) != config_hash(new)


def test_how_a_server_is_reached_is_no_other_run() -> None:
    old = {"engine": {"name": "server", "url": "http://a/v1", "model": "m", "api": "chat", "concurrency": 32}}
    moved = {"engine": {**old["engine"], "url": "http://b/v1", "concurrency": 8, "price_per_million_prompt": 2.0}}
    assert config_hash(moved) == config_hash(old)
    assert changed_keys(old, moved) == []
    for change in ({"model": "n"}, {"api": "completions"}, {"body": {"reasoning_effort": "low"}}):
        other = {"engine": {**old["engine"], **change}}
        assert config_hash(other) != config_hash(old)
        assert changed_keys(old, other) == [f"engine.{key}" for key in change]


def test_every_connection_key_is_one_of_the_server() -> None:
    assert {field.name for field in fields(ServerConfig)} >= CONNECTION


@pytest.mark.parametrize(
    ("old", "new", "keys"),
    [
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, ["a.c"]),
        ({"a": 1}, {"b": 1}, ["a", "b"]),
        ({"a": 1}, {"a": 1, "b": None}, ["b"]),
        ({"a": {"b": 1}}, {"a": 2}, ["a"]),
        ({"a": {0: "x", 1: "y"}}, {"a": {0: "x", 1: "z"}}, ["a.1"]),
    ],
)
def test_changed_keys_are_dotted(old: dict[str, object], new: dict[str, object], keys: list[str]) -> None:
    assert changed_keys(old, new) == keys


def test_folder_is_the_given_one_or_named_by_stage_experiment_and_hash() -> None:
    digest = "0123456789abcdef"
    assert run_folder("train", "cpa", digest, "outputs", None) == Path("outputs/train/cpa-01234567")
    assert run_folder("train", "cpa", digest, "outputs", "here") == Path("here")


@pytest.fixture
def holder(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.communicate()


def test_second_process_refuses_and_names_the_holder(tmp_path: Path, holder: "subprocess.Popen[str]") -> None:
    with pytest.raises(RunFolderError, match=rf"in use by process {holder.pid} on .*, started 20.*output_dir"):
        FolderLock(tmp_path).__enter__()
    with pytest.raises(RunFolderError, match=f"process {holder.pid} "):  # the refusal left the holder's name
        FolderLock(tmp_path).__enter__()


def test_lock_is_free_after_the_holder_ends(tmp_path: Path, holder: "subprocess.Popen[str]") -> None:
    holder.communicate()
    assert holder.returncode == 0
    with FolderLock(tmp_path):
        assert json.loads((tmp_path / ".lock").read_text())["pid"] == os.getpid()


def test_lock_is_free_after_the_holder_is_killed(tmp_path: Path, holder: "subprocess.Popen[str]") -> None:
    holder.kill()
    assert holder.wait() == -signal.SIGKILL
    with FolderLock(tmp_path):
        assert json.loads((tmp_path / ".lock").read_text())["pid"] == os.getpid()


def test_lock_refuses_within_one_process_and_frees_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), FolderLock(tmp_path):
        with pytest.raises(RunFolderError, match=f"in use by process {os.getpid()} "):
            FolderLock(tmp_path).__enter__()
        raise KeyError
    subprocess.run([sys.executable, "-c", TAKER, str(tmp_path)], check=True)


def test_unsigned_lock_is_held_by_another_process(tmp_path: Path) -> None:
    with FolderLock(tmp_path):
        (tmp_path / ".lock").write_text("")
        with pytest.raises(RunFolderError, match="in use by another process"):
            FolderLock(tmp_path).__enter__()


def test_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFolderError, match=r"file: cannot be used as a run folder .*paths\.output_dir"):
        FolderLock(tmp_path / "file").__enter__()


def test_atomic_write_replaces_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_atomic(path, "old")
    write_atomic(path, "nü")
    assert path.read_bytes() == "nü".encode()
    write_atomic(path, b"\xff")
    assert path.read_bytes() == b"\xff"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]


def test_failed_replacement_keeps_the_old_content(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_json(path, {"kept": 1})
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, {"bad": float("nan")})
    folder = tmp_path / "folder"
    (folder / "full").mkdir(parents=True)
    with pytest.raises(OSError, match="folder"):
        write_atomic(folder, "a folder is not replaced by a file")
    assert json.loads(path.read_text()) == {"kept": 1}
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.json", "folder"]


def test_parquet_is_read_back(tmp_path: Path) -> None:
    rows = [{"id": "a", "score": 1.0}, {"score": None, "id": "b"}]
    write_parquet(tmp_path / "rows.parquet", rows)
    frame = pd.read_parquet(tmp_path / "rows.parquet")
    assert frame["id"].tolist() == ["a", "b"]
    assert frame["score"].isna().tolist() == [False, True]


def test_parquet_keeps_the_schema_without_rows(tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.string()), ("score", pa.float64())])
    write_parquet(tmp_path / "rows.parquet", [], schema)
    assert pd.read_parquet(tmp_path / "rows.parquet").columns.tolist() == ["id", "score"]


@pytest.mark.parametrize("row", [{"id": "b"}, {"id": "b", "score": 1.0, "more": 2}])
def test_parquet_drops_no_column_silently(tmp_path: Path, row: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"rows\.parquet: row 1: columns missing or not expected: (score|more)"):
        write_parquet(tmp_path / "rows.parquet", [{"id": "a", "score": 0.0}, row])
    assert list(tmp_path.iterdir()) == []
