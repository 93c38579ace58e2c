import json
from collections import Counter

import pytest

from judgelab.data.aegis2 import Aegis2
from judgelab.errors import ConfigError, DataError


def row(n, prompt, response, label, **more):
    return {
        "id": f"{n:032x}",
        "reconstruction_id_if_redacted": None,
        "prompt": prompt,
        "response": response,
        "prompt_label": "unsafe",
        "response_label": label,
        "violated_categories": "Criminal Planning/Confessions",
        "prompt_label_source": "human",
        "response_label_source": "llm_jury" if label else None,
    } | more


def train_rows():
    """Twelve prompts with an unsafe reply, eight others with a safe one, and rows to skip."""
    unsafe = [row(n, f"prompt {n}", f"unsafe reply {n}", "unsafe") for n in range(12)]
    safe = [row(20 + n, f"other prompt {n}", f"safe reply {n}", "safe") for n in range(8)]
    prompt_only = [row(40, "prompt alone", None, None), row(41, "no words", "", None)]
    redacted = [row(42, "REDACTED", "a reply", "safe", reconstruction_id_if_redacted=7)]
    return [*unsafe, *safe, *prompt_only, *redacted, row(43, "unlabelled", "a reply", None)]


def refusal_rows():
    return [
        row(n, f"prompt {n}", f"I refuse {n}", "safe", response_label_source="refusal_data_augmentation")
        for n in range(12)
    ]


def test_rows():
    return [row(60 + n, f"test prompt {n}", f"test reply {n}", "unsafe" if n % 3 else "safe") for n in range(9)]


test_rows.__test__ = False


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, "train.json", train_rows())
    write(tmp_path, "refusals_train.json", refusal_rows())
    write(tmp_path, "test.json", test_rows())
    return tmp_path


def write(folder, name, rows):
    (folder / name).write_text(json.dumps(rows, indent=1), encoding="utf-8")


def load(folder, seed=42, **settings):
    settings = {"train_items": 16, "validation_fraction": 0.2} | settings
    return Aegis2(name="aegis2", path=str(folder), **settings).load("criminality", (), seed)


def labels(items):
    return Counter(item.label for item in items)


def test_labels_splits_and_counts(folder):
    pool = load(folder)
    assert (labels(pool.train), labels(pool.validation), labels(pool.test)) == (
        {0: 8, 1: 8},
        {0: 2, 1: 2},
        {0: 3, 1: 3},
    )
    expected = {r["response"]: int(r["response_label"] == "safe") for r in train_rows() + refusal_rows() + test_rows()}
    for item in pool.train + pool.validation + pool.test:
        assert item.label == expected[item.response]
    assert pool.counts == {
        "skipped_without_response": 2,
        "skipped_redacted": 1,
        "skipped_without_label": 1,
        "dropped_duplicate_rows": 0,
        "dropped_exact_duplicates": 0,
        "dropped_conflicting_labels": 0,
        "dropped_from_training_in_test": 0,
        "dropped_for_train_items": 12,
        "dropped_for_balance": 3,
        "dropped_for_limit": 0,
        "natural_pairs": len(pool.train_pairs) + len(pool.validation_pairs),
    }
    assert {item.item_id.split(":")[0] for item in pool.test} == {"test"}
    assert list(pool.inputs) == [str(folder / name) for name in ("train.json", "refusals_train.json", "test.json")]


def test_natural_pairs_set_a_refusal_beside_the_unsafe_reply(folder):
    pool = load(folder)
    assert pool.train_pairs
    for pair in pool.train_pairs:
        number = pair.query.split()[-1]
        assert (pair.satisfying, pair.other) == (f"I refuse {number}", f"unsafe reply {number}")


def test_row_order_changes_nothing(folder):
    before = load(folder)
    write(folder, "train.json", train_rows()[::-1])
    after = load(folder)
    for field in ("train", "validation", "test", "train_pairs", "validation_pairs"):
        assert getattr(before, field) == getattr(after, field)


def test_training_texts_of_the_test_file_leave_training_and_are_counted(folder):
    write(folder, "train.json", [*train_rows(), row(99, "test prompt 1", "test reply 1", "unsafe")])
    pool = load(folder)
    assert pool.counts["dropped_from_training_in_test"] == 1
    assert "test reply 1" not in {item.response for item in pool.train + pool.validation}


def test_the_hub_and_a_folder_give_the_same_pool(folder, tmp_path_factory, monkeypatch):
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path_factory.mktemp("cache")))
    # `datasets` reads a local folder under the name of a hub repository as it reads the hub.
    hub = Aegis2(name="aegis2", repo=str(folder), train_items=16, validation_fraction=0.2).load("criminality", (), 42)
    local = load(folder)
    for field in ("train", "validation", "test", "train_pairs", "validation_pairs", "counts"):
        assert getattr(hub, field) == getattr(local, field)


def test_a_hub_that_does_not_answer_says_what_to_set(monkeypatch):
    datasets = pytest.importorskip("datasets")
    hub = pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(DataError, match=r"nobody/nothing/train.json: cannot be had .*; set data.path=FOLDER"):
        Aegis2(name="aegis2", repo="nobody/nothing").load("criminality", (), 42)


BAD = {
    "label": ([row(1, "p", "r", "Safe")], "row 1: 'response_label' is 'Safe', outside {'safe', 'unsafe'}"),
    "empty prompt": ([row(1, "", "r", "safe")], "row 1: empty 'prompt'"),
    "column": ([{"id": "1", "prompt": "p", "reponse": "r"}], "row 1: no column 'response'; .* is 'reponse'"),
    "duplicate id": (
        [row(1, "p", "r", "safe"), row(1, "p", "s", "safe")],
        "row 2: id .* of .*test.json, row 1",
    ),
}


@pytest.mark.parametrize(("rows", "message"), BAD.values(), ids=BAD)
def test_bad_rows_name_file_and_row(folder, rows, message):
    write(folder, "test.json", rows)
    with pytest.raises(DataError, match=f"test.json, {message}"):
        load(folder)


def test_bad_files_name_the_path(folder):
    (folder / "test.json").write_text("[{", encoding="utf-8")
    with pytest.raises(DataError, match=r"test.json: broken JSON, line 1"):
        load(folder)
    (folder / "test.json").unlink()
    with pytest.raises(DataError, match=r"test.json: no such file; set data.path=FOLDER"):
        load(folder)


def test_a_pool_smaller_than_asked_for_says_what_it_can_give(folder):
    with pytest.raises(DataError, match=r"data.train_items=616, but only \d+ training items .*set data.train_items="):
        load(folder, train_items=616)
    with pytest.raises(ConfigError, match=r"data.train_items=7: expected an even number"):
        load(folder, train_items=7)
