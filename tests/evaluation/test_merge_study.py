"""Merging over made runs: pairs, contrasts, tables; and what is refused before anything is loaded."""

from pathlib import Path

import numpy as np
import pytest

from judgelab.config.compose import compose_config, typed
from judgelab.config.schema import MergeMethod, MergeRoot
from judgelab.errors import ConfigError
from judgelab.evaluation.merge_study import MergedJudge, expert_pairs, study_merges
from judgelab.evaluation.training_runs import TrainingRun
from judgelab.reporting.merge_report import distance_table, lambda_figure, lambda_table, summary_table

LABELS = np.array([0, 1] * 30)


def _config(*overrides: str) -> MergeRoot:
    config = typed(compose_config("evaluate", ["experiment=cpa_merge", "hardware=cpu", "runs=[run]", *overrides]))
    assert isinstance(config, MergeRoot)
    return config


def _run(condition: str, seed: int, wrong: int) -> TrainingRun:
    after = LABELS.copy()
    after[:wrong] = 1 - after[:wrong]
    ids = tuple(f"i{n}" for n in range(len(LABELS)))
    verdicts = {"before": np.full((1, 60), -1), "after": after[None]}
    return TrainingRun(Path(f"{condition}-{seed}"), "c", condition, seed, 10, ids, LABELS, verdicts)


def _merged(method: MergeMethod, weight: float, seed: int, wrong: int, distance: float) -> MergedJudge:
    return MergedJudge(method, weight, _run(f"{method.value} {weight:g}", seed, wrong), [], distance)


def test_experts_of_one_seed_are_paired_and_the_others_counted() -> None:
    runs = [_run("joint", 1, 0), _run("pointwise", 1, 6), _run("pairwise", 1, 30), _run("pointwise", 2, 6)]
    (pair,) = expert_pairs(runs)
    assert (pair.pointwise.seed, pair.pairwise.condition) == (1, "pairwise")
    config = _config("methods=[dare_linear]", "lambdas=[0.5]", "resamples=50")
    study = study_merges(runs, [_merged(MergeMethod.dare_linear, 0.5, 1, 3, 0.3)], config)
    assert study.unpaired == 1
    assert [score.condition for score in study.conditions.scores] == [
        "base model",
        "joint",
        "pointwise",
        "pairwise",
        "dare_linear 0.5",
    ]
    found = {(each.first, each.second): each.difference.mean for each in study.conditions.contrasts}
    assert found[("joint", "dare_linear 0.5")] == pytest.approx(0.05, abs=1e-3)
    assert found[("pointwise", "dare_linear 0.5")] == pytest.approx(-0.05, abs=1e-3)


def test_nothing_to_merge_is_refused() -> None:
    with pytest.raises(ConfigError, match="no criterion has a pointwise and a pairwise run of the same seed"):
        expert_pairs([_run("pointwise", 1, 0), _run("pairwise", 2, 0)])


def test_tables_show_every_weight_and_the_best_of_the_first_method() -> None:
    config = _config("methods=[linear,factors]", "lambdas=[0.25,0.75]", "resamples=50")
    merged = [
        _merged(method, weight, seed, wrong, 0.0 if method is MergeMethod.linear else 0.5)
        for method, wrongs in ((MergeMethod.linear, (12, 6)), (MergeMethod.factors, (30, 30)))
        for weight, wrong in zip((0.25, 0.75), wrongs, strict=True)
        for seed in (1, 2)
    ]
    runs = [_run(condition, seed, 6) for condition in ("pointwise", "pairwise") for seed in (1, 2)]
    study = study_merges(runs, merged, config)
    scores = {(score.criterion, score.condition): score for score in study.conditions.scores}
    assert lambda_table(scores, config).rows == (
        ("c", "linear", "0.800 ± 0.000", "0.900 ± 0.000"),
        ("c", "factors", "0.500 ± 0.000", "0.500 ± 0.000"),
    )
    (row,) = summary_table(scores, config).rows
    assert (row[4], row[5], row[6]) == ("0.900 ± 0.000", None, 0.75)
    assert distance_table(study).rows == (("c", "factors", 0.25, 0.5, 2), ("c", "factors", 0.75, 0.5, 2))
    assert lambda_figure("c", scores, config).axes


@pytest.mark.parametrize(
    ("override", "said"),
    [("density=0", "density"), ("lambdas=[1.5]", "lambdas"), ("lambdas=[]", "lambdas"), ("methods=[]", "methods")],
)
def test_values_out_of_range_name_their_key(override: str, said: str) -> None:
    with pytest.raises(ConfigError, match=rf"^{said}="):
        _config(override)
