"""Evaluate: one judge on its test split, or finished runs, compared (formats_diagnostics, cpa_conditions) or merged.

Consumes what the experiment names: a pool and an adapter/ folder, or run folders of score.py or train.py. Writes
metrics.json, figures/, report.html, manifest.json and the stage's rows into its run folder.
In under a minute on a CPU: python evaluate.py experiment=cpa_criminality debug=tiny
"""

from judgelab.config.launch import launch
from judgelab.config.schema import ConditionsRoot, CurvatureRoot, EvaluateRoot, FormatsRoot, MergeRoot


def main(config: EvaluateRoot | FormatsRoot | ConditionsRoot | MergeRoot | CurvatureRoot) -> None:
    """The evaluation whose root the experiment's analysis has."""
    if isinstance(config, FormatsRoot):
        diagnose_formats(config)
    elif isinstance(config, ConditionsRoot):
        compare_conditions(config)
    elif isinstance(config, MergeRoot):
        merge_experts(config)
    elif isinstance(config, CurvatureRoot):
        measure_curvature(config)
    else:
        judge_test_split(config)


def judge_test_split(config: EvaluateRoot) -> None:
    """Pool -> judge, with an adapter or as the base model -> score rows -> figures -> report."""
    from pathlib import Path

    from judgelab.data.records import item_table
    from judgelab.evaluation.study import JudgeStudy
    from judgelab.models.adapter import adapter_identity, load_adapter
    from judgelab.reporting.judge_report import report_evaluation
    from judgelab.run.folder import write_parquet
    from judgelab.run.run import start_run
    from judgelab.scoring.requests import Judge
    from judgelab.scoring.store import SCHEMA

    with start_run("evaluate", config) as run:
        if run.finished:
            return
        study = JudgeStudy(config)
        for name, sha in study.pool.inputs.items():
            run.add_input(name, sha)
        run.add_input(config.model.name, study.base.identity)
        if config.adapter is None:
            model, judge = study.base.model, Judge("base", study.base.identity)
        else:
            model = load_adapter(study.base.model, Path(config.adapter), study.card())
            adapter = adapter_identity(Path(config.adapter))
            run.add_input(config.adapter, adapter)
            judge = Judge("adapter", f"{study.base.identity}+{adapter}")
        judged = study.judge_test_split(model, judge, run.folder / "scores")
        write_parquet(run.folder / "items.parquet", item_table(study.pool.test))
        write_parquet(run.folder / "scores.parquet", judged.rows, SCHEMA)
        report_evaluation(run, config, study, judged)


def diagnose_formats(config: FormatsRoot) -> None:
    """Finished scoring runs -> diagnostics of every judge under every format -> claims -> report."""
    from judgelab.evaluation.format_study import study_formats
    from judgelab.evaluation.scoring_runs import load_scoring_runs
    from judgelab.reporting.formats_report import report_formats
    from judgelab.run.manifest import sha256_file
    from judgelab.run.run import start_run

    with start_run("evaluate", config) as run:
        if run.finished:
            return
        runs = load_scoring_runs(config.scores)
        for scoring in runs:
            run.add_input(str(scoring.folder), sha256_file(scoring.folder / "scores.parquet"))
        report_formats(run, config, runs, study_formats(runs, config))


def compare_conditions(config: ConditionsRoot) -> None:
    """Finished training runs -> macro-F1 by criterion and condition -> paired differences -> report."""
    from itertools import combinations

    from judgelab.evaluation.conditions import CONDITIONS, study_conditions
    from judgelab.evaluation.training_runs import load_training_runs
    from judgelab.reporting.conditions_report import report_conditions
    from judgelab.run.manifest import sha256_file
    from judgelab.run.run import start_run

    with start_run("evaluate", config) as run:
        if run.finished:
            return
        runs = load_training_runs(config.runs)
        for trained in runs:
            run.add_input(str(trained.folder), sha256_file(trained.folder / "scores.parquet"))
        contrasts = list(combinations(CONDITIONS, 2))
        report_conditions(run, config, study_conditions(runs, CONDITIONS, contrasts, config.resamples, config.seed))


def merge_experts(config: MergeRoot) -> None:
    """Pointwise and pairwise experts -> merges at every λ -> verdicts on the test split -> tables and report."""
    from judgelab.evaluation.merge_study import expert_pairs, judge_merges, study_merges
    from judgelab.evaluation.training_runs import load_training_runs
    from judgelab.models.adapter import adapter_identity
    from judgelab.reporting.merge_report import report_merges
    from judgelab.run.folder import write_parquet
    from judgelab.run.manifest import sha256_file
    from judgelab.run.run import start_run
    from judgelab.scoring.store import SCHEMA

    with start_run("evaluate", config) as run:
        if run.finished:
            return
        runs = load_training_runs(config.runs)
        for trained in runs:
            run.add_input(str(trained.folder), sha256_file(trained.folder / "scores.parquet"))
            run.add_input(f"{trained.folder}/adapter", adapter_identity(trained.folder / "adapter"))
        merged = [each for pair in expert_pairs(runs) for each in judge_merges(pair, config, run.folder)]
        write_parquet(run.folder / "scores.parquet", [row for each in merged for row in each.rows], SCHEMA)
        report_merges(run, config, study_merges(runs, merged, config))


def measure_curvature(config: CurvatureRoot) -> None:
    """Pointwise and pairwise experts -> gradients, curvatures and merge bias -> the regime of each criterion."""
    from judgelab.evaluation.curvature_study import study_curvature
    from judgelab.evaluation.merge_study import expert_pairs
    from judgelab.evaluation.training_runs import load_training_runs
    from judgelab.models.adapter import adapter_identity
    from judgelab.reporting.curvature_report import report_curvature
    from judgelab.run.run import start_run

    with start_run("evaluate", config) as run:
        if run.finished:
            return
        runs = load_training_runs(config.runs)
        for trained in runs:
            run.add_input(str(trained.folder), adapter_identity(trained.folder / "adapter"))
        pairs = expert_pairs(runs)
        criteria = dict.fromkeys(pair.pointwise.criterion for pair in pairs)
        own = [[pair for pair in pairs if pair.pointwise.criterion == criterion] for criterion in criteria]
        report_curvature(run, config, [study_curvature(each, config) for each in own])


if __name__ == "__main__":
    launch("evaluate", main)
