"""Train a judge, and judge the test split before and after.

Consumes a pool of labelled responses (data=…); writes adapter/, scores.parquet, items.parquet, history.parquet,
metrics.json, figures/, report.html and manifest.json into its run folder.
In under a minute on a CPU: python train.py experiment=cpa_criminality debug=tiny
"""

from judgelab.config.launch import launch
from judgelab.config.schema import TrainRoot


def main(config: TrainRoot) -> None:
    """Pool -> examples -> judge before -> fit -> adapter -> judge after -> report."""
    from judgelab.data.records import item_table
    from judgelab.evaluation.baselines import tfidf_verdicts
    from judgelab.evaluation.judging import evaluate_verdicts
    from judgelab.evaluation.study import JudgeStudy
    from judgelab.models.adapter import adapter_identity
    from judgelab.reporting.judge_report import model_card, report_training
    from judgelab.run.folder import write_parquet
    from judgelab.run.run import start_run
    from judgelab.scoring.requests import Judge
    from judgelab.scoring.store import SCHEMA
    from judgelab.training.adapter import export_adapter
    from judgelab.training.callbacks import with_all_columns
    from judgelab.training.job import TrainingJob

    with start_run("train", config) as run:
        if run.finished:
            return
        study = JudgeStudy(config)
        for name, sha in study.pool.inputs.items():
            run.add_input(name, sha)
        run.add_input(config.model.name, study.base.identity)
        job = TrainingJob.prepare(config, study.pool, study.base, study.renderer)
        if run.replica:
            job.fit(run.folder / "checkpoints", run.tracker.log)
            return

        shards = run.folder / "scores"
        before = study.judge_test_split(job.model, Judge("before", study.base.identity), shards)
        history = job.fit(run.folder / "checkpoints", run.tracker.log)
        adapter = run.folder / "adapter"
        export_adapter(job.model, study.base.tokenizer, adapter, study.card(), model_card(config, job))
        identity = f"{study.base.identity}+{adapter_identity(adapter)}"
        after = study.judge_test_split(job.model, Judge("after", identity), shards)
        baseline = evaluate_verdicts("tfidf", study.pool.test, tfidf_verdicts(study.pool.train, study.pool.test))

        write_parquet(run.folder / "items.parquet", item_table(study.pool.test))
        write_parquet(run.folder / "scores.parquet", [*before.rows, *after.rows], SCHEMA)
        write_parquet(run.folder / "history.parquet", with_all_columns(history))
        report_training(run, config, study, job, before, after, baseline, history)


if __name__ == "__main__":
    launch("train", main)
