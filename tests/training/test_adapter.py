"""An exported adapter loads with PEFT alone, gives the same logits, and is refused where it does not belong."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from peft import PeftModel

from judgelab.config.schema import LoraConfig
from judgelab.errors import ConfigError
from judgelab.models.adapter import JudgeCard, adapter_identity, load_adapter
from judgelab.models.tiny import tiny_model, tiny_tokenizer
from judgelab.training.adapter import attach_lora, export_adapter

CARD = JudgeCard("org/base", "org/base@abc", "criminality", "pointwise", "f" * 64, {"enable_thinking": False}, "e" * 64)
LORA = LoraConfig(r=4, alpha=8, dropout=0.0, target_modules=["q_proj", "down_proj"])


@pytest.fixture
def trained(tmp_path: Path) -> tuple[PeftModel, Path]:
    model = attach_lora(tiny_model(1), LORA, "org/base", seed=5)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter.normal_(generator=torch.Generator().manual_seed(0))
    export_adapter(model, tiny_tokenizer(), tmp_path / "adapter", CARD, "# card\n")
    return model.eval(), tmp_path / "adapter"


def test_peft_alone_loads_the_same_judge(trained: tuple[PeftModel, Path]) -> None:
    model, folder = trained
    ids = torch.arange(20)[None]
    loaded = PeftModel.from_pretrained(tiny_model(1), str(folder)).eval()
    assert torch.equal(loaded(ids).logits, model(ids).logits)
    assert not torch.allclose(loaded(ids).logits, tiny_model(1)(ids).logits)


def test_the_folder_names_the_hub_id_and_carries_tokenizer_and_cards(trained: tuple[PeftModel, Path]) -> None:
    _, folder = trained
    assert json.loads((folder / "adapter_config.json").read_text())["base_model_name_or_path"] == "org/base"
    names = {path.name for path in folder.iterdir()}
    assert {
        "README.md",
        "judge.json",
        "adapter_model.safetensors",
        "tokenizer.json",
        "chat_template.jinja",
    } <= names


def test_a_fresh_adapter_changes_nothing_and_is_seeded() -> None:
    ids = torch.arange(20)[None]
    adapted = attach_lora(tiny_model(1), LORA, "org/base", seed=5)
    assert torch.equal(adapted.eval()(ids).logits, tiny_model(1)(ids).logits)
    again, other = (attach_lora(tiny_model(1), LORA, "org/base", seed=s) for s in (5, 6))
    draws = [next(p for n, p in m.named_parameters() if "lora_A" in n) for m in (adapted, again, other)]
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"chat_template_kwargs": {"enable_thinking": True}}, "chat_template_kwargs"),
        ({"base_identity": "org/base@def"}, "base_identity"),
        ({"criterion": "ainess"}, "criterion"),
        ({"prompt_sha": "0" * 64}, "prompt_sha"),
    ],
)
def test_another_use_is_refused(trained: tuple[PeftModel, Path], change: dict, named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        load_adapter(tiny_model(1), trained[1], replace(CARD, **change))


def test_a_folder_without_adapter_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"adapter_config\.json"):
        load_adapter(tiny_model(1), tmp_path, CARD)


def test_identity_follows_the_weights(trained: tuple[PeftModel, Path], tmp_path: Path) -> None:
    model, folder = trained
    before = adapter_identity(folder)
    with torch.no_grad():
        next(p for n, p in model.named_parameters() if "lora_B" in n).add_(1)
    export_adapter(model, tiny_tokenizer(), folder, CARD, "# card\n")
    assert adapter_identity(folder) != before
