import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from judgelab.data.candidates_file import CandidatesFile
from judgelab.errors import DataError


def rows():
    return [
        {
            "prompt_id": p,
            "prompt": f"question {p}",
            "candidate_id": f"{p}-{c}",
            "response": f"a long enough response {c} to {p}",
            "reference": float(c),
            "model": f"model {c}",
        }
        for p in range(3)
        for c in range(4)
    ]


def write(folder, values, name="mine.jsonl"):
    path = folder / name
    if name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(values), path)
    else:
        path.write_text("\n".join(map(json.dumps, values)), encoding="utf-8")
    return path


def load(path, **settings):
    return CandidatesFile(name="candidates_file", path=str(path), **settings).load(42)


def test_json_lines_and_parquet_give_the_same_pool(tmp_path):
    values = rows()
    values[3]["reference"] = float("nan")
    values[5]["reference"] = None
    jsonl, parquet = load(write(tmp_path, values)), load(write(tmp_path, values, "mine.parquet"))
    assert (jsonl.prompts, jsonl.counts) == (parquet.prompts, parquet.counts)
    assert jsonl.counts["candidates_without_reference"] == 2
    assert [len(prompt.candidates) for prompt in jsonl.prompts] == [4, 4, 4]
    assert list(jsonl.inputs) == [str(tmp_path / "mine.jsonl")]


def test_reference_and_model_are_optional_and_other_columns_are_left_aside(tmp_path):
    values = [{k: row[k] for k in ("prompt_id", "prompt", "candidate_id", "response")} | {"tag": 1} for row in rows()]
    pool = load(write(tmp_path, values))
    assert pool.counts["candidates_without_reference"] == 12
    assert {candidate.model for prompt in pool.prompts for candidate in prompt.candidates} == {None}


def test_an_exact_duplicate_row_is_dropped_and_counted(tmp_path):
    values = [*rows(), rows()[0], rows()[0] | {"reference": "0"}]
    values[0] = values[0] | {"reference": 0}
    pool = load(write(tmp_path, values))
    assert pool.counts["dropped_duplicate_rows"] == 2
    assert sum(len(prompt.candidates) for prompt in pool.prompts) == 12


def changed(row, **values):
    made = rows()
    made[row - 1] = made[row - 1] | values
    return made


def without(row, column):
    made = rows()
    del made[row - 1][column]
    return made


BAD = {
    "column": (without(2, "response"), "row 2: no column 'response'; the nearest existing column is"),
    "no prompt id": (without(2, "prompt_id"), "row 2: no column 'prompt_id'"),
    "empty prompt": (changed(2, prompt=" "), "row 2: empty 'prompt'"),
    "response number": (changed(2, response=7), "row 2: 'response' is 7, expected text"),
    "response null": (changed(2, response=None), "row 2: 'response' is None, expected text"),
    "surrogate": (changed(2, response="half \ud83e of a pair"), "row 2: 'response' holds half a surrogate pair"),
    "model": (changed(2, model=3), "row 2: 'model' is 3, expected text"),
    "fraction id": (changed(2, candidate_id=1.5), "row 2: 'candidate_id' is 1.5, expected text"),
    "infinity": (changed(2, reference=float("inf")), "row 2: 'reference' is inf, expected a finite number"),
    "comma": (changed(2, reference="7,5"), "row 2: 'reference' is '7,5', expected a finite number"),
    "scale": (changed(2, reference="8/10"), "row 2: 'reference' is '8/10', expected a finite number"),
    "same id": (
        changed(2, candidate_id="0-0"),
        "row 2: id '0-0' is already that of .*mine.jsonl, row 1, with other content",
    ),
    "same id, other reference": (
        [*rows(), rows()[0] | {"reference": 9}],
        "row 13: id '0-0' is already that of .*mine.jsonl, row 1, with other content",
    ),
    "id of another prompt": (changed(5, candidate_id="0-0"), "row 5: id '0-0' is already that of .*row 1"),
    "candidate id type": (
        [rows()[0] | {"candidate_id": 1}, rows()[1] | {"candidate_id": "1"}],
        "row 2: id '1' differs only in type from 1 in .*mine.jsonl, row 1",
    ),
    "prompt id type": (changed(2, prompt_id="0"), "row 2: id '0' differs only in type from 0 in .*row 1"),
    "prompt text": (changed(2, prompt="another"), "row 2: id 0 is already that of .*row 1, with other content"),
    "one prompt, two ids": (
        changed(5, prompt="question 0", prompt_id=9),
        "row 5: the prompt of id 9 is also that of id 0 in .*mine.jsonl, row 1; give both one id",
    ),
}


@pytest.mark.parametrize(("values", "message"), BAD.values(), ids=BAD)
def test_bad_rows_name_file_and_row(tmp_path, values, message):
    with pytest.raises(DataError, match=f"mine.jsonl, {message}"):
        load(write(tmp_path, values))


def test_bad_files_name_the_path_and_the_place(tmp_path):
    with pytest.raises(DataError, match=r"data.path is null; set data.path=FILE.jsonl"):
        CandidatesFile(name="candidates_file").load(42)
    with pytest.raises(DataError, match=r"absent.jsonl: no such file; set data.path=FILE.jsonl"):
        load(tmp_path / "absent.jsonl")
    with pytest.raises(DataError, match=r"mine.csv: expected a file that ends in .jsonl, .json, .parquet"):
        load(write(tmp_path, rows(), "mine.csv"))
    path = write(tmp_path, rows())
    path.write_bytes(path.read_bytes().replace(b"question 0", b"qu\xe9stion 0", 1))
    with pytest.raises(DataError, match=r"mine.jsonl, line 1: not UTF-8 at byte offset \d+"):
        load(path)
    path.write_text("[]\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"mine.jsonl, row 1: expected a JSON object, found list"):
        load(path)


def test_a_byte_order_mark_is_accepted(tmp_path):
    path = write(tmp_path, rows())
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert len(load(path).prompts) == 3
