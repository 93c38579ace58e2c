"""Tracking is offline where no key is set, closed with the run's exit code, and absent where it is disabled."""

import subprocess
import sys
from pathlib import Path

import pytest

from judgelab.config.schema import LoggerConfig
from judgelab.errors import ConfigError
from judgelab.run.tracking import WandbTracker, start_tracking


@pytest.fixture(autouse=True)
def without_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("WANDB_API_KEY", "WANDB_MODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))


def _start(folder: Path, mode: str):
    logger = LoggerConfig(mode=mode, group="cpa_criminality", tags=["tiny"])
    return start_tracking(logger, folder, "train", "cpa_criminality", {"seed": 1})


@pytest.mark.parametrize("exit_code", [0, 1])
def test_without_a_key_a_run_is_kept_offline(tmp_path: Path, exit_code: int) -> None:
    tracker = _start(tmp_path, "auto")
    assert isinstance(tracker, WandbTracker)
    run = tracker._run
    assert (run.settings.mode, run.group, run.job_type, run.project) == (
        "offline",
        "cpa_criminality",
        "train",
        "judgelab",
    )
    tracker.log({"train/loss": 1.5}, step=1)
    tracker.table("verdict samples", ["judge", "reply"], [["after", '{"score": 1}']])
    tracker.summary({"evaluation/after/n": 48, "undefined": None})
    tracker.finish(exit_code)
    assert list((tmp_path / "wandb").glob("offline-run-*/run-*.wandb"))


def test_two_attempts_offline_do_not_share_an_id(tmp_path: Path) -> None:
    ids = []
    for _ in range(2):
        tracker = _start(tmp_path, "offline")
        ids.append(tracker._run.id)
        tracker.finish(0)
    assert ids[0] != ids[1]


def test_an_unknown_mode_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="online"):
        _start(tmp_path, "onlin")


def test_disabled_imports_no_wandb() -> None:
    code = (
        "import sys; from pathlib import Path; from judgelab.config.schema import LoggerConfig\n"
        "from judgelab.run.tracking import start_tracking\n"
        "tracker = start_tracking(LoggerConfig(mode='disabled', group='g'), Path('.'), 'train', 'n', {})\n"
        "tracker.log({'a': 1.0}, 1); tracker.finish(0)\n"
        "sys.exit('wandb' in sys.modules)"
    )
    root = Path(__file__).resolve().parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0
