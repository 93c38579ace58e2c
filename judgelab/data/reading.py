"""Checked reading of JSON lines, JSON arrays and CSV: bytes become a table, or a DataError says where not."""

import csv
import hashlib
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judgelab.data.rows import Row, Table
from judgelab.errors import DataError

LONGEST_CSV_FIELD = 2**31 - 1  # the csv module refuses fields above 128 KiB unless told otherwise


def read_bytes(path: Path, setting: str) -> bytes:
    """Content of a file; a DataError names the path that cannot be read and the `setting` to change."""
    try:
        return path.expanduser().read_bytes()
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file; set {setting}") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); set {setting}") from error


def jsonl_table(file: str, content: bytes) -> Table:
    """A table of JSON objects, one a line; blank lines are not rows."""
    # Only a line feed ends a row: U+2028 and the like are legal inside a JSON string.
    lines = enumerate(decoded(file, content).split("\n"), start=1)
    rows = [_json_row(file, n, _loads(f"{file}, row {n}", line)) for n, line in lines if line.strip()]
    return _table(file, content, rows)


def json_table(file: str, content: bytes) -> Table:
    """A table from one JSON array of objects."""
    values = _loads(file, decoded(file, content))
    if not isinstance(values, list):
        raise DataError(f"{file}: expected a JSON array of objects, found {type(values).__name__}")
    return _table(file, content, [_json_row(file, n, value) for n, value in enumerate(values, start=1)])


def json_object(file: str, content: bytes) -> dict[str, Any]:
    """The entries of one JSON object, in the order of the file; a key that occurs twice is an error."""
    values = _loads(file, decoded(file, content))
    if not isinstance(values, dict) or not values:
        raise DataError(f"{file}: expected a JSON object with entries, found {type(values).__name__}")
    return values


def csv_table(file: str, content: bytes) -> Table:
    """A table from CSV with a header; a row has as many fields as the header."""
    csv.field_size_limit(LONGEST_CSV_FIELD)
    records: list[list[str]] = []
    try:
        for record in csv.reader(io.StringIO(decoded(file, content), newline=""), strict=True):
            if record:
                records.append(record)
    except csv.Error as error:
        raise DataError(f"{file}, row {max(len(records), 1)}: broken CSV ({error})") from error
    header, *body = records or [[]]
    repeated = sorted({column for column in header if header.count(column) > 1})
    if repeated:
        raise DataError(f"{file}, header: the column {repeated[0]!r} occurs twice")
    return _table(file, content, [_csv_row(file, n, header, record) for n, record in enumerate(body, start=1)])


def decoded(file: str, content: bytes) -> str:
    """UTF-8 text without a byte order mark; DataError names the line and the byte offset that is not UTF-8."""
    try:
        return content.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{file}, line {line}: not UTF-8 at byte offset {error.start} "
            f"(0x{content[error.start]:02x}); save the file as UTF-8"
        ) from error


def _loads(place: str, text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique_keys)
    except json.JSONDecodeError as error:
        raise DataError(f"{place}: broken JSON, line {error.lineno} column {error.colno}: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{place}: broken JSON: {error}") from error


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"an object has a key twice: {sorted(k for k in values if keys.count(k) > 1)}")
    return values


def _json_row(file: str, number: int, value: Any) -> Row:
    if not isinstance(value, dict):
        raise DataError(f"{file}, row {number}: expected a JSON object, found {type(value).__name__}")
    return Row(file, number, value)


def _csv_row(file: str, number: int, header: list[str], record: list[str]) -> Row:
    if len(record) != len(header):
        raise DataError(f"{file}, row {number}: {len(record)} fields under a header of {len(header)}")
    return Row(file, number, dict(zip(header, record, strict=True)))


def _table(file: str, content: bytes, rows: Sequence[Row]) -> Table:
    if not rows:
        raise DataError(f"{file}: no rows")
    return Table(file, hashlib.sha256(content).hexdigest(), tuple(rows))
