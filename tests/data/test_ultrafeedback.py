import json
from collections import Counter
from pathlib import Path

import pytest

from judgelab.data.ultrafeedback import UltraFeedback
from judgelab.errors import DataError

PUBLIC = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "ultrafeedback"
needs_public = pytest.mark.skipif(not PUBLIC.is_dir(), reason="no shared/data/ultrafeedback beside the repository")


def load(path, seed=42, **settings):
    return UltraFeedback(name="ultrafeedback", path=str(path), **settings).load(seed)


def public_rows(name):
    return [json.loads(line) for line in (PUBLIC / name).read_text("utf-8").split("\n") if line]


@needs_public
def test_texts_scores_and_counts_agree_with_the_public_binarized_file():
    rows = public_rows("ultrafeedback_binarized.jsonl")
    pool = load(PUBLIC / "ultrafeedback_binarized.jsonl")
    expected = {
        (row["prompt"], row[side], row["metadata"][f"score_{side}"]) for row in rows for side in ("chosen", "rejected")
    }
    found = {(p.text, c.text, c.reference) for p in pool.prompts for c in p.candidates}
    blank = sum(not text.strip() for _, text, _ in expected)
    short = sum(len(text) < 20 and bool(text.strip()) for _, text, _ in expected)
    assert found == {each for each in expected if 20 <= len(each[1]) <= 6000 and each[1].strip()}
    assert (pool.counts["dropped_blank_responses"], pool.counts["dropped_short_responses"]) == (blank, short)
    assert len(pool.prompts) + pool.counts["dropped_prompts_without_candidates"] == len(rows)
    assert pool.counts["candidates_without_reference"] == 0


@needs_public
def test_the_better_of_a_binarized_pair_comes_first_about_half_the_time():
    pairs = [p.candidates for p in load(PUBLIC / "ultrafeedback_binarized.jsonl").prompts if len(p.candidates) == 2]
    decided = [first.reference > second.reference for first, second in pairs if first.reference != second.reference]
    assert abs(sum(decided) - len(decided) / 2) < 3 * (len(decided) / 4) ** 0.5


@needs_public
def test_held_out_prompts_leave_the_pool_and_a_folder_reads_both_layouts():
    pool = load(PUBLIC, held_out=30, limit=100)
    assert (len(pool.held_out), len(pool.prompts)) == (30, 100)
    assert not {p.text for p in pool.held_out} & {p.text for p in pool.prompts}
    assert list(pool.inputs) == [str(PUBLIC / f) for f in ("format_example.jsonl", "ultrafeedback_binarized.jsonl")]


@needs_public
def test_the_published_example_has_no_overall_score_and_that_is_counted():
    (row,) = public_rows("format_example.jsonl")
    pool = load(PUBLIC / "format_example.jsonl")
    (prompt,) = pool.prompts
    assert prompt.text == row["instruction"]
    assert [(c.model, c.text, c.reference) for c in prompt.candidates] == [
        (c["model"], c["response"], None) for c in row["completions"]
    ]
    assert pool.counts["candidates_without_reference"] == 1


def completion(model, response, score):
    return {"model": model, "response": response, "overall_score": score, "annotations": {"honesty": {"Rating": "N/A"}}}


def original():
    scores = [8, "7.5", "N/A", 3.0]
    return [
        {
            "source": "made",
            "instruction": f"instruction {n}",
            "completions": [
                completion(f"model-{m}", f"the reply of model {m} to {n}", s) for m, s in enumerate(scores)
            ],
        }
        for n in range(5)
    ]


def binarized():
    return [
        {
            "prompt": f"instruction {n}",
            "chosen": f"the better reply to {n}",
            "rejected": f"the poorer reply to {n}",
            "metadata": {"score_chosen": 8.0, "score_rejected": 2.0},
        }
        for n in range(5)
    ]


def write(folder, rows, name="rows.jsonl"):
    path = folder / name
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_original_rows_keep_their_listing_order_and_texts_of_scores_are_read(tmp_path):
    pool = load(write(tmp_path, original()))
    for prompt in pool.prompts:
        assert [(c.model, c.reference) for c in prompt.candidates] == [
            ("model-0", 8.0),
            ("model-1", 7.5),
            ("model-2", None),
            ("model-3", 3.0),
        ]
    assert pool.counts["candidates_without_reference"] == 5


@pytest.mark.parametrize("rows", [original(), binarized()], ids=["original", "binarized"])
def test_row_order_changes_nothing(tmp_path, rows):
    forward, backward = (load(write(tmp_path, order), held_out=1, limit=3) for order in (rows, rows[::-1]))
    for field in ("prompts", "held_out", "counts"):
        assert getattr(forward, field) == getattr(backward, field)


def test_rows_of_one_instruction_are_one_prompt_and_repeats_are_counted(tmp_path):
    more = original()[0] | {"completions": [completion("model-9", "the reply of one more model", 9)]}
    pool = load(write(tmp_path, [*original(), original()[1], more]))
    assert Counter(len(p.candidates) for p in pool.prompts) == {4: 4, 5: 1}
    assert pool.counts["dropped_duplicate_rows"] == 4


def test_rows_without_completions_are_counted(tmp_path):
    pool = load(write(tmp_path, [*original(), {"instruction": "nobody answered", "completions": []}]))
    assert (len(pool.prompts), pool.counts["dropped_prompts_without_candidates"]) == (5, 1)


def edited(rows, row, **values):
    rows[row - 1] = rows[row - 1] | values
    return rows


BAD = {
    "no instruction": (edited(original(), 2, instruction=" "), "row 2: empty 'instruction'"),
    "completions": (edited(original(), 2, completions=["text"]), "row 2: 'completions' must be a list of objects"),
    "score": (
        edited(original(), 3, completions=[completion("m", "a reply that is long enough", "8/10")]),
        "row 3: 'overall_score' is '8/10', expected a finite number",
    ),
    "response": (
        edited(original(), 3, completions=[completion("m", None, 8)]),
        "row 3: 'response' is None, expected text",
    ),
    "model": (edited(original(), 3, completions=[completion(7, "a reply", 8)]), "row 3: 'model' is 7, expected text"),
    "same text, other score": (
        [*original(), original()[0] | {"completions": [completion("model-0", "the reply of model 0 to 0", 1)]}],
        "row 6: id .* is already that of .*rows.jsonl, row 1, with other content",
    ),
    "columns": ([{"prompt": "p", "chosen": "c"}], "row 1: no column 'metadata'"),
    "metadata": (edited(binarized(), 2, metadata=3), "row 2: 'metadata' must be an object"),
    "binarized score": (
        edited(binarized(), 2, metadata={"score_chosen": "7,5", "score_rejected": 1}),
        "row 2: 'score_chosen' is '7,5', expected a finite number",
    ),
    "missing score": (edited(binarized(), 2, metadata={"score_chosen": 7}), "row 2: no column 'score_rejected'"),
    "chat": (edited(binarized(), 2, chosen=[{"role": "user"}]), "row 2: 'chosen' is .*, expected text"),
}


@pytest.mark.parametrize(("rows", "message"), BAD.values(), ids=BAD)
def test_bad_rows_name_file_and_row(tmp_path, rows, message):
    with pytest.raises(DataError, match=f"rows.jsonl, {message}"):
        load(write(tmp_path, rows))


def test_a_missing_file_says_what_to_set(tmp_path):
    with pytest.raises(DataError, match=r"absent.jsonl: no such file; set data.path=FILE or FOLDER"):
        load(tmp_path / "absent.jsonl")


def test_the_hub_and_a_file_give_the_same_pool(tmp_path, tmp_path_factory, monkeypatch):
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path_factory.mktemp("cache")))
    rows = original()
    for row in rows:  # the hub's column types are one per column
        for each in row["completions"]:
            each["overall_score"] = None if each["overall_score"] == "N/A" else float(each["overall_score"])
    path = write(tmp_path, rows)
    # `datasets` reads a local folder under the name of a hub repository as it reads the hub.
    hub, local = UltraFeedback(name="ultrafeedback", repo=str(tmp_path)).load(42), load(path)
    for field in ("prompts", "held_out", "counts"):
        assert getattr(hub, field) == getattr(local, field)


def test_a_hub_that_does_not_answer_says_what_to_set(monkeypatch):
    datasets = pytest.importorskip("datasets")
    hub = pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(DataError, match=r"nobody/nothing/train: cannot be had from the hub .*; set data.path=FILE or"):
        UltraFeedback(name="ultrafeedback", repo="nobody/nothing").load(42)
