import json
from pathlib import Path

import pytest

from judgelab.data.hc3 import HC3
from judgelab.errors import DataError

PUBLIC = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "hc3" / "wiki_csai.jsonl"
needs_public = pytest.mark.skipif(not PUBLIC.is_file(), reason="no shared/data/hc3 beside the repository")


def load(path, seed=42, **settings):
    return HC3(name="hc3", path=str(path), **settings).load("ainess", (), seed)


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def small(questions=20):
    return [
        {"question": f"Question {n}?", "human_answers": [f"a{n}", f"b{n}", f"c{n}"], "chatgpt_answers": [f"m{n}"]}
        for n in range(questions)
    ]


@needs_public
def test_items_agree_with_the_public_file():
    pool = load(PUBLIC)
    rows = {row["question"]: row for row in map(json.loads, PUBLIC.read_text("utf-8").splitlines())}
    items = pool.train + pool.validation + pool.test
    assert len(items) == 2 * len(rows)
    for item in items:
        assert item.response in rows[item.query]["human_answers" if item.label else "chatgpt_answers"]


def test_the_seed_draws_among_several_answers_and_a_side_without_one_is_counted(tmp_path):
    rows = small()
    rows[0]["chatgpt_answers"] = []
    path = write(tmp_path / "hc3.jsonl", rows)
    drawn = [
        {item.response for part in (pool.train, pool.test) for item in part} for pool in (load(path, 1), load(path, 2))
    ]
    assert any(text[0] in "abc" and text not in drawn[1] for text in drawn[0])
    pool = load(path)
    assert pool.counts["skipped_without_both_sides"] == 1
    assert len(pool.train + pool.validation + pool.test) == 2 * 19


def test_bad_rows_name_file_and_row(tmp_path):
    rows = small()
    rows[2]["human_answers"] = ["fine", ""]
    with pytest.raises(DataError, match=r"hc3.jsonl, row 3: empty 'human_answers\[1\]'"):
        load(write(tmp_path / "hc3.jsonl", rows))
