"""Score a pool of candidate responses with one judge, under every format of `formats`.

Consumes a pool (data=…); writes scores.parquet, candidates.parquet, metrics.json, figures/, report.html and
manifest.json into its run folder.
In under a minute on a CPU: python score.py experiment=formats_sample debug=tiny
"""

from judgelab.config.launch import launch
from judgelab.config.schema import ScoreRoot


def main(config: ScoreRoot) -> None:
    """Pool -> judge x format -> score rows -> report."""
    from judgelab.data.candidates import candidate_table
    from judgelab.reporting.scoring_report import report_scoring
    from judgelab.run.folder import write_parquet
    from judgelab.run.run import start_run
    from judgelab.scoring.pool import PoolScoring, check_answered
    from judgelab.scoring.requests import Asking, Judge
    from judgelab.scoring.rescoring import rescored_rows
    from judgelab.scoring.schedule import without_anchor

    with start_run("score", config) as run:
        if run.finished:
            return
        pool = config.data.load(config.seed)
        for name, sha in pool.inputs.items():
            run.add_input(name, sha)
        unanchored = without_anchor(pool.prompts, config.formats)
        judge = config.engine.start(config)
        run.add_input(config.model.name, judge.identity)
        write_parquet(run.folder / "candidates.parquet", candidate_table(pool.prompts))
        asking = Asking(
            Judge(config.model.name, judge.identity),
            config.criterion,
            judge.renderer,
            config.decoding,
            config.scoring.max_length,
            config.seed,
        )
        scoring = PoolScoring(asking, judge.engine, config.formats, config.scoring, run.folder / "scores")
        scoring.run(pool, judge.requests_per_call)
        cut_requests = scoring.combine(run.folder / "scores.parquet")
        check_answered(run.folder / "scores.parquet")
        again = rescored_rows(scoring, pool, config.scoring.rescored)
        report_scoring(run, config, pool, unanchored, cut_requests, again)


if __name__ == "__main__":
    launch("score", main)
