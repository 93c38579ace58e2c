"""Conditions compared over made runs whose verdicts are known."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from judgelab.errors import ConfigError
from judgelab.evaluation.conditions import CONDITIONS, ConditionStudy, study_conditions
from judgelab.evaluation.training_runs import TrainingRun
from judgelab.reporting.conditions_report import contrast_table, score_table

LABELS = np.array([0, 1] * 30)


def _run(condition: str, seed: int, wrong: int, criterion: str = "c", items: str = "i") -> TrainingRun:
    after = LABELS.copy()
    after[:wrong] = 1 - after[:wrong]
    return TrainingRun(
        folder=Path(f"{criterion}-{condition}-{seed}"),
        criterion=criterion,
        condition=condition,
        seed=seed,
        training_rows=10,
        item_ids=tuple(f"{items}{n}" for n in range(len(LABELS))),
        labels=LABELS,
        verdicts={"before": np.full((1, 60), -1), "after": after[None]},
    )


def _studied(runs: list[TrainingRun], resamples: int) -> ConditionStudy:
    return study_conditions(runs, CONDITIONS, list(combinations(CONDITIONS, 2)), resamples, 1)


def test_scores_by_condition_with_the_base_model_once_per_seed() -> None:
    runs = [_run(condition, seed, wrong) for condition, wrong in (("joint", 6), ("pointwise", 12)) for seed in (1, 2)]
    study = _studied(runs, 200)
    base, joint, pointwise = study.scores
    assert (base.condition, base.macro_f1, base.parse_rate, base.seeds, base.repeats) == ("base model", 0, 0, 2, 1)
    assert (joint.macro_f1, joint.sd, joint.seeds, joint.items) == (pytest.approx(0.9), 0, 2, 60)
    assert pointwise.macro_f1 == pytest.approx(0.8)
    (contrast,) = study.contrasts
    assert (contrast.first, contrast.second, contrast.unpaired) == ("joint", "pointwise", 0)
    assert contrast.difference.mean == pytest.approx(0.1)
    assert 0 <= contrast.difference.low < 0.1 < contrast.difference.high
    assert score_table(study).rows[1][2] == "0.900 ± 0.000"


def test_holm_covers_all_criteria_and_unpaired_seeds_are_counted() -> None:
    runs = [
        _run("joint", 1, 0),
        _run("joint", 2, 0),
        _run("pairwise", 1, 20),
        _run("joint", 1, 3, "d"),
        _run("pointwise", 1, 3, "d"),
    ]
    study = _studied(runs, 999)
    clear, equal = study.contrasts
    assert (clear.criterion, clear.unpaired, clear.difference.seeds) == ("c", 1, 1)
    assert clear.adjusted == pytest.approx(2 * clear.difference.p)
    assert equal.adjusted == 1
    assert [row[6] for row in contrast_table(study.contrasts).rows] == ["joint", "undecided"]


def test_other_items_are_refused() -> None:
    with pytest.raises(ConfigError, match="judged different items"):
        _studied([_run("joint", 1, 0), _run("pointwise", 1, 0, items="j")], 10)
