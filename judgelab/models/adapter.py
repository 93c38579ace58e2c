"""A trained adapter on disk: what it must be used with, its identity, and putting it back on its base model."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from peft import PeftModel
from transformers import PreTrainedModel

from judgelab.errors import ConfigError

JUDGE_FILE = "judge.json"


@dataclass(frozen=True)
class JudgeCard:
    """What a judge must be used with to be the judge that was trained."""

    base_model: str
    base_identity: str
    criterion: str
    format: str
    prompt_sha: str
    chat_template_kwargs: dict[str, Any]
    chat_template_sha: str


def load_adapter(model: PreTrainedModel, folder: Path, expected: JudgeCard) -> PeftModel:
    """Put a trained adapter on its base model; ConfigError when it was trained for something else."""
    check_card(folder, expected)
    return PeftModel.from_pretrained(model, str(folder)).eval()


def check_card(folder: Path, expected: JudgeCard) -> None:
    """Compare the recorded judge card with how the judge is about to be used."""
    _compare(folder, asdict(expected))


def check_base(folder: Path, base_identity: str) -> None:
    """Compare the base model that an adapter was trained on with the one it is about to be put on."""
    _compare(folder, {"base_identity": base_identity})


def _compare(folder: Path, expected: Mapping[str, Any]) -> None:
    if not (folder / "adapter_config.json").is_file():
        raise ConfigError(f"adapter={folder}: no adapter_config.json there; give the adapter/ folder of a training run")
    path = folder / JUDGE_FILE
    if not path.is_file():
        raise ConfigError(f"adapter={folder}: {JUDGE_FILE} is missing, so its prompt and base model are unknown")
    recorded = json.loads(path.read_text(encoding="utf-8"))
    for key, value in expected.items():
        if recorded.get(key) != value:
            raise ConfigError(
                f"adapter={folder}: it was trained with {key}={recorded.get(key)!r}, this run has {value!r}; "
                "use the experiment, model and format that it was trained with"
            )


def adapter_identity(folder: Path) -> str:
    """Content hash of an adapter folder's weights and configuration."""
    digest = hashlib.sha256()
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        digest.update((folder / name).read_bytes())
    return digest.hexdigest()[:16]
