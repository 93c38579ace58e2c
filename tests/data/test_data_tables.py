import hashlib
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from judgelab.data.tables import file_table, tables
from judgelab.errors import DataError

ROWS = [{"id": 1, "text": "one\u2028line", "score": 2.5}, {"id": 2, "text": "🦜", "score": None}]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "b.jsonl").write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    (tmp_path / "a.json").write_text(json.dumps(ROWS), encoding="utf-8")
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "c.parquet")
    (tmp_path / "README.md").write_text("not data", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", ["b.jsonl", "a.json", "c.parquet"])
def test_the_same_rows_come_from_every_kind_of_file(folder, name):
    path = folder / name
    table = file_table(str(path), "data.path=FILE")
    assert [dict(row.values) for row in table.rows] == ROWS
    assert [row.place for row in table.rows] == [f"{path}, row 1", f"{path}, row 2"]
    assert table.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_folder_gives_its_data_files_in_the_order_of_their_names(folder):
    names = [table.file.rpartition("/")[2] for table in tables(str(folder), "data.path=FILE")]
    assert names == ["a.json", "b.jsonl", "c.parquet"]
    assert [table.file for table in tables(str(folder / "a.json"), "data.path=FILE")] == [str(folder / "a.json")]


def test_what_cannot_be_read_names_the_path_and_what_to_set(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"empty: the folder holds no .jsonl, .json, .parquet file; set data.path=FILE"):
        tables(str(tmp_path / "empty"), "data.path=FILE")
    with pytest.raises(DataError, match=r"rows.csv: expected a file that ends in .jsonl.*; set data.path=FILE"):
        tables(str(tmp_path / "rows.csv"), "data.path=FILE")
    with pytest.raises(DataError, match=r"absent.parquet: no such file; set data.path=FILE"):
        tables(str(tmp_path / "absent.parquet"), "data.path=FILE")


def parquet(path, table):
    pq.write_table(table, path)
    return str(path)


def test_bad_parquet_names_the_file(tmp_path):
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1 and then nothing")
    with pytest.raises(DataError, match=r"x.parquet: broken parquet"):
        file_table(str(path), "data.path=FILE")
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["id", "id"])
    with pytest.raises(DataError, match=r"x.parquet: the column 'id' occurs twice"):
        file_table(parquet(path, twice), "data.path=FILE")
    with pytest.raises(DataError, match=r"x.parquet: no rows"):
        file_table(parquet(path, pa.table({"id": pa.array([], pa.int64())})), "data.path=FILE")
    latin = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.array([0, 1], pa.int32()).buffers()[1], pa.py_buffer(b"\xe9")]
    )
    with pytest.raises(DataError, match=r"x.parquet: broken parquet .*UTF8"):
        file_table(parquet(path, pa.table({"text": latin})), "data.path=FILE")
