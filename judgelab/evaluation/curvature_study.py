"""The second-order picture of pointwise and pairwise training, measured on trained experts (CPA §3 and A.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from judgelab.config.schema import Attention, CurvatureRoot, Dtype, Quantization, TrainRoot
from judgelab.config.stored import stored_config
from judgelab.evaluation.expert_losses import training_losses
from judgelab.evaluation.merge_study import ExpertPair
from judgelab.evaluation.second_order import error_correlation, merge_bias, noise_ratio, optimal_weight
from judgelab.evaluation.study import JudgeStudy
from judgelab.models.adapter import check_card
from judgelab.models.lora_factors import read_factors
from judgelab.models.merging import check_mergeable
from judgelab.models.update_space import UpdateSpace
from judgelab.run.randomness import derived_seed
from judgelab.training.curvature import (
    LossParts,
    curvature_along,
    gradient,
    hessian_product,
    leading_direction,
    loss_at,
)

LOSSES = ("pointwise", "pairwise")


@dataclass(frozen=True)
class Bias:
    """Excess pointwise loss of the merge at λ, in nats per target token.

    `predicted` is eq. 8; `with_gradient` adds the first-order term, which is zero at a true optimum only.
    """

    weight: float
    predicted: float
    with_gradient: float
    measured: float


@dataclass(frozen=True)
class SeedCurvature:
    """One pair of experts: gradient norms by (loss, where), curvatures by (direction, loss), and the merge's bias.

    Where is `base`, `pointwise` or `pairwise` (the experts). `alignment` is the cosine of ∇L_pair(θ_point) with
    −H_pairΔ*, which is 1 where both losses are quadratic. `spread` is εᵀH_pointε of this seed's pointwise expert around
    the mean over seeds; null for one seed.
    """

    criterion: str
    seed: int
    gradients: Mapping[tuple[str, str], float]
    curvatures: Mapping[tuple[str, str], float]
    gap: float
    separation: float
    alignment: float
    biases: tuple[Bias, ...]
    spread: float | None


@dataclass(frozen=True)
class CriterionCurvature:
    """All seeds of a criterion, with ρ, v, κ and λ* (null for one seed) and what Definition 1 says.

    `sharpness` is null where the pairwise loss curves down along random directions.
    """

    criterion: str
    seeds: tuple[SeedCurvature, ...]
    separation: float
    correlation: float | None
    variance: float | None
    ratio: float | None
    weight: float | None
    gradient_share: float
    sharpness: float | None
    small_cost: bool
    large_return: bool

    @property
    def regime(self) -> str:
        """`joint` where both conditions hold, `merge` where the cost is not small and errors are mostly apart."""
        if self.small_cost and self.large_return:
            return "joint"
        if not self.small_cost and self.correlation is not None and self.correlation < 0.5:
            return "merge"
        return "undecided"


def study_curvature(pairs: Sequence[ExpertPair], config: CurvatureRoot) -> CriterionCurvature:
    """Measure every seed of one criterion, all in the space that its experts span."""
    experts = [[read_factors(run.folder / "adapter") for run in (pair.pointwise, pair.pairwise)] for pair in pairs]
    for expert in (each for two in experts for each in two):
        check_mergeable(experts[0][0], expert)
    space = UpdateSpace([expert for two in experts for expert in two])
    points = [(space.vector(pointwise), space.vector(pairwise)) for pointwise, pairwise in experts]
    mean = torch.stack([pointwise for pointwise, _ in points]).mean(0)
    seeds = []
    for pair, (pointwise, pairwise) in zip(pairs, points, strict=True):
        deviation = pointwise - mean if len(pairs) > 1 else None
        seeds.append(_measure(pair, space, pointwise, pairwise, deviation, config))
    grams = [
        np.array([[float(one @ other) for other in right] for one in left])
        for left, right in (
            ([p for p, _ in points], [p for p, _ in points]),
            ([r for _, r in points], [r for _, r in points]),
            ([p for p, _ in points], [r for _, r in points]),
        )
    ]
    return _summed(seeds, error_correlation(*grams), config)


def _summed(seeds: Sequence[SeedCurvature], correlation: float | None, config: CurvatureRoot) -> CriterionCurvature:
    separation = float(np.mean([each.separation for each in seeds]))
    spreads = [each.spread for each in seeds if each.spread is not None]
    variance = sum(spreads) / (len(spreads) - 1) if spreads else None
    known = variance is not None and correlation is not None
    ratio = noise_ratio(variance, correlation, separation) if known else None  # type: ignore[arg-type]
    share = float(np.mean([e.gradients["pairwise", "pointwise"] / e.gradients["pairwise", "base"] for e in seeds]))
    along, random = (
        float(np.mean([each.curvatures[name, "pairwise"] for each in seeds])) for name in ("criterion", "random")
    )
    return CriterionCurvature(
        criterion=seeds[0].criterion,
        seeds=tuple(seeds),
        separation=separation,
        correlation=correlation,
        variance=variance,
        ratio=ratio,
        weight=optimal_weight(ratio),
        gradient_share=share,
        sharpness=along / random if random > 0 else None,
        small_cost=share <= 1 / config.much,
        large_return=along > 0 and random > 0 and along >= config.much * random,
    )


def _measure(
    pair: ExpertPair,
    space: UpdateSpace,
    pointwise: Tensor,
    pairwise: Tensor,
    deviation: Tensor | None,
    config: CurvatureRoot,
) -> SeedCurvature:
    stored = _settings(pair, config)
    study = JudgeStudy(stored)
    for run in (pair.pointwise, pair.pairwise):
        check_card(run.folder / "adapter", study.card())
    device = torch.device(stored.hardware.accelerator)
    pointwise, pairwise = pointwise.to(device), pairwise.to(device)
    losses, by_label = training_losses(study, space, config.rows)
    gap, base = pairwise - pointwise, torch.zeros_like(pointwise)
    found = {
        ("pointwise", "base"): gradient(losses["pointwise"], base),
        ("pointwise", "pointwise"): gradient(losses["pointwise"], pointwise),
        ("pairwise", "base"): gradient(losses["pairwise"], base),
        ("pairwise", "pointwise"): gradient(losses["pairwise"], pointwise),
        ("pairwise", "pairwise"): gradient(losses["pairwise"], pairwise),
    }
    pull = hessian_product(losses["pointwise"], pointwise, gap)
    separation = float(gap @ pull)
    expected = -hessian_product(losses["pairwise"], pointwise, gap)
    length = float(gap.square().sum())
    along_gap = {("gap", "pointwise"): separation / length, ("gap", "pairwise"): -float(gap @ expected) / length}
    slope = float(found["pointwise", "pointwise"] @ gap)
    own = loss_at(losses["pointwise"], pointwise)
    moved = None if deviation is None else deviation.to(device)
    spread = None if moved is None else float(moved @ hessian_product(losses["pointwise"], pointwise, moved))
    return SeedCurvature(
        criterion=stored.criterion.name,
        seed=stored.seed,
        gradients={key: float(vector.norm()) for key, vector in found.items()},
        curvatures=_curvatures(losses, by_label, pointwise, stored.seed, config) | along_gap,
        gap=float(gap.norm()),
        separation=separation,
        alignment=float(torch.cosine_similarity(found["pairwise", "pointwise"], expected, dim=0)),
        biases=tuple(
            Bias(
                weight,
                merge_bias(separation, weight),
                merge_bias(separation, weight) + (1 - weight) * slope,
                loss_at(losses["pointwise"], pointwise + (1 - weight) * gap) - own,
            )
            for weight in config.lambdas
        ),
        spread=spread,
    )


def _curvatures(
    losses: Mapping[str, LossParts],
    by_label: Sequence[LossParts],
    point: Tensor,
    seed: int,
    config: CurvatureRoot,
) -> dict[tuple[str, str], float]:
    """Curvature of both losses along the criterion, along random directions, and along each one's leading."""
    criterion = gradient(by_label[1], point) - gradient(by_label[0], point)
    draws = torch.Generator().manual_seed(derived_seed(seed, "curvature directions"))
    random = [torch.randn(len(point), generator=draws).to(point) for _ in range(config.random_directions)]
    found = {}
    for name in LOSSES:
        parts = losses[name]
        found["criterion", name] = curvature_along(parts, point, criterion)
        found["random", name] = float(np.mean([curvature_along(parts, point, each) for each in random]))
        # The gradient lies in the range of the Hessian, so that Lanczos starts close.
        start = gradient(parts, point)
        found[f"leading {name}", name], leading = leading_direction(parts, point, start, config.tolerance)
        other = LOSSES[1 - LOSSES.index(name)]
        found[f"leading {name}", other] = curvature_along(losses[other], point, leading)
    return found


def _settings(pair: ExpertPair, config: CurvatureRoot) -> TrainRoot:
    """The expert's study in float32 and with attention that differentiates twice."""
    hardware = replace(config.hardware, quantization=Quantization.none, dtype=Dtype.float32, attention=Attention.sdpa)
    return replace(stored_config(pair.pointwise.folder), hardware=hardware)
