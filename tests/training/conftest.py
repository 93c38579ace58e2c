"""A tiny judge in training, built from the real composed config."""

import pytest

from judgelab.config.compose import compose_config, typed
from judgelab.config.schema import TrainRoot
from judgelab.judges.rendering import Renderer
from judgelab.models.base import load_base
from judgelab.training.job import TrainingJob


def tiny_config(*overrides: str) -> TrainRoot:
    config = typed(compose_config("train", ["experiment=cpa_criminality", "debug=tiny", "hardware=cpu", *overrides]))
    assert isinstance(config, TrainRoot)
    return config


def tiny_job(config: TrainRoot) -> TrainingJob:
    pool = config.data.load(config.criterion.name, tuple(config.criterion.slots), config.seed)
    base = load_base(config.model, config.hardware, config.seed)
    return TrainingJob.prepare(config, pool, base, Renderer(base.tokenizer, config.model.chat_template_kwargs))


@pytest.fixture
def job() -> TrainingJob:
    return tiny_job(tiny_config())
