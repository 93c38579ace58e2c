"""Loading a judge's base model and tokenizer, with an identity by content."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    BitsAndBytesConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from judgelab.config.schema import Attention, HardwareConfig, ModelConfig, Origin, Quantization
from judgelab.errors import ConfigError
from judgelab.models.attention import GROUPED_HEADS
from judgelab.models.embedded import embedded_folder, hub_is_reachable
from judgelab.models.tiny import tiny_model, tiny_tokenizer
from judgelab.run.manifest import sha256_file
from judgelab.run.randomness import derived_seed


@dataclass(frozen=True)
class BaseModel:
    """A base model in evaluation mode; `identity` is a hub revision or a content hash, never a path."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    identity: str


def load_base(config: ModelConfig, hardware: HardwareConfig, seed: int) -> BaseModel:
    """Load the base model that the configuration names; raises ConfigError where it cannot be had."""
    if config.origin is Origin.tiny:
        tiny = _placed(tiny_model(derived_seed(seed, "tiny model")), hardware)
        return BaseModel(tiny, tiny_tokenizer(), f"tiny-{seed}")
    name = model_folder(config)
    options: dict[str, Any] = {"trust_remote_code": False, "revision": config.revision}
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, **options)
        model = AutoModelForCausalLM.from_pretrained(name, **options, **_layout(hardware))
    except OSError as error:
        raise ConfigError(
            f"model.name={config.name}: the model could not be loaded ({str(error).splitlines()[0]}); "
            "check the name, the network and HF_HOME, set model.name to a local folder, "
            "or use model=smollm2_135m, which needs no hub"
        ) from error
    return BaseModel(_placed(model.eval(), hardware), tokenizer, weights_identity(config, name))


def _placed(model: PreTrainedModel, hardware: HardwareConfig) -> PreTrainedModel:
    if hardware.accelerator == "cpu" and hardware.attention is Attention.sdpa:
        model.set_attn_implementation(GROUPED_HEADS)
    return model


def model_folder(config: ModelConfig) -> str:
    """What loaders are given: the hub id or local folder of the configuration, or that of the embedded model."""
    if config.origin is Origin.embedded and not hub_is_reachable():
        return str(embedded_folder())
    return config.name


def weights_identity(config: ModelConfig, folder: str) -> str:
    """A model by content: the commit of what came from a hub, the hash of the weights of a local folder."""
    commit = getattr(AutoConfig.from_pretrained(folder, revision=config.revision), "_commit_hash", None)
    return f"{config.name}@{commit or _weights_hash(Path(folder))}"


def check_context(name: str, positions: int, max_length: int) -> None:
    """Raise ConfigError where a judge's context is shorter than what it is to read and write."""
    if max_length > positions:
        raise ConfigError(
            f"scoring.max_length={max_length}: model.name={name} has a context of {positions} tokens; "
            f"set scoring.max_length={positions} (longer responses are then cut and counted), or choose another judge"
        )


def _layout(hardware: HardwareConfig) -> dict[str, Any]:
    """How weights are stored and attention is computed on this hardware."""
    dtype = getattr(torch, hardware.dtype.value)
    layout: dict[str, Any] = {"dtype": dtype, "attn_implementation": hardware.attention.value}
    if hardware.quantization is Quantization.nf4:
        layout["quantization_config"] = BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_compute_dtype=dtype,
            bnb_4bit_use_double_quant=True,
        )
    return layout


def _weights_hash(folder: Path) -> str:
    digest = hashlib.sha256()
    for file in sorted(folder.glob("*.safetensors")):
        digest.update(sha256_file(file).encode())
    return digest.hexdigest()[:16]
