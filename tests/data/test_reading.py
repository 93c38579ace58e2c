import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab.data.reading import csv_table, json_table, jsonl_table, read_bytes
from judgelab.data.rows import Row, distinct
from judgelab.errors import DataError


def values(table):
    return [dict(row.values) for row in table.rows]


def test_jsonl_numbers_rows_by_line_and_skips_blank_lines():
    table = jsonl_table("f.jsonl", b'{"a": 1}\n\n{"a": 2}\r\n')
    assert values(table) == [{"a": 1}, {"a": 2}]
    assert [row.place for row in table.rows] == ["f.jsonl, row 1", "f.jsonl, row 3"]


def test_a_byte_order_mark_is_accepted_and_the_hash_is_of_the_bytes():
    content = b"\xef\xbb\xbfa,b\n1,2\n"
    table = csv_table("f.csv", content)
    assert values(table) == [{"a": "1", "b": "2"}]
    assert table.sha256 == hashlib.sha256(content).hexdigest()


def test_csv_keeps_quotes_line_breaks_and_fields_above_the_csv_modules_limit():
    long = "x" * 200_000
    table = csv_table("f.csv", f'a,b\n"say ""hi"",\nthen go",{long}\n'.encode())
    assert values(table) == [{"a": 'say "hi",\nthen go', "b": long}]


json_texts = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(st.dictionaries(json_texts, json_texts, max_size=3), min_size=1, max_size=5))
def test_json_and_jsonl_return_what_was_written(rows):
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    assert values(jsonl_table("f", lines.encode())) == rows
    assert values(json_table("f", json.dumps(rows).encode())) == rows


@pytest.mark.parametrize(
    ("parse", "content", "message"),
    [
        (jsonl_table, b'{"a": 1}\n{"a": \xff}', r"f, line 2: not UTF-8 at byte offset 15 \(0xff\)"),
        (csv_table, "a\n1".encode("utf-16"), "f, line 1: not UTF-8 at byte offset 0"),
        (jsonl_table, b'{"a": 1}\n{"a": ', "f, row 2: broken JSON"),
        (jsonl_table, b'{"a": 1}\n[1]', "f, row 2: expected a JSON object, found list"),
        (
            jsonl_table,
            b'{"a": 1}\n{"a": 1, "a": 2}',
            "f, row 2: broken JSON: an object has a key twice: .'a'",
        ),
        (jsonl_table, b"[" * 100_000, "f, row 1: broken JSON"),
        (json_table, b'[{"a": 1},\n{"a" 2}]', "f: broken JSON, line 2 column 6"),
        (json_table, b'{"a": 1}', "f: expected a JSON array of objects, found dict"),
        (json_table, b'[{"a": 1}, 3]', "f, row 2: expected a JSON object, found int"),
        (csv_table, b"a,b\n1,2\n3\n", "f, row 2: 1 fields under a header of 2"),
        (csv_table, b"a,b\n1,2\n3,4,5\n", "f, row 2: 3 fields under a header of 2"),
        (csv_table, b'a,b\n1,2\n"3,4\n', "f, row 2: broken CSV"),
        (csv_table, b"a,b,a\n1,2,3\n", "f, header: the column 'a' occurs twice"),
        (csv_table, b"a,b\n", "f: no rows"),
        (csv_table, b"", "f: no rows"),
        (json_table, b"[]", "f: no rows"),
    ],
)
def test_broken_content_names_file_and_row(parse, content, message):
    with pytest.raises(DataError, match=message):
        parse("f", content)


def test_a_file_that_cannot_be_read_names_the_path_and_the_setting(tmp_path):
    with pytest.raises(DataError, match=r"absent.csv: no such file; set data.path=FILE"):
        read_bytes(tmp_path / "absent.csv", "data.path=FILE")
    with pytest.raises(DataError, match=r"cannot be read \(.+\); set data.path=FILE"):
        read_bytes(tmp_path, "data.path=FILE")


def row(number=1, **columns):
    return Row("f", number, columns)


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: row(respons="x").text("response"), "f, row 1: no column 'response'; .* is 'respons'"),
        (lambda: Row("f", 4, {}).text("response"), "f, row 4: no column 'response'; the row is empty"),
        (lambda: row(response=" \n").text("response"), "f, row 1: empty 'response'"),
        (lambda: row(response=None).text("response"), "f, row 1: 'response' is None, expected text"),
        (lambda: row(response="\ud800").text("response"), "f, row 1: 'response' holds half a surrogate pair"),
        (lambda: row(label=2).choice("label", {0: 0, 1: 1}), r"f, row 1: 'label' is 2, outside \{0, 1\}"),
        (lambda: row(label="1").choice("label", {0: 0, 1: 1}), "f, row 1: 'label' is '1', outside"),
        (lambda: row(label=True).choice("label", {0: 0, 1: 1}), "f, row 1: 'label' is True, outside"),
        (lambda: row(label=1.0).choice("label", {0: 0, 1: 1}), "f, row 1: 'label' is 1.0, outside"),
        (lambda: row(label=[1]).choice("label", {0: 0, 1: 1}), r"f, row 1: 'label' is \[1\], outside"),
        (lambda: row(id=1.5).identifier("id"), "f, row 1: 'id' is 1.5, expected text"),
        (lambda: row(id="").identifier("id"), "f, row 1: empty 'id'"),
    ],
)
def test_row_checks_name_file_row_and_column(check, message):
    with pytest.raises(DataError, match=message):
        check()


def test_distinct_drops_and_counts_exact_repeats():
    rows = (row(1, id="a", x=1), row(2, id="b", x=1), row(3, id="a", x=1))
    assert distinct(rows, lambda r: r.identifier("id")) == (rows[:2], 1)


def test_distinct_refuses_an_id_with_other_content_and_names_both_rows():
    with pytest.raises(DataError, match="f, row 2: id 'a' is already that of f, row 1, with other content"):
        distinct((row(1, id="a", x=1), row(2, id="a", x=2)), lambda r: r.identifier("id"))


def test_distinct_refuses_ids_that_differ_only_in_type():
    with pytest.raises(DataError, match="f, row 2: id 1 differs only in type from '1' in f, row 1"):
        distinct((row(1, id="1"), row(2, id=1)), lambda r: r.identifier("id"))
