"""Judge the test split with an adapter, or with the base model where adapter is null.

Consumes a pool (data=…) and the adapter/ folder of a training run; writes scores.parquet, metrics.json,
figures/, report.html and manifest.json into its run folder.
In under a minute on a CPU: python evaluate.py experiment=cpa_criminality debug=tiny
"""

from judgelab.config.launch import launch
from judgelab.config.schema import EvaluateRoot


def main(config: EvaluateRoot) -> None:
    """Pool -> judge -> score rows -> figures -> report."""
    from pathlib import Path

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
        write_parquet(run.folder / "scores.parquet", judged.rows, SCHEMA)
        report_evaluation(run, config, study, judged)


if __name__ == "__main__":
    launch("evaluate", main)
