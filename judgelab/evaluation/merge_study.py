"""Pointwise and pairwise experts of one seed merged, judged, and set beside joint training (CPA §5)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from judgelab.config.schema import Condition, HardwareConfig, MergeMethod, MergeRoot, Quantization, TrainRoot
from judgelab.config.stored import stored_config
from judgelab.errors import ConfigError
from judgelab.evaluation.conditions import CONDITIONS, ConditionStudy, study_conditions
from judgelab.evaluation.study import JudgeStudy
from judgelab.evaluation.training_runs import TrainingRun, verdict_matrix
from judgelab.models.adapter import adapter_identity, check_card
from judgelab.models.lora_factors import LoraFactors, read_factors
from judgelab.models.merged import Update, save_adapter, save_checkpoint, with_update
from judgelab.models.merging import (
    Experts,
    check_mergeable,
    dare_linear,
    interpolated_factors,
    linear_factors,
    relative_difference,
)
from judgelab.scoring.requests import Judge


@dataclass(frozen=True)
class ExpertPair:
    """The two experts of one criterion and seed."""

    pointwise: TrainingRun
    pairwise: TrainingRun


@dataclass(frozen=True)
class MergedJudge:
    """One merge of one pair: its verdicts as those of a training run, its score rows.

    `distance` is ‖ΔW − ΔW_linear‖_F / ‖ΔW_linear‖_F at the same λ.
    """

    method: MergeMethod
    weight: float
    run: TrainingRun
    rows: list[dict[str, Any]]
    distance: float


@dataclass(frozen=True)
class MergeDistance:
    """Mean relative distance of a method from the linear merge at one λ, over seeds."""

    criterion: str
    method: MergeMethod
    weight: float
    distance: float
    seeds: int


@dataclass(frozen=True)
class MergeStudy:
    """All conditions beside all merges; `contrasts` are of the first method alone."""

    conditions: ConditionStudy
    distances: tuple[MergeDistance, ...]
    unpaired: int


def merge_label(method: MergeMethod, weight: float) -> str:
    """How a merge is called among the conditions."""
    return f"{method.value} {weight:g}"


def expert_pairs(runs: Sequence[TrainingRun]) -> list[ExpertPair]:
    """Pointwise and pairwise runs of the same criterion and seed; ConfigError where there is no such pair."""
    found = {(run.criterion, run.seed, run.condition): run for run in runs}
    pairs = [
        ExpertPair(run, found[run.criterion, run.seed, Condition.pairwise.value])
        for run in runs
        if run.condition == Condition.pointwise.value and (run.criterion, run.seed, Condition.pairwise.value) in found
    ]
    if not pairs:
        raise ConfigError(
            "runs: no criterion has a pointwise and a pairwise run of the same seed, so there is nothing to merge; "
            "train both with `python train.py -m experiment=… method.condition=pointwise,pairwise`"
        )
    return pairs


def judge_merges(pair: ExpertPair, config: MergeRoot, folder: Path) -> Iterator[MergedJudge]:
    """Merge one pair in every way that is asked for, and judge its test split with each."""
    stored = _settings(pair, config)
    study = JudgeStudy(stored)
    adapters = [run.folder / "adapter" for run in (pair.pointwise, pair.pairwise)]
    for adapter in adapters:
        check_card(adapter, study.card())
    experts = (read_factors(adapters[0]), read_factors(adapters[1]))
    check_mergeable(*experts)
    names = list(experts[0])
    identities = [adapter_identity(adapter) for adapter in adapters]
    for method in config.methods:
        for weight in config.lambdas:
            update = _update(method, experts, weight, config, stored.seed)
            lineage = _lineage(method, weight, config, stored, study.base.identity, identities)
            label = f"{stored.criterion.name}, seed {stored.seed}, {merge_label(method, weight)}"
            judge = Judge(label, "+".join(map(str, lineage.values())))
            place = folder / "merged" / f"{stored.criterion.name}-{stored.seed}" / f"{method.value}-{weight:g}"
            with with_update(study.base.model, names, update) as model:
                judged = study.judge_test_split(model, judge, folder / "scores")
                if config.save and method is MergeMethod.dare_linear:
                    save_checkpoint(model, study.base.tokenizer, place, study.card(), lineage)
            if config.save and method is not MergeMethod.dare_linear:
                save_adapter(_factors(method, experts, weight), study.base.tokenizer, place, study.card(), lineage)
            linear = _update(MergeMethod.linear, experts, weight, config, stored.seed)
            merged = _as_run(pair, method, weight, judged.rows)
            yield MergedJudge(method, weight, merged, judged.rows, relative_difference(update, linear, experts))


def _settings(pair: ExpertPair, config: MergeRoot) -> TrainRoot:
    """How the pointwise expert was trained and judged, on this machine; base weights stay dense, to be added to."""
    stored = stored_config(pair.pointwise.folder)
    hardware: HardwareConfig = replace(config.hardware, quantization=Quantization.none)
    repeats = stored.evaluation.runs if config.repeats is None else config.repeats
    if repeats > 1 and stored.decoding.temperature == 0:
        raise ConfigError(
            f"repeats={repeats}: {pair.pointwise.folder} was judged at temperature 0, where repeats are equal; "
            "leave repeats=null, or train with decoding=sampled"
        )
    return replace(stored, hardware=hardware, evaluation=replace(stored.evaluation, runs=repeats))


def _update(method: MergeMethod, experts: Experts, weight: float, config: MergeRoot, seed: int) -> Update:
    if method is MergeMethod.dare_linear:
        return lambda name: dare_linear(experts, name, weight, config.density, config.rescale, seed)
    factors = linear_factors if method is MergeMethod.linear else interpolated_factors
    return lambda name: factors(experts, name, weight).update()


def _factors(method: MergeMethod, experts: Experts, weight: float) -> Mapping[str, LoraFactors]:
    factors = linear_factors if method is MergeMethod.linear else interpolated_factors
    return {name: factors(experts, name, weight) for name in experts[0]}


def _lineage(
    method: MergeMethod, weight: float, config: MergeRoot, stored: TrainRoot, base: str, identities: Sequence[str]
) -> dict[str, Any]:
    lineage = {
        "base": base,
        "pointwise": identities[0],
        "pairwise": identities[1],
        "method": method.value,
        "lambda": weight,
    }
    if method is MergeMethod.dare_linear:
        lineage |= {"density": config.density, "rescale": config.rescale.value, "seed": stored.seed}
    return lineage


def _as_run(pair: ExpertPair, method: MergeMethod, weight: float, rows: Sequence[Mapping[str, Any]]) -> TrainingRun:
    run = pair.pointwise
    judge = rows[0]["judge"]
    return replace(
        run,
        condition=merge_label(method, weight),
        training_rows=run.training_rows + pair.pairwise.training_rows,
        verdicts={"before": run.verdicts["before"], "after": verdict_matrix(rows, judge, run.item_ids)},
    )


def study_merges(runs: Sequence[TrainingRun], merged: Sequence[MergedJudge], config: MergeRoot) -> MergeStudy:
    """Scores of every condition and merge; joint and pointwise training each against the first method's merges."""
    labels = [merge_label(method, weight) for method in config.methods for weight in config.lambdas]
    compared = [merge_label(config.methods[0], weight) for weight in config.lambdas]
    contrasts = [(trained.value, label) for trained in (Condition.joint, Condition.pointwise) for label in compared]
    together = [*runs, *(each.run for each in merged)]
    conditions = study_conditions(together, (*CONDITIONS, *labels), contrasts, config.resamples, config.seed)
    experts = sum(run.condition != Condition.joint.value for run in runs)
    return MergeStudy(conditions, tuple(_distances(merged)), experts - 2 * len(expert_pairs(runs)))


def _distances(merged: Sequence[MergedJudge]) -> Iterator[MergeDistance]:
    keys = dict.fromkeys((each.run.criterion, each.method, each.weight) for each in merged)
    for criterion, method, weight in keys:
        if method is MergeMethod.linear:
            continue
        own = [e.distance for e in merged if (e.run.criterion, e.method, e.weight) == (criterion, method, weight)]
        yield MergeDistance(criterion, method, weight, float(np.mean(own)), len(own))
