"""A merged judge on the weights and on disk: equal logits everywhere, and the base model left as it was."""

import json
from pathlib import Path

import pytest
import torch
from peft import PeftModel
from torch import Tensor
from transformers import AutoModelForCausalLM, LlamaForCausalLM

from judgelab.config.schema import LoraConfig, Rescale
from judgelab.models.adapter import JudgeCard, check_card
from judgelab.models.lora_factors import read_factors
from judgelab.models.merged import save_adapter, save_checkpoint, with_update
from judgelab.models.merging import Experts, dare_linear, linear_factors
from judgelab.models.tiny import tiny_model, tiny_tokenizer
from judgelab.training.adapter import attach_lora, export_adapter

CARD = JudgeCard("org/base", "org/base@abc", "criminality", "pointwise", "f" * 64, {}, "e" * 64)
LORA = LoraConfig(r=4, alpha=8, dropout=0.0, target_modules=["q_proj", "down_proj"])
IDS = torch.arange(20)[None]


def saved_expert(folder: Path, seed: int) -> Path:
    model = attach_lora(tiny_model(1), LORA, "org/base", seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter.normal_(std=0.3, generator=torch.Generator().manual_seed(seed))
    export_adapter(model, tiny_tokenizer(), folder, CARD, "# card\n")
    return folder


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    return [saved_expert(tmp_path / f"expert-{seed}", seed) for seed in (5, 6)]


@pytest.fixture
def experts(folders: list[Path]) -> Experts:
    return read_factors(folders[0]), read_factors(folders[1])


def logits(model: LlamaForCausalLM | PeftModel) -> Tensor:
    with torch.no_grad():
        return model(IDS).logits


def test_all_weight_on_the_pointwise_expert_is_that_expert_and_the_base_comes_back(
    experts: Experts, folders: list[Path]
) -> None:
    base, names = tiny_model(1), list(experts[0])
    before = {name: value.clone() for name, value in base.state_dict().items()}
    with with_update(base, names, lambda name: dare_linear(experts, name, 1.0, 1.0, Rescale.density, 0)) as merged:
        found = logits(merged)
    expert = PeftModel.from_pretrained(tiny_model(1), str(folders[0])).eval()
    torch.testing.assert_close(found, logits(expert), rtol=1e-5, atol=1e-5)
    assert not torch.allclose(found, logits(base), atol=1e-2)
    assert all(torch.equal(value, before[name]) for name, value in base.state_dict().items())


def test_the_base_comes_back_even_where_an_update_fails(experts: Experts) -> None:
    base, names = tiny_model(1), list(experts[0])

    def broken(name: str) -> Tensor:
        if name == names[-1]:
            raise RuntimeError("out of memory")
        return experts[0][name].update()

    with pytest.raises(RuntimeError), with_update(base, names, broken):
        pass
    assert torch.equal(logits(base), logits(tiny_model(1)))


def test_a_saved_checkpoint_gives_the_logits_of_the_merge(experts: Experts, tmp_path: Path) -> None:
    base, names = tiny_model(1), list(experts[0])
    with with_update(base, names, lambda name: dare_linear(experts, name, 0.25, 0.9, Rescale.l1, 3)) as merged:
        expected = logits(merged)
        save_checkpoint(merged, tiny_tokenizer(), tmp_path / "merged", CARD, {"lambda": 0.25})
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path / "merged").eval()
    assert torch.equal(logits(loaded), expected)
    assert json.loads((tmp_path / "merged" / "merge.json").read_text()) == {"lambda": 0.25}


def test_a_saved_adapter_of_the_summed_rank_gives_the_logits_of_the_dense_merge(
    experts: Experts, tmp_path: Path
) -> None:
    names = list(experts[0])
    save_adapter(
        {name: linear_factors(experts, name, 0.25) for name in names}, tiny_tokenizer(), tmp_path / "linear", CARD, {}
    )
    check_card(tmp_path / "linear", CARD)
    adapter = PeftModel.from_pretrained(tiny_model(1), str(tmp_path / "linear")).eval()
    assert adapter.peft_config["default"].r == 8
    dense = lambda name: 0.25 * experts[0][name].update() + 0.75 * experts[1][name].update()  # noqa: E731
    with with_update(tiny_model(1), names, dense) as merged:
        torch.testing.assert_close(logits(adapter), logits(merged), rtol=1e-5, atol=1e-5)


def test_the_summed_rank_adapter_is_pefts_cat(experts: Experts, folders: list[Path]) -> None:
    names = list(experts[0])
    model = PeftModel.from_pretrained(tiny_model(1), str(folders[0]), adapter_name="first")
    model.load_adapter(str(folders[1]), adapter_name="second")
    model.add_weighted_adapter(["first", "second"], [0.25, 0.75], "both", combination_type="cat")
    model.set_adapter("both")
    update = lambda name: linear_factors(experts, name, 0.25).update()  # noqa: E731
    with with_update(tiny_model(1), names, update) as merged:
        torch.testing.assert_close(logits(merged), logits(model.eval()), rtol=1e-5, atol=1e-5)
