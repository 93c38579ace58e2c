"""The low-rank factors of a trained adapter, read from its folder without the base model."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from safetensors.torch import load_file
from torch import Tensor

from judgelab.errors import ConfigError

_PREFIX = "base_model.model."
# Settings under which an adapter's update is anything but (α/r)·B·A, and their plain values.
_PLAIN = {"use_rslora": False, "use_dora": False, "lora_bias": False, "fan_in_fan_out": False}
_EMPTY = ("rank_pattern", "alpha_pattern", "modules_to_save", "target_parameters", "trainable_token_indices")


@dataclass(frozen=True)
class LoraFactors:
    """One projection's adapter: A [r, in] and B [out, r] in float32, and the scaling s = α/r."""

    a: Tensor
    b: Tensor
    scaling: float

    def update(self) -> Tensor:
        """The materialised update ΔW = s·B·A [out, in] (CPA A.1)."""
        return self.scaling * (self.b @ self.a)


def read_factors(folder: Path) -> Mapping[str, LoraFactors]:
    """Factors by the name of the projection in the base model; ConfigError for an adapter that is no plain LoRA."""
    settings = json.loads((folder / "adapter_config.json").read_bytes())
    unusual = [key for key, value in _PLAIN.items() if settings.get(key, value) != value]
    unusual += [key for key in _EMPTY if settings.get(key)]
    if unusual:
        raise ConfigError(f"{folder}: merging takes plain LoRA adapters, and this one sets {', '.join(unusual)}")
    tensors = {
        name.removeprefix(_PREFIX): tensor.float()
        for name, tensor in load_file(folder / "adapter_model.safetensors").items()
    }
    names = sorted({name.rpartition(".lora_")[0] for name in tensors})
    scaling = settings["lora_alpha"] / settings["r"]
    return {
        name: LoraFactors(tensors[f"{name}.lora_A.weight"], tensors[f"{name}.lora_B.weight"], scaling) for name in names
    }
