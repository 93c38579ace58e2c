"""`decoding=expected` through score.py: every row against a forward pass per verdict, the same again, after a kill."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import torch

from judgelab.config.compose import compose_config, typed
from judgelab.config.schema import ScoreRoot
from judgelab.engines.hf import HFEngine
from judgelab.scoring.requests import Asking, Judge

ROOT = Path(__file__).resolve().parents[1]
WORDS = ["experiment=formats_sample", "debug=tiny", "hardware=cpu", "data.limit=2", "decoding=expected"]


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "score.py"), *WORDS, *words, f"paths.output_dir={folder}"]
    environment = {**os.environ, "WANDB_MODE": "disabled", "HF_HUB_OFFLINE": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("runs") / "expected"
    return folder, _run(folder, "scoring.rescored=5")


def test_every_row_equals_a_forward_pass_per_verdict(
    scored: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder, done = scored
    assert done.returncode == 0, done.stderr
    rows = {row["request_id"]: row for row in pq.read_table(folder / "scores.parquet").to_pylist()}
    config = typed(compose_config("score", WORDS))
    assert isinstance(config, ScoreRoot)
    judge = config.engine.start(config)
    assert isinstance(judge.engine, HFEngine)
    asking = Asking(
        Judge("tiny", judge.identity), config.criterion, judge.renderer, config.decoding, config.scoring.max_length, 42
    )
    prompts = config.data.load(42).prompts
    requests = list(asking.pool(prompts, list(config.formats.values()), config.scoring.schedule, [0]))
    assert {request.request.request_id for request in requests} == set(rows)
    checked = {request.format: request for request in requests}.values()
    for request in checked:
        fmt, row = config.formats[request.format], rows[request.request.request_id]
        shares = {
            verdict: _probability(judge.engine, request.request.prompt_ids, ids)
            for verdict, ids in zip(fmt.verdicts, request.request.verdicts, strict=True)
        }
        mass = sum(shares.values())
        assert json.loads(row["text"]) == pytest.approx(shares, rel=1e-4)
        assert row["mass"] == pytest.approx(mass, rel=1e-4)
        assert row["score"] == pytest.approx(sum(p * fmt.verdicts[v] for v, p in shares.items()) / mass, abs=1e-5)
        assert shares[row["verdict"]] == pytest.approx(max(shares.values()), rel=1e-4)
    assert len(checked) == 5
    assert len(json.loads(next(row for row in rows.values() if row["format"] == "numeric100")["text"])) == 101


def _probability(engine: HFEngine, prompt: tuple[int, ...], verdict: tuple[int, ...]) -> float:
    with torch.no_grad():
        logits = engine.model(torch.tensor([[*prompt, *verdict]])).logits[0, len(prompt) - 1 :].double()
    logs = logits.log_softmax(dim=-1)
    stop = logs[len(verdict), sorted(engine.renderer.stop_ids)].logsumexp(dim=-1)
    return math.exp(sum(float(logs[place, token]) for place, token in enumerate(verdict)) + float(stop))


def test_the_report_shows_the_mass_and_warns(scored: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, done = scored
    rows = pq.read_table(folder / "scores.parquet").to_pylist()
    metrics = json.loads((folder / "metrics.json").read_text())
    for name in ("binary", "numeric100", "tournament"):
        masses = [row["mass"] for row in rows if row["format"] == name]
        assert metrics[f"scoring/{name}/captured_mass"] == pytest.approx(sum(masses) / len(masses))
        assert metrics[f"scoring/{name}/captured_mass_n"] == len(masses)
    assert all(0 < row["mass"] < 0.5 for row in rows), "a random model rarely replies with a verdict"
    assert "captured mass" in done.stdout
    assert "captured only" in (folder / "report.html").read_text()
    assert [metrics[f"scoring/{name}/flip_rate"] for name in ("binary", "likert5")] == [0.0, 0.0]


def test_the_same_command_again_finds_it_done(scored: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, _ = scored
    again = _run(folder, "scoring.rescored=5")
    assert again.returncode == 0
    assert "is done" in again.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["engine=server"], "engine=hf or engine=vllm"),
        (["scoring.repeats=3"], "scoring.repeats=3"),
        (["decoding.max_new_tokens=3"], "decoding.max_new_tokens=3"),
    ],
)
def test_what_cannot_be_asked_is_told(words: list[str], message: str, tmp_path: Path) -> None:
    done = _run(tmp_path / "run", *words)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
