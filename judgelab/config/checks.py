"""What a composed configuration must hold beyond its types: known keys, no gaps, values in range."""

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from judgelab.config.explain import explained, unknown_key
from judgelab.config.schema import Answer, Comparison, ScoreRoot, TrainRoot
from judgelab.engines.server_config import ServerConfig
from judgelab.errors import ConfigError


def checked(config: DictConfig, overrides: Sequence[str]) -> DictConfig:
    """A resolved copy of a configuration that passed every check; ConfigError otherwise."""
    for key, owner in _unknown_keys(config):
        raise unknown_key(key, owner, overrides)
    resolved = config.copy()
    try:
        OmegaConf.resolve(resolved)
    except OmegaConfBaseException as error:
        raise explained(error, overrides) from error
    missing = sorted(OmegaConf.missing_keys(resolved))
    if missing:
        raise ConfigError(_no_value(missing))
    _check_ranges(resolved)
    return resolved


def _unknown_keys(node: DictConfig, prefix: str = "") -> Iterator[tuple[str, type]]:
    """Keys that a structured node has and its dataclass lacks: what `+` and `++` added."""
    owner = OmegaConf.get_type(node)
    if not dataclasses.is_dataclass(owner):
        return
    known = {field.name for field in dataclasses.fields(owner)}
    for key in map(str, node):
        if key not in known:
            yield f"{prefix}{key}", owner
        child = node._get_node(key)
        if isinstance(child, DictConfig) and not (child._is_missing() or child._is_none()):
            yield from _unknown_keys(child, f"{prefix}{key}.")


def _no_value(missing: list[str]) -> str:
    if "name" in missing:
        return "name has no value: choose an experiment, experiment=NAME (--help lists them)"
    groups = sorted({key.partition(".")[0] for key in missing})
    return f"no value (???) for {', '.join(missing)}: set each, or choose an option of {', '.join(groups)}"


_Rule = tuple[Callable[[Any], bool], str]
_COUNT: _Rule = (lambda value: value >= 1, "an integer of at least 1")
_POSITIVE: _Rule = (lambda value: 0 < value < math.inf, "a number above 0")
_NOT_NEGATIVE: _Rule = (lambda value: 0 <= value < math.inf, "a number of at least 0")
_BELOW_ONE: _Rule = (lambda value: 0 <= value < 1, "at least 0 and below 1")
_FRACTION: _Rule = (lambda value: 0 < value < 1, "a fraction between 0 and 1, both excluded")
_PROBABILITY: _Rule = (lambda value: 0 < value <= 1, "above 0 and at most 1")


def _one_of(*allowed: str) -> _Rule:
    return lambda value: value in allowed, f"one of {', '.join(allowed)}"


_RULES: dict[str, _Rule] = {
    "hardware.scale": _one_of("paper", "laptop"),
    "hardware.devices": _COUNT,
    "hardware.micro_batch_size": _COUNT,
    "hardware.engine_batch_size": _COUNT,
    "model.lora.dropout": _BELOW_ONE,
    "data.limit": _COUNT,
    "data.test_fraction": _FRACTION,
    "data.validation_fraction": _FRACTION,
    "trainer.epochs": _COUNT,
    "trainer.batch_size": _COUNT,
    "trainer.learning_rate": _POSITIVE,
    "trainer.weight_decay": _NOT_NEGATIVE,
    "trainer.warmup_ratio": _BELOW_ONE,
    "trainer.gradient_clip": _POSITIVE,
    "trainer.neftune_alpha": _NOT_NEGATIVE,
    "trainer.max_length": _COUNT,
    "decoding.temperature": _NOT_NEGATIVE,
    "decoding.top_p": _PROBABILITY,
    "decoding.max_new_tokens": _COUNT,
    "evaluation.runs": _COUNT,
    "data.min_characters": _NOT_NEGATIVE,
    "data.max_characters": _COUNT,
    "data.held_out": _NOT_NEGATIVE,
    "engine.concurrency": _COUNT,
    "engine.attempts": _COUNT,
    "engine.timeout_s": _POSITIVE,
    "engine.max_wait_s": _NOT_NEGATIVE,
    "engine.price_per_million_prompt": _NOT_NEGATIVE,
    "engine.price_per_million_completion": _NOT_NEGATIVE,
    "scoring.repeats": _COUNT,
    "scoring.rescored": _NOT_NEGATIVE,
    "scoring.max_length": _COUNT,
    "diagnostics.alphas": (lambda alphas: all(alpha >= 0 for alpha in alphas), "a list of numbers of at least 0"),
    "diagnostics.draws": _COUNT,
    "resamples": _COUNT,
    "repeats": _COUNT,
    "rows": _COUNT,
    "random_directions": _COUNT,
    "tolerance": _FRACTION,
    "much": (lambda value: 1 < value < math.inf, "a number above 1"),
    "density": _PROBABILITY,
    "methods": (lambda methods: len(methods) > 0, "at least one of dare_linear, linear, factors"),
    "lambdas": (
        lambda weights: len(weights) > 0 and all(0 <= weight <= 1 for weight in weights),
        "at least one share from 0 to 1",
    ),
    "logger.mode": _one_of("auto", "online", "offline", "disabled"),
    "logger.sample_rows": _NOT_NEGATIVE,
}


# No adapter is put on a judge that only scores, and none can be on a hosted one.
_TRAINED_RULES = {"model.lora.r": _COUNT, "model.lora.alpha": _COUNT}


def _check_ranges(config: DictConfig) -> None:
    root = OmegaConf.get_type(config) or object
    for key, (holds, expected) in (_RULES | (_TRAINED_RULES if issubclass(root, TrainRoot) else {})).items():
        value = OmegaConf.select(config, key)
        if value is not None and not holds(value):
            raise ConfigError(f"{key}={value}: expected {expected}")
    if issubclass(root, TrainRoot):
        held_out = config.data.test_fraction + config.data.validation_fraction
        if held_out >= 1:
            raise ConfigError(f"data.test_fraction + data.validation_fraction = {held_out}: leave rows to train on")
        if config.decoding.answer is Answer.expected:
            raise ConfigError(
                "decoding=expected reads bare verdicts, which score.py asks for; here a reason comes first"
            )
        _check_repeats("evaluation.runs", config.evaluation.runs, config.decoding)
    if issubclass(root, ScoreRoot):
        if not config.formats:
            raise ConfigError("formats is empty: name at least one, such as +format@formats.likert5=likert5")
        for key, fmt in config.formats.items():
            _check_mirrored(f"formats.{key}", fmt)
        _check_repeats("scoring.repeats", config.scoring.repeats, config.decoding)
        if config.decoding.answer is Answer.expected:
            _check_expected(config)


def _check_mirrored(key: str, fmt: DictConfig) -> None:
    """A response's share of a comparison is s in slot A and 1 − s in slot B, so the scores must come in such pairs."""
    scores = sorted(fmt.verdicts.values())
    mirrored = all(math.isclose(low + high, 1) for low, high in zip(scores, reversed(scores), strict=True))
    if fmt.comparison is not Comparison.none and not mirrored:
        raise ConfigError(
            f"{key}.verdicts={dict(fmt.verdicts)}: comparisons must mirror, 1 − s for every s; mend the format"
        )


def _check_expected(config: DictConfig) -> None:
    for key in ("temperature", "top_p"):
        if config.decoding[key] != 1:
            raise ConfigError(
                f"decoding.{key}={config.decoding[key]}: decoding=expected reads the judge's own probabilities; "
                "leave it at 1, or use decoding=sampled"
            )
    if issubclass(OmegaConf.get_type(config.engine) or object, ServerConfig):
        raise ConfigError(
            "engine=server: a server does not give the probability of every verdict, which decoding=expected needs; "
            "use engine=hf or engine=vllm, or decoding=sampled scoring.repeats=10"
        )


def _check_repeats(key: str, repeats: int, decoding: DictConfig) -> None:
    if repeats > 1 and decoding.answer is Answer.expected:
        raise ConfigError(f"{key}={repeats} repeats the same probabilities: add decoding=sampled, or set {key}=1")
    if repeats > 1 and decoding.temperature == 0:
        raise ConfigError(
            f"{key}={repeats} repeats the same reply at decoding.temperature=0: add decoding=sampled, or set {key}=1"
        )
