"""Conditions of training compared, criterion by criterion (CPA §5.2, Tables 1 and 5)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from judgelab.errors import ConfigError
from judgelab.evaluation.bootstrap import Difference, Trial, macro_f1, paired_difference
from judgelab.evaluation.classification import UNPARSED, mean_and_sd
from judgelab.evaluation.multiple_tests import holm
from judgelab.evaluation.training_runs import TrainingRun, Verdicts

CONDITIONS = ("joint", "pointwise", "pairwise")
BASE = "base model"


@dataclass(frozen=True)
class ConditionScore:
    """Strict macro-F1 of a condition over seeds and inference repeats; `sd` is the sample deviation of all of them."""

    criterion: str
    condition: str
    macro_f1: float
    sd: float | None
    parse_rate: float
    seeds: int
    repeats: int
    items: int
    training_rows: int


@dataclass(frozen=True)
class Contrast:
    """The paired difference of two conditions of one criterion, over the seeds that both were trained with.

    `adjusted` is Holm's p over all contrasts of the study. `unpaired` seeds have only one of the two.
    """

    criterion: str
    first: str
    second: str
    difference: Difference
    adjusted: float
    unpaired: int


@dataclass(frozen=True)
class ConditionStudy:
    """Scores and contrasts of all criteria."""

    scores: tuple[ConditionScore, ...]
    contrasts: tuple[Contrast, ...]


def study_conditions(
    runs: Sequence[TrainingRun],
    conditions: Sequence[str],
    contrasts: Sequence[tuple[str, str]],
    resamples: int,
    seed: int,
) -> ConditionStudy:
    """Macro-F1 by criterion and condition in the given order, and the asked-for paired differences with intervals.

    A condition or a contrast that a criterion has no runs for is left out of it.
    """
    criteria = list(dict.fromkeys(run.criterion for run in runs))
    scores = [score for criterion in criteria for score in _scores(criterion, runs, conditions)]
    found = [each for criterion in criteria for each in _contrasts(criterion, runs, contrasts, resamples, seed)]
    adjusted = holm([each.difference.p for each in found])
    corrected = [replace(each, adjusted=p) for each, p in zip(found, adjusted, strict=True) if p is not None]
    return ConditionStudy(tuple(scores), tuple(corrected))


def _scores(criterion: str, runs: Sequence[TrainingRun], conditions: Sequence[str]) -> Iterator[ConditionScore]:
    own = [run for run in runs if run.criterion == criterion]
    # One seed's base model is the same under every condition.
    by_seed = {run.seed: run for run in own}
    yield _score(criterion, BASE, list(by_seed.values()), "before", 0)
    for condition in conditions:
        trained = [run for run in own if run.condition == condition]
        if trained:
            yield _score(criterion, condition, trained, "after", trained[0].training_rows)


def _score(criterion: str, condition: str, runs: Sequence[TrainingRun], judge: str, rows: int) -> ConditionScore:
    values = [value for run in runs for value in _macro_f1(run, run.verdicts[judge])]
    mean, sd = mean_and_sd(values)
    parsed = np.concatenate([(run.verdicts[judge] != UNPARSED).ravel() for run in runs])
    return ConditionScore(
        criterion=criterion,
        condition=condition,
        macro_f1=mean or 0.0,
        sd=sd,
        parse_rate=float(parsed.mean()),
        seeds=len({run.seed for run in runs}),
        repeats=len(runs[0].verdicts[judge]),
        items=len({item for run in runs for item in run.item_ids}),
        training_rows=rows,
    )


def _macro_f1(run: TrainingRun, verdicts: Verdicts) -> list[float]:
    return macro_f1(run.labels, verdicts, np.ones((1, len(run.labels))))[0].tolist()


def _contrasts(
    criterion: str, runs: Sequence[TrainingRun], contrasts: Sequence[tuple[str, str]], resamples: int, seed: int
) -> Iterator[Contrast]:
    own = {(run.condition, run.seed): run for run in runs if run.criterion == criterion}
    for first, second in contrasts:
        seeds = [{seed for condition, seed in own if condition == each} for each in (first, second)]
        paired = sorted(seeds[0] & seeds[1])
        if not paired:
            continue
        trials = [_trial(own[first, each], own[second, each]) for each in paired]
        difference = paired_difference(trials, resamples, seed, f"{criterion} {first} {second}")
        yield Contrast(criterion, first, second, difference, difference.p, len(seeds[0] ^ seeds[1]))


def _trial(first: TrainingRun, second: TrainingRun) -> Trial:
    """Both runs of a seed; their test items are the same, as the split depends on the seed alone."""
    if first.item_ids != second.item_ids or (first.labels != second.labels).any():
        raise ConfigError(
            f"runs: {first.folder} and {second.folder} judged different items, so nothing is paired; "
            "compare runs of the same data"
        )
    return Trial(first.item_ids, first.labels, first.verdicts["after"], second.verdicts["after"])
