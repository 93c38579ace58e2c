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


def test_the_experts_are_merged_at_three_weights_saved_and_tabled(outputs: Path, tmp_path: Path) -> None:
    runs = [path for path in (outputs / "train").iterdir() if "correctness" in path.name or "ainess" in path.name]
    run(
        "evaluate",
        "experiment=cpa_merge",
        f"runs=[{','.join(map(str, sorted(runs)))}]",
        "resamples=200",
        "save=true",
        f"paths.output_dir={tmp_path}",
    )
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    for method in ("dare_linear", "linear", "factors"):
        for weight in ("0.25", "0.5", "0.75"):
            assert metrics[f"conditions/correctness/{method} {weight}/n"] == 8
            assert (tmp_path / "merged" / "ainess-42" / f"{method}-{weight}" / "merge.json").is_file()
    assert (tmp_path / "merged" / "ainess-42" / "dare_linear-0.5" / "model.safetensors").is_file()
    # At density 0.9 the mask adds √(1/9) of each update: 1/3 of the merge of orthogonal ones, 1/√18 of equal ones.
    assert 0.22 < metrics["distances/correctness/dare_linear 0.5"] < 0.35
    adapter = tmp_path / "merged" / "correctness-42" / "linear-0.5"
    run("evaluate", "experiment=cpa_correctness", "debug=tiny", f"adapter={adapter}", f"paths.outputs={tmp_path}")


def test_curvatures_are_measured_at_the_experts(outputs: Path, tmp_path: Path) -> None:
    runs = [path for path in (outputs / "train").iterdir() if "criminality" in path.name]
    run(
        "evaluate",
        "experiment=cpa_curvature",
        f"runs=[{','.join(map(str, sorted(runs)))}]",
        "rows=4",
        "hardware=cpu",
        f"paths.output_dir={tmp_path}",
    )
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    seed = "curvature/criminality/seed_42"
    # Lanczos' leading curvature is above that of any other direction.
    for loss in ("pointwise", "pairwise"):
        leading = metrics[f"{seed}/curvature/leading_{loss}/{loss}"]
        assert leading >= 0.9 * max(
            metrics[f"{seed}/curvature/{name}/{loss}"] for name in ("criterion", "gap", "random")
        )
    assert metrics["curvature/criminality/correlation"] is None  # one seed
    assert (tmp_path / "figures" / "bias_criminality.png").is_file()
