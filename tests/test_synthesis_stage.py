"""score.py experiment=cpa_synthesize as a user runs it, then training on what it wrote."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).resolve().parents[1]


def run(stage: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / f"{stage}.py"), *arguments, "hardware=cpu", "debug=tiny"]
    environment = {**os.environ, "WANDB_MODE": "disabled", "HF_HUB_OFFLINE": "1"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("synthesis")
    done = run("score", "experiment=cpa_synthesize", "criterion=correctness", f"paths.output_dir={folder}")
    assert done.returncode == 0, done.stderr
    assert "no counterfactual was accepted" in done.stdout
    return folder


def test_every_item_has_a_row_and_every_try_its_lineage(written: Path) -> None:
    rows = [json.loads(line) for line in (written / "items.jsonl").read_text("utf-8").splitlines()]
    metrics = json.loads((written / "metrics.json").read_text())
    training = [row for row in rows if row["split"] == "train"]
    assert metrics["synthesis/items"] == len(training) > 0
    assert all(row["reference"] for row in rows)
    attempts = pq.read_table(written / "attempts.parquet").to_pylist()
    assert {row["item_id"] for row in attempts} == {row["id"] for row in training}
    assert sum(value for name, value in metrics.items() if name.startswith("synthesis/attempts_")) == len(attempts)
    assert metrics["synthesis/pairs_accepted"] + metrics["synthesis/pairs_dropped"] == len(training)


def test_what_was_written_trains_a_judge(written: Path, tmp_path: Path) -> None:
    # A random model's texts are never accepted, so one accepted pair and its rationales are put in by hand.
    rows = [json.loads(line) for line in (written / "items.jsonl").read_text("utf-8").splitlines()]
    for row in rows:
        if row["split"] == "train":
            row |= {"counterfactual": f"not {row['response']}", "pair_rationales": ["A is right.", "B is right."]}
    path = tmp_path / "items.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    done = run("train", "experiment=cpa_correctness", f"data.path={path}", f"paths.output_dir={tmp_path / 'run'}")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "run" / "metrics.json").read_text())["evaluation/after/n"] == 8
