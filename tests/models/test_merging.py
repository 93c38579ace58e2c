"""Merging checked against dense arithmetic, peft and the limits of λ and density."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from judgelab.config.schema import Rescale
from judgelab.errors import ConfigError
from judgelab.models.lora_factors import LoraFactors, read_factors
from judgelab.models.merging import (
    Experts,
    check_mergeable,
    dare,
    dare_linear,
    interpolated_factors,
    linear_factors,
    relative_difference,
)

NAME = "model.layers.0.mlp.down_proj"


def factors(seed: int, rank: int = 4) -> LoraFactors:
    drawn = torch.Generator().manual_seed(seed)
    return LoraFactors(torch.randn(rank, 12, generator=drawn), torch.randn(20, rank, generator=drawn), 2.0)


@pytest.fixture
def experts() -> Experts:
    return {NAME: factors(1)}, {NAME: factors(2)}


def saved(folder: Path, expert: LoraFactors, **settings: object) -> Path:
    folder.mkdir()
    rank = len(expert.a)
    plain = {"r": rank, "lora_alpha": int(expert.scaling * rank), "peft_type": "LORA", "target_modules": ["down_proj"]}
    (folder / "adapter_config.json").write_text(json.dumps(plain | settings))
    key = f"base_model.model.{NAME}"
    save_file(
        {f"{key}.lora_A.weight": expert.a, f"{key}.lora_B.weight": expert.b}, folder / "adapter_model.safetensors"
    )
    return folder


def test_factors_are_read_as_they_were_saved(tmp_path: Path) -> None:
    expert = factors(1)
    read = read_factors(saved(tmp_path / "adapter", expert))
    assert list(read) == [NAME]
    torch.testing.assert_close(read[NAME].update(), 2.0 * expert.b @ expert.a, rtol=0, atol=0)


def test_an_adapter_that_is_no_plain_lora_is_refused(tmp_path: Path) -> None:
    folder = saved(tmp_path / "adapter", factors(1), use_rslora=True, rank_pattern={"down_proj": 8})
    with pytest.raises(ConfigError, match="use_rslora, rank_pattern"):
        read_factors(folder)


def test_all_weight_on_one_expert_at_density_1_is_that_expert(experts: Experts) -> None:
    for weight, expert in ((1.0, experts[0]), (0.0, experts[1])):
        merged = dare_linear(experts, NAME, weight, 1.0, Rescale.density, seed=0)
        torch.testing.assert_close(merged, expert[NAME].update(), rtol=0, atol=0)


@pytest.mark.parametrize("weight", [0.25, 0.5, 0.75])
def test_linear_is_dense_arithmetic_and_an_adapter_of_the_summed_rank(experts: Experts, weight: float) -> None:
    first, second = (2.0 * expert[NAME].b @ expert[NAME].a for expert in experts)
    dense = weight * first + (1 - weight) * second
    torch.testing.assert_close(dare_linear(experts, NAME, weight, 1.0, Rescale.l1, seed=0), dense)
    adapter = linear_factors(experts, NAME, weight)
    assert (adapter.a.shape, adapter.b.shape) == ((8, 12), (20, 8))
    torch.testing.assert_close(adapter.update(), dense, rtol=1e-5, atol=1e-5)


def test_interpolated_factors_have_cross_terms(experts: Experts) -> None:
    (first, second), weight = [expert[NAME] for expert in experts], 0.25
    crossed = weight * (1 - weight) * 2.0 * (first.b @ second.a + second.b @ first.a)
    expected = weight**2 * first.update() + (1 - weight) ** 2 * second.update() + crossed
    torch.testing.assert_close(interpolated_factors(experts, NAME, weight).update(), expected, rtol=1e-5, atol=1e-4)


def test_factors_of_unequal_rank_are_not_interpolated() -> None:
    with pytest.raises(ConfigError, match="unequal rank"):
        interpolated_factors(({NAME: factors(1, 4)}, {NAME: factors(2, 8)}), NAME, 0.5)


def test_dare_keeps_the_mean_over_masks_and_the_share_of_the_density() -> None:
    delta = torch.full((200, 200), 3.0)
    thinned = dare(delta, 0.9, Rescale.density, seed=5)
    kept = (thinned != 0).double().mean().item()
    # Six standard deviations of the share of 40 000 independent entries.
    assert kept == pytest.approx(0.9, abs=6 * (0.09 / 40_000) ** 0.5)
    assert thinned.unique().tolist() == pytest.approx([0.0, 3.0 / 0.9])
    means = torch.stack([dare(torch.ones(4), 0.5, Rescale.density, seed) for seed in range(4000)]).mean(0)
    torch.testing.assert_close(means, torch.ones(4), rtol=0, atol=6 / 4000**0.5)


def test_l1_rescale_keeps_the_norm_and_is_zero_where_nothing_is_kept() -> None:
    delta = torch.randn(30, 30, generator=torch.Generator().manual_seed(3))
    thinned = dare(delta, 0.3, Rescale.l1, seed=1)
    torch.testing.assert_close(thinned.abs().sum(), delta.abs().sum())
    # Seed 1 draws 0.76 for the only entry.
    assert dare(torch.ones(1), 0.01, Rescale.l1, seed=1).tolist() == [0.0]


@pytest.mark.parametrize("density", [0.0, -0.1, 1.1])
def test_a_density_that_is_no_share_is_refused(density: float) -> None:
    with pytest.raises(ConfigError, match="density"):
        dare(torch.ones(3), density, Rescale.density, seed=1)


def test_masks_are_the_same_at_every_weight_and_differ_between_experts(experts: Experts) -> None:
    def at(weight: float) -> Tensor:
        return dare_linear(experts, NAME, weight, 0.5, Rescale.density, seed=7)

    torch.testing.assert_close(at(0.25), 0.25 * at(1.0) + 0.75 * at(0.0))
    assert ((at(1.0) != 0) != (at(0.0) != 0)).any()


def test_adapters_of_different_models_are_refused(experts: Experts) -> None:
    with pytest.raises(ConfigError, match="different projections"):
        check_mergeable(experts[0], {"model.layers.1.mlp.down_proj": factors(1)})
    other = LoraFactors(torch.zeros(4, 6), torch.zeros(20, 4), 2.0)
    with pytest.raises(ConfigError, match=r"is \(20, 12\) and \(20, 6\)"):
        check_mergeable(experts[0], {NAME: other})


def test_relative_difference_is_the_frobenius_ratio(experts: Experts) -> None:
    first, second = (expert[NAME].update() for expert in experts)
    expected = torch.linalg.norm(first - second) / torch.linalg.norm(second)
    measured = relative_difference(lambda _: first, lambda _: second, experts)
    assert measured == pytest.approx(float(expected), rel=1e-5)
