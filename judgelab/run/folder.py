"""The run folder: its name, its lock, and files that are either whole or absent."""

import fcntl
import hashlib
import json
import os
import socket
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from judgelab.errors import RunFolderError

NOT_IDENTIFYING = frozenset({"paths", "logger"})
"""Top-level config keys that say where results go, not what they are."""

CONNECTION = frozenset(
    {
        "url",
        "key_variable",
        "concurrency",
        "timeout_s",
        "attempts",
        "max_wait_s",
        "price_per_million_prompt",
        "price_per_million_completion",
    }
)
"""Keys of `engine` that say how a judge is reached and what it costs, not which it is."""

_ABSENT = object()


def config_hash(config: Mapping[str, Any]) -> str:
    """Hex SHA-256 of the canonical JSON of a resolved config, without `paths`, `logger` and how a server is reached."""
    text = json.dumps(_identifying(config), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def changed_keys(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Dotted keys under which the identifying parts of two configs differ."""
    return _differences(_identifying(old), _identifying(new), "")


def _differences(old: Mapping[Any, Any], new: Mapping[Any, Any], prefix: str) -> list[str]:
    keys: list[str] = []
    for key in sorted({*old, *new}, key=str):
        before, after = old.get(key, _ABSENT), new.get(key, _ABSENT)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            keys += _differences(before, after, f"{prefix}{key}.")
        elif before != after:
            keys.append(f"{prefix}{key}")
    return keys


def _identifying(config: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in config.items() if key not in NOT_IDENTIFYING}
    if isinstance(engine := kept.get("engine"), Mapping):
        kept["engine"] = {key: value for key, value in engine.items() if key not in CONNECTION}
    return kept


def run_folder(stage: str, name: str, config_hash: str, outputs: str, output_dir: str | None) -> Path:
    """The folder of a run: `output_dir`, else outputs/<stage>/<name>-<first 8 hex of the config hash>."""
    return Path(output_dir) if output_dir else Path(outputs) / stage / f"{name}-{config_hash[:8]}"


class FolderLock:
    """Exclusive use of a run folder, created if absent; raises RunFolderError at once where another holds it.

    The lock belongs to the open file, so the system frees it with the process, however that dies.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / ".lock"
        self._descriptor: int | None = None

    def __enter__(self) -> "FolderLock":
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise RunFolderError(
                f"{self._path.parent}: cannot be used as a run folder ({error.strerror}); "
                "choose another paths.output_dir"
            ) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(descriptor)
            raise RunFolderError(
                f"{self._path.parent}: in use by {self._holder()}; "
                "wait for it to end, or choose another paths.output_dir"
            ) from error
        os.ftruncate(descriptor, 0)
        os.write(descriptor, json.dumps(_this_process()).encode())
        self._descriptor = descriptor
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            # Explicit, because a forked data worker may still hold a copy of the descriptor.
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            os.close(self._descriptor)
            self._descriptor = None

    def _holder(self) -> str:
        try:
            holder = json.loads(self._path.read_bytes())
        except ValueError:  # the holder has locked the file and not yet signed it
            return "another process"
        return f"process {holder['pid']} on {holder['host']}, started {holder['started']}"


def _this_process() -> dict[str, object]:
    started = datetime.now(UTC).isoformat(timespec="seconds")
    return {"pid": os.getpid(), "host": socket.gethostname(), "started": started}


def write_atomic(path: Path, content: bytes | str) -> None:
    """Replace a file as a whole and durably: a reader, or a crash, sees the old content or the new one."""
    data = content.encode() if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Make a rename durable: the new name is content of the folder, not of the file."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_json(path: Path, value: object) -> None:
    """Write JSON atomically; raises ValueError for NaN and infinity, which JSON does not have."""
    write_atomic(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def write_parquet(path: Path, rows: Sequence[Mapping[str, Any]], schema: pa.Schema | None = None) -> None:
    """Write rows atomically; raises ValueError where a row's columns are not the schema's or first row's.

    Without a schema the types are inferred, and no row means a file without columns.
    """
    columns = set(schema.names) if schema is not None else set(rows[0] if rows else ())
    for index, row in enumerate(rows):
        if odd := sorted(columns.symmetric_difference(row)):
            raise ValueError(f"{path.name}: row {index}: columns missing or not expected: {', '.join(odd)}")
    buffer = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), buffer)
    write_atomic(path, buffer.getvalue().to_pybytes())
