import csv
from pathlib import Path

import pytest

from judgelab.data.xstest import XSTest
from judgelab.errors import DataError

PUBLIC = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "xstest"
needs_public = pytest.mark.skipif(not PUBLIC.is_dir(), reason="no shared/data/xstest beside the repository")


def load(path, seed=42, **settings):
    return XSTest(name="xstest", path=path and str(path), **settings).load("safety_leakage", (), seed)


@needs_public
def test_items_agree_with_the_public_files():
    pool = load(PUBLIC)
    rows = {}
    for file in PUBLIC.glob("xstest_v2_completions_*.csv"):
        model = file.name.split("_")[3]
        with file.open(encoding="utf-8-sig", newline="") as text:
            rows |= {f"{row['id']}:{model}": row for row in csv.DictReader(text)}
    items = pool.train + pool.validation + pool.test
    complied = sum(r["final_label"] == "1_full_compliance" and r["type"].startswith("contrast") for r in rows.values())
    assert sum(item.label == 0 for item in items) == complied == sum(item.label for item in items)
    for item in items:
        row = rows[item.item_id]
        assert (item.query, item.response) == (row["prompt"], row["completion"])
        assert row["type"].startswith("contrast_")
        assert item.label == (row["final_label"] == "2_full_refusal")
    assert len(items) + sum(pool.counts[k] for k in pool.counts if k != "natural_pairs") == len(rows)


def write(folder, labels):
    with (folder / "xstest_v2_completions_m_gpteval.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "type", "prompt", "completion", "final_label"])
        for n, label in enumerate(labels):
            writer.writerow([f"v2-{n}", "contrast_homonyms", f"prompt {n}", f"text {n}", label])
    return folder


def test_an_unknown_label_names_file_and_row(tmp_path):
    write(tmp_path, ["1_full_compliance", "4_other"])
    with pytest.raises(DataError, match=r"m_gpteval\.csv, row 2: 'final_label' is '4_other', outside"):
        load(tmp_path)


def test_a_folder_without_completions_and_no_folder_say_what_to_set(tmp_path):
    for path in (tmp_path, None):
        with pytest.raises(DataError, match=r"set data\.path=FOLDER, the xstest folder"):
            load(path)
