"""Every experiment and sweep file composes, resolves and binds to the signatures it names; the paper's values hold."""

import inspect
from pathlib import Path

import pytest
from hydra.utils import get_class, get_method
from omegaconf import OmegaConf

from judgelab.config.compose import CONF, SWEEPS, compose_config, typed
from judgelab.config.schema import Attention, Condition, Origin

EXPERIMENTS = sorted((CONF / "experiment").rglob("*.yaml"))
SWEEP_FILES = sorted((SWEEPS / "sweep").rglob("*.yaml"))
PLACES = ["cpu", "rtx5090", "a100", "h100", "h100x8"]


def test_the_globs_found_the_files() -> None:
    assert [path.stem for path in EXPERIMENTS] == ["cpa_criminality"]
    assert [path.stem for path in SWEEP_FILES] == ["conditions", "cpa_grid", "seeds"]
    assert sorted(path.stem for path in (CONF / "hardware").glob("*.yaml")) == sorted(["auto", *PLACES])


@pytest.mark.parametrize("stage", ["train", "evaluate"])
@pytest.mark.parametrize("debug", ["none", "tiny"])
@pytest.mark.parametrize("hardware", PLACES)
@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_every_experiment_composes_everywhere(path: Path, hardware: str, debug: str, stage: str) -> None:
    config = typed(compose_config(stage, [f"experiment={path.stem}", f"hardware={hardware}", f"debug={debug}"]))
    assert config.name == path.stem
    assert config.hardware.name == hardware
    assert (config.model.origin is Origin.tiny) == (debug == "tiny")


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_targets_exist_and_take_what_they_are_given(path: Path) -> None:
    config = typed(compose_config("train", [f"experiment={path.stem}", "hardware=cpu"]))
    method = get_class(config.method._target_)
    arguments = ("model", "trainer_config", "attention", "micro_batch_size", "seed", "formats")
    inspect.signature(method).bind(**dict.fromkeys(arguments))
    inspect.signature(get_method(f"{config.method._target_}.examples")).bind(None, None, None, None)
    inspect.signature(get_class(config.engine._target_)).bind(None, None, 1)


@pytest.mark.parametrize("path", SWEEP_FILES, ids=lambda path: path.stem)
def test_every_sweep_names_keys_that_exist(path: Path) -> None:
    params = OmegaConf.load(path).hydra.sweeper.params
    assert params
    for key, values in params.items():
        for value in str(values).split(","):
            compose_config("train", ["experiment=cpa_criminality", "hardware=cpu", f"{key}={value}"])


@pytest.mark.parametrize("hardware", ["rtx5090", "a100", "h100", "h100x8"])
def test_the_papers_recipe_on_every_gpu(hardware: str) -> None:
    config = typed(compose_config("train", ["experiment=cpa_criminality", f"hardware={hardware}"]))
    lora, trainer = config.model.lora, config.trainer
    assert config.model.name == "Qwen/Qwen3-8B"
    assert config.model.chat_template_kwargs == {"enable_thinking": False}
    assert (lora.r, lora.alpha, lora.dropout) == (32, 64, 0.05)
    projections = {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}
    assert set(lora.target_modules) == projections
    assert (trainer.epochs, trainer.batch_size, trainer.max_length, trainer.drop_last) == (4, 16, 2048, True)
    assert (trainer.warmup_ratio, trainer.gradient_clip, trainer.neftune_alpha) == (0.07, 1.0, 5.0)
    assert trainer.learning_rate in {1e-3, 5e-4, 1e-4}
    assert trainer.weight_decay in {0.05, 0.1}
    assert config.seed == 42
    assert config.data.name == "aegis2"
    assert config.method.condition is Condition.joint
    assert (config.hardware.precision, config.hardware.gradient_checkpointing) == ("bf16-mixed", True)
    assert config.hardware.attention is Attention.flex
    assert trainer.batch_size % config.hardware.devices == 0


def test_the_command_line_wins_over_hardware_and_debug() -> None:
    words = ["experiment=cpa_criminality", "hardware=h100", "model=smollm2_135m", "debug=tiny", "data.limit=12"]
    config = typed(compose_config("train", words))
    assert config.model.origin is Origin.embedded
    assert config.data.limit == 12
