"""The LoRA adapter in training: put on the base model, exported as a PEFT folder with what it was trained with."""

import json
from dataclasses import asdict
from pathlib import Path

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from judgelab.config.schema import LoraConfig as LoraSettings
from judgelab.models.adapter import JUDGE_FILE, JudgeCard
from judgelab.run.randomness import derived_seed


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
