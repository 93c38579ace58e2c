"""A mistyped key or value fails before anything heavy is imported, and the message names the way out."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from judgelab.config import compose
from judgelab.config.compose import compose_config
from judgelab.config.launch import split_arguments
from judgelab.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]
GIVEN = ["experiment=cpa_criminality", "hardware=cpu"]
TYPOS = {
    "trainer.epoch=3": ["trainer.epoch", "trainer.epochs"],
    "+trainer.epoch=3": ["trainer.epoch", "trainer.epochs"],
    "++trainer.epochz=3": ["trainer.epochz", "trainer.epochs"],
    "++seeed=1": ["seeed", "seed"],
    "seeed=1": ["seeed", "seed"],
    "++data.pathh=x": ["data.pathh", "data.path"],
    "++model.lora.rank=8": ["model.lora.rank", "r"],
    "seed=abc": ["seed=abc", "Integer"],
    "++seed=abc": ["seed=abc", "Integer"],
    "trainer.epochs=two": ["trainer.epochs=two", "Integer"],
    "method.condition=jiont": ["method.condition", "jiont", "joint"],
    "hardware=h10": ["hardware=h10", "h100"],
    "data=do_not_anwser": ["data", "do_not_answer"],
    "modle=tiny": ["modle", "model"],
    "trainer.epochs=0": ["trainer.epochs", "0", "at least 1"],
    "model.lora.dropout=1.5": ["model.lora.dropout", "1.5"],
    "trainer.learning_rate=-1": ["trainer.learning_rate", "-1"],
    "evaluation.runs=3": ["evaluation.runs", "temperature"],
    "logger.mode=onlin": ["logger.mode", "onlin", "online"],
    "model.name=???": ["model.name"],
}


@pytest.mark.parametrize("typed_word", TYPOS)
def test_the_message_names_key_value_and_expectation(typed_word: str) -> None:
    with pytest.raises(ConfigError) as caught:
        compose_config("train", [*GIVEN, typed_word])
    for part in TYPOS[typed_word]:
        assert part in str(caught.value)


def test_a_missing_experiment_is_named() -> None:
    with pytest.raises(ConfigError, match="experiment=NAME"):
        compose_config("train", ["hardware=cpu"])
    with pytest.raises(ConfigError, match="cpa_criminality"):
        compose_config("train", ["hardware=cpu", "experiment=cpa_criminalty"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# @package _global_\ntrainer:\n  epoch: 3\n", ["trainer.epoch", "trainer.epochs"]),
        ("trainer:\n  epochs: 3\n", ["@package _global_"]),
        ("# @package _global_\nseed: abc\n", ["seed", "abc"]),
    ],
    ids=["typo", "lost header", "wrong type"],
)
def test_typos_inside_an_experiment_file(
    text: str, expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conf = tmp_path / "conf"
    shutil.copytree(compose.CONF, conf)
    (conf / "experiment" / "mine.yaml").write_text(text)
    monkeypatch.setattr(compose, "CONF", conf)
    with pytest.raises(ConfigError) as caught:
        compose_config("train", ["hardware=cpu", "experiment=mine"])
    for part in expected:
        assert part in str(caught.value)


def _python(*words: str) -> tuple[subprocess.CompletedProcess[str], float]:
    started = time.monotonic()
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    return done, time.monotonic() - started


@pytest.mark.parametrize(
    "words",
    [["--help"], ["experiment=cpa_criminality", "--cfg", "job"], ["experiment=cpa_criminality", "seeed=1"]],
    ids=["help", "cfg", "typo"],
)
def test_answers_come_without_torch(words: list[str]) -> None:
    done, _ = _python("-X", "importtime", "train.py", *words)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time")}
    assert "hydra" in imported
    assert not imported & {"torch", "transformers", "pytorch_lightning", "wandb", "datasets"}


def test_a_typo_on_the_command_line_ends_in_one_message() -> None:
    done, _ = _python("train.py", "experiment=cpa_criminality", "hardware=cpu", "trainer.epoch=3")
    assert done.returncode == 1
    assert "trainer.epochs" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_multirun_runs_each_job_in_its_own_process_and_goes_on_after_a_failure() -> None:
    done, _ = _python("train.py", "-m", *GIVEN, "debug=tiny", "trainer.epochs=0,-1")
    assert done.returncode == 1
    assert done.stdout.count("job: ") == 2
    assert done.stderr.count("job failed with exit code 1") >= 2
    assert "trainer.epochs" in done.stderr


def test_flags_and_overrides_are_told_apart() -> None:
    flags, overrides = split_arguments(["-m", "experiment=a", "--cfg", "job", "~logger", "+sweep=seeds"])
    assert flags == ["-m", "--cfg", "job"]
    assert overrides == ["experiment=a", "~logger", "+sweep=seeds"]
