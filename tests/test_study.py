"""CPA on the tiny model: six criteria in three conditions in one multirun, and the tables over it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CRITERIA = ("ainess", "criminality", "safety_leakage", "hallucination", "tool_parameters", "correctness")
CONDITIONS = ("joint", "pointwise", "pairwise")
pytestmark = pytest.mark.study


def run(stage: str, *arguments: str) -> None:
    environment = {**os.environ, "WANDB_MODE": "disabled", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, f"{stage}.py", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("outputs")
    names = ",".join(f"cpa_{criterion}" for criterion in CRITERIA)
    words = [f"experiment={names}", f"method.condition={','.join(CONDITIONS)}", "debug=tiny"]
    run("train", "-m", *words, f"paths.outputs={folder}")
    return folder


def test_the_grid_trains_and_is_tabled(outputs: Path, tmp_path: Path) -> None:
    runs = sorted((outputs / "train").iterdir())
    assert len(runs) == len(CRITERIA) * len(CONDITIONS)
    run(
        "evaluate",
        "experiment=cpa_conditions",
        f"runs=[{','.join(map(str, runs))}]",
        "resamples=200",
        f"paths.output_dir={tmp_path}",
    )
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    for criterion in CRITERIA:
        for condition in CONDITIONS:
            assert metrics[f"conditions/{criterion}/{condition}/n"] == 8
