"""Two adapters of one base model merged into one update, λ of the first and 1 − λ of the second (CPA A.1).

Three ways, each one projection at a time and in float32: DARE-linear and linear of the materialised updates, and the
interpolation of the factors, which is another operation and stands beside them to show the difference.
"""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from judgelab.config.schema import Rescale
from judgelab.errors import ConfigError
from judgelab.models.lora_factors import LoraFactors
from judgelab.run.randomness import derived_seed

Experts = tuple[Mapping[str, LoraFactors], Mapping[str, LoraFactors]]


def check_mergeable(first: Mapping[str, LoraFactors], second: Mapping[str, LoraFactors]) -> None:
    """ConfigError where two adapters do not change the same projections of one model."""
    if first.keys() != second.keys():
        raise ConfigError(
            f"the adapters change different projections: {', '.join(sorted(first.keys() ^ second.keys()))}"
        )
    for name, factors in first.items():
        other = second[name]
        shapes = [(len(each.b), each.a.shape[1]) for each in (factors, other)]
        if shapes[0] != shapes[1]:
            raise ConfigError(f"the adapters were trained on different models: {name} is {shapes[0]} and {shapes[1]}")


def dare(delta: Tensor, density: float, rescale: Rescale, seed: int) -> Tensor:
    """δ̃ = c·m∘δ with m ~ Bernoulli(density) for every entry and c by `rescale` (Yu et al. 2024).

    The mask depends on the seed and the shape alone. A density of 1 keeps all as it is; ConfigError outside (0, 1].
    """
    if not 0 < density <= 1:
        raise ConfigError(f"density is {density}: give a share above 0 and at most 1")
    if density == 1:
        return delta
    drawn = torch.rand(delta.shape, generator=torch.Generator().manual_seed(seed))
    kept = torch.where(drawn < density, delta, torch.zeros(()))
    if rescale is Rescale.density:
        return kept / density
    left = kept.abs().sum()
    return kept * (delta.abs().sum() / left) if left > 0 else kept


def dare_linear(experts: Experts, name: str, weight: float, density: float, rescale: Rescale, seed: int) -> Tensor:
    """ΔW = λ·δ̃₁ + (1 − λ)·δ̃₂ [out, in]; each expert's mask has a seed of its own for each projection.

    A mask does not depend on λ, so that merges at several λ differ in λ alone.
    """
    thinned = [
        dare(expert[name].update(), density, rescale, derived_seed(seed, "dare", position, name))
        for position, expert in enumerate(experts)
    ]
    return weight * thinned[0] + (1 - weight) * thinned[1]


def linear_factors(experts: Experts, name: str, weight: float) -> LoraFactors:
    """The adapter whose update is λ·ΔW₁ + (1 − λ)·ΔW₂ exactly: A = [A₁; A₂], B = [s₁λB₁, s₂(1 − λ)B₂], scaling 1."""
    first, second = (expert[name] for expert in experts)
    b = torch.cat([first.scaling * weight * first.b, second.scaling * (1 - weight) * second.b], dim=1)
    return LoraFactors(torch.cat([first.a, second.a]), b, 1.0)


def interpolated_factors(experts: Experts, name: str, weight: float) -> LoraFactors:
    """A and B interpolated apart (CPA A.1's other operation); ConfigError for adapters of unequal rank or scaling."""
    first, second = (expert[name] for expert in experts)
    if first.a.shape != second.a.shape or first.scaling != second.scaling:
        raise ConfigError(
            f"{name}: factors of unequal rank or scaling cannot be interpolated; merge their updates instead"
        )
    return LoraFactors(
        weight * first.a + (1 - weight) * second.a, weight * first.b + (1 - weight) * second.b, first.scaling
    )


def relative_difference(update: Callable[[str], Tensor], reference: Callable[[str], Tensor], experts: Experts) -> float:
    """‖ΔW − ΔW_ref‖_F / ‖ΔW_ref‖_F over all projections together; 0 where both are zero."""
    apart, norm = 0.0, 0.0
    for name in experts[0]:
        expected = reference(name)
        apart += float((update(name) - expected).square().sum())
        norm += float(expected.square().sum())
    if norm == 0:
        if apart == 0:
            return 0.0
        raise ValueError("the reference update is zero, and the other is not")
    return (apart / norm) ** 0.5
