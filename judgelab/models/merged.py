"""A merged judge: its update on the base weights for a while, or saved as a checkpoint or an adapter."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig
from safetensors.torch import save_file
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from judgelab.models.adapter import JUDGE_FILE, JudgeCard
from judgelab.models.lora_factors import LoraFactors

LINEAGE_FILE = "merge.json"
Update = Callable[[str], Tensor]


@contextmanager
def with_update(model: PreTrainedModel, names: Sequence[str], update: Update) -> Iterator[PreTrainedModel]:
    """The model with W + ΔW in the named projections; the very same W is back at the end.

    The sum is taken in float32 and rounded once to the dtype of the weights. ΔW is [out, in].
    """
    before: dict[str, Tensor] = {}
    try:
        for name in names:
            weight = model.get_submodule(name).weight
            before[name] = weight.detach().to("cpu", copy=True)
            with torch.no_grad():
                weight.copy_(weight.float() + update(name).to(weight.device))
        yield model
    finally:
        for name, original in before.items():
            with torch.no_grad():
                model.get_submodule(name).weight.copy_(original)


def save_checkpoint(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    folder: Path,
    card: JudgeCard,
    lineage: Mapping[str, Any],
) -> None:
    """Write a model as it stands, with tokenizer, judge card and what it was merged from; `hf` and `vllm` load it."""
    model.save_pretrained(folder)
    _save_beside(tokenizer, folder, card, lineage)


def save_adapter(
    factors: Mapping[str, LoraFactors],
    tokenizer: PreTrainedTokenizerBase,
    folder: Path,
    card: JudgeCard,
    lineage: Mapping[str, Any],
) -> None:
    """Write factors of one rank and scaling as a PEFT adapter folder."""
    first = next(iter(factors.values()))
    rank = len(first.a)
    settings = LoraConfig(
        r=rank,
        lora_alpha=round(first.scaling * rank),
        target_modules=sorted({name.rpartition(".")[2] for name in factors}),
        bias="none",
        task_type="CAUSAL_LM",
        base_model_name_or_path=card.base_model,
        inference_mode=True,
    )
    folder.mkdir(parents=True, exist_ok=True)
    settings.save_pretrained(folder)
    tensors = {}
    for name, each in factors.items():
        tensors[f"base_model.model.{name}.lora_A.weight"] = each.a.contiguous()
        tensors[f"base_model.model.{name}.lora_B.weight"] = each.b.contiguous()
    save_file(tensors, folder / "adapter_model.safetensors", metadata={"format": "pt"})
    _save_beside(tokenizer, folder, card, lineage)


def _save_beside(tokenizer: PreTrainedTokenizerBase, folder: Path, card: JudgeCard, lineage: Mapping[str, Any]) -> None:
    tokenizer.save_pretrained(folder)
    (folder / JUDGE_FILE).write_text(json.dumps(asdict(card), indent=2) + "\n", encoding="utf-8")
    (folder / LINEAGE_FILE).write_text(json.dumps(lineage, indent=2) + "\n", encoding="utf-8")
