"""A whole configuration, made by hand: the run folder does not depend on how one is composed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from judgelab.config.schema import (
    Attention,
    Condition,
    CriterionConfig,
    DecodingConfig,
    Dtype,
    FormatConfig,
    HardwareConfig,
    LoggerConfig,
    LoraConfig,
    MethodConfig,
    ModelConfig,
    Origin,
    PathsConfig,
    TrainerConfig,
    TrainRoot,
)
from judgelab.data.source import DataSource


@pytest.fixture(autouse=True)
def without_login(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No W&B key of the machine reaches a test; `wandb` reads its environment once per process."""
    for name in ("WANDB_API_KEY", "WANDB_MODE", "WANDB_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "no-netrc"))
    yield


@pytest.fixture
def config(tmp_path: Path) -> TrainRoot:
    return TrainRoot(
        name="study",
        question="Does it run?",
        seed=7,
        hardware=HardwareConfig(
            name="cpu",
            scale="laptop",
            accelerator="cpu",
            precision="32-true",
            dtype=Dtype.float32,
            attention=Attention.sdpa,
            micro_batch_size=4,
            engine_batch_size=8,
        ),
        model=ModelConfig("tiny", Origin.tiny, lora=LoraConfig(4, 8, 0.05, ["q_proj"])),
        data=DataSource(name="sample"),
        criterion=CriterionConfig("criminality", "Is it a crime?", [], {0: "no", 1: "yes – 是"}),
        format=FormatConfig("binary", "{query}\n{response}", "label", {"0": 0.0, "1": 1.0}),
        pair_format=FormatConfig("pair", "{first}\n{second}", "label", {"A": 1.0, "B": 0.0}),
        method=MethodConfig("judgelab.training.cpa.CPA", Condition.joint),
        trainer=TrainerConfig(1, 4, 5e-05, 0.01, 0.07, 1.0, 5.0, True, 512),
        decoding=DecodingConfig("greedy", 0.0, max_new_tokens=16),
        logger=LoggerConfig(mode="disabled", group="study"),
        paths=PathsConfig(outputs=str(tmp_path / "outputs")),
    )
