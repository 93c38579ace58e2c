"""Tables of a file or folder, read by what the name of the file ends in."""

import hashlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from judgelab.data.reading import json_table, jsonl_table, read_bytes
from judgelab.data.rows import Row, Table
from judgelab.errors import DataError


def parquet_table(file: str, content: bytes) -> Table:
    """A table from a parquet file; DataError where it is broken, not UTF-8, or has a column twice."""
    try:
        read = pq.ParquetFile(pa.BufferReader(content)).read()
        read.validate(full=True)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{file}: broken parquet ({error})") from error
    repeated = sorted({name for name in read.column_names if read.column_names.count(name) > 1})
    if repeated:
        raise DataError(f"{file}: the column {repeated[0]!r} occurs twice")
    if not read.num_rows:
        raise DataError(f"{file}: no rows")
    rows = tuple(Row(file, n, value) for n, value in enumerate(read.to_pylist(), start=1))
    return Table(file, hashlib.sha256(content).hexdigest(), rows)


READERS = {".jsonl": jsonl_table, ".json": json_table, ".parquet": parquet_table}


def file_table(path: str, setting: str) -> Table:
    """The table of a .jsonl, .json or .parquet file; DataError names the `setting` to change."""
    suffix = Path(path).suffix
    if suffix not in READERS:
        raise DataError(f"{path}: expected a file that ends in {', '.join(READERS)}; set {setting}")
    return READERS[suffix](path, read_bytes(Path(path), setting))


def tables(path: str, setting: str) -> tuple[Table, ...]:
    """The table of a file, or those of all such files of a folder in the order of their names."""
    folder = Path(path).expanduser()
    if not folder.is_dir():
        return (file_table(path, setting),)
    names = sorted(entry.name for entry in folder.iterdir() if entry.suffix in READERS)
    if not names:
        raise DataError(f"{path}: the folder holds no {', '.join(READERS)} file; set {setting}")
    return tuple(file_table(str(Path(path) / name), setting) for name in names)
