"""Fitting: checkpoints hold the adapter only, and a killed run resumes to the same losses."""

from pathlib import Path

import pytest
import torch

from judgelab.training.callbacks import latest_checkpoint
from tests.training.conftest import tiny_config, tiny_job

SETTINGS = (
    "trainer.epochs=3",
    "trainer.neftune_alpha=5",
    "model.lora.dropout=0.1",
    "trainer.learning_rate=1e-2",
)


def _fit(folder: Path, *overrides: str) -> list[dict[str, float]]:
    return tiny_job(tiny_config(*SETTINGS, *overrides)).fit(folder, lambda metrics, step: None)


def test_a_killed_run_resumes_to_the_same_losses(tmp_path: Path) -> None:
    whole = _fit(tmp_path / "whole")
    killed = tmp_path / "killed"
    _fit(killed)
    for path in list(killed.glob("epoch-00[23].ckpt")):
        path.unlink()
    (killed / "epoch-002.part").write_bytes(b"torn")
    resumed = _fit(killed)
    # Sums of a busy machine may be split over fewer threads, so that the last bits differ; draws may not.
    assert [row.keys() for row in resumed] == [row.keys() for row in whole]
    for row, expected in zip(resumed, whole, strict=True):
        assert row == pytest.approx(expected, rel=1e-4, abs=1e-6)
    for name in ("epoch-001.ckpt", "epoch-003.ckpt"):
        states = [torch.load(tmp_path / run / name, weights_only=True)["state_dict"] for run in ("whole", "killed")]
        assert all(torch.allclose(states[0][k], states[1][k], rtol=1e-3, atol=1e-5) for k in states[0])


def test_training_lowers_the_loss_and_logs_every_step(tmp_path: Path) -> None:
    rows = _fit(tmp_path, "trainer.epochs=6", "trainer.neftune_alpha=0")
    steps = [row for row in rows if "train/loss" in row]
    epochs = [row for row in rows if "validation/loss" in row]
    assert [row["step"] for row in steps] == list(range(1, len(steps) + 1))
    assert [row["epoch"] for row in epochs] == [1, 2, 3, 4, 5, 6]
    assert epochs[-1]["validation/loss"] < epochs[0]["validation/loss"]
    assert {"validation/pointwise_loss", "validation/pairwise_verdict_accuracy"} <= set(epochs[0])


def test_the_schedule_warms_up_and_ends_at_zero(tmp_path: Path) -> None:
    rates = [row["train/learning_rate"] for row in _fit(tmp_path, "trainer.warmup_ratio=0.25") if "train/loss" in row]
    warmup = -(-len(rates) // 4)
    assert rates[0] == 0
    assert max(rates) == pytest.approx(1e-2) == rates[warmup]
    assert 0 < rates[-1] < 1e-2 / 5
    assert rates[warmup:] == sorted(rates[warmup:], reverse=True)


def test_checkpoints_hold_the_adapter_only_and_all_are_kept(tmp_path: Path) -> None:
    _fit(tmp_path)
    assert [path.name for path in sorted(tmp_path.iterdir())] == [f"epoch-00{n}.ckpt" for n in (1, 2, 3)]
    state = torch.load(latest_checkpoint(tmp_path), weights_only=True)["state_dict"]
    assert state
    assert all("lora_" in name for name in state)


def test_a_checkpoint_of_another_adapter_is_refused(tmp_path: Path) -> None:
    _fit(tmp_path, "trainer.epochs=1")
    with pytest.raises(RuntimeError, match="does not fit"):
        _fit(tmp_path, "model.lora.target_modules=[q_proj]")
