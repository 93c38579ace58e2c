"""The LoRA adapter: put on the base model, exported as a PEFT folder, read back with what it was trained with."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from judgelab.config.schema import LoraConfig as LoraSettings
from judgelab.errors import ConfigError
from judgelab.run.randomness import derived_seed

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


def attach_lora(model: PreTrainedModel, settings: LoraSettings, name: str, seed: int) -> PeftModel:
    """Put a fresh adapter on a base model; its initial update is zero, its `lora_A` draw is seeded."""
    config = LoraConfig(
        r=settings.r,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=list(settings.target_modules),
        bias="none",
        task_type="CAUSAL_LM",
    )
    with torch.random.fork_rng():
        torch.manual_seed(derived_seed(seed, "lora"))
        adapted = get_peft_model(model, config)
    # PEFT records the path that was loaded from; the hub id is what others can load.
    adapted.peft_config["default"].base_model_name_or_path = name
    return adapted


def export_adapter(
    model: PeftModel, tokenizer: PreTrainedTokenizerBase, folder: Path, card: JudgeCard, readme: str
) -> None:
    """Write the adapter, tokenizer, judge card and model card; PEFT and vLLM load the folder."""
    model.save_pretrained(folder, save_embedding_layers=False)
    tokenizer.save_pretrained(folder)
    (folder / JUDGE_FILE).write_text(json.dumps(asdict(card), indent=2) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(readme, encoding="utf-8")


def load_adapter(model: PreTrainedModel, folder: Path, expected: JudgeCard) -> PeftModel:
    """Put a trained adapter on its base model; ConfigError when it was trained for something else."""
    if not (folder / "adapter_config.json").is_file():
        raise ConfigError(f"adapter={folder}: no adapter_config.json there; give the adapter/ folder of a training run")
    check_card(folder, expected)
    return PeftModel.from_pretrained(model, str(folder)).eval()


def check_card(folder: Path, expected: JudgeCard) -> None:
    """Compare the recorded judge card with how the judge is about to be used."""
    path = folder / JUDGE_FILE
    if not path.is_file():
        raise ConfigError(f"adapter={folder}: {JUDGE_FILE} is missing, so its prompt and base model are unknown")
    recorded = json.loads(path.read_text(encoding="utf-8"))
    for key, value in asdict(expected).items():
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
