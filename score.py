"""Score a pool of candidate responses with one judge under every format, or make pairs of responses.

Consumes a pool (data=…) and writes scores.parquet and candidates.parquet; of public files (bio_pairs,
pairs.folder=…) it writes pairs.parquet, of labelled items (cpa_synthesize, data=…) items.jsonl and
attempts.parquet; with metrics.json, figures/, report.html and manifest.json into its run folder.
In under a minute on a CPU: python score.py experiment=formats_sample debug=tiny
"""

from judgelab.config.launch import launch
from judgelab.config.schema import PairsRoot, ScoreRoot, SynthesisRoot


def main(config: ScoreRoot | PairsRoot | SynthesisRoot) -> None:
    """The task whose root the experiment has."""
    if isinstance(config, PairsRoot):
        build_verifiable_pairs(config)
    elif isinstance(config, SynthesisRoot):
        synthesize_pairs(config)
    else:
        score_pool(config)


def score_pool(config: ScoreRoot) -> None:
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


def build_verifiable_pairs(config: PairsRoot) -> None:
    """Labelled examples -> mutated candidates -> one pair per source -> report."""
    from judgelab.reporting.pairs_report import report_pairs
    from judgelab.run.run import start_run
    from judgelab.synthesis.bio_pairs import build_pairs
    from judgelab.synthesis.pair_rows import write_pairs

    with start_run("score", config) as run:
        if run.finished:
            return
        table = build_pairs(config.pairs, config.seed)
        for name, sha in table.inputs.items():
            run.add_input(name, sha)
        write_pairs(run.folder / "pairs.parquet", table.rows)
        report_pairs(run, config, table)


def synthesize_pairs(config: SynthesisRoot) -> None:
    """Labelled items -> counterfactuals, audits and rationales -> training rows -> report."""
    from judgelab.models.sentence_encoder import load_encoder
    from judgelab.reporting.synthesis_report import report_synthesis
    from judgelab.run.folder import write_parquet
    from judgelab.run.run import start_run
    from judgelab.synthesis.cpa_rows import ATTEMPTS, attempt_rows, test_row, training_row, write_rows
    from judgelab.synthesis.cpa_synthesis import synthesize
    from judgelab.synthesis.minimality import minimality
    from judgelab.synthesis.roles import start_roles

    with start_run("score", config) as run:
        if run.finished:
            return
        pool = config.data.load(config.criterion.name, tuple(config.criterion.slots), config.seed)
        for name, sha in pool.inputs.items():
            run.add_input(name, sha)
        roles = start_roles(config, run.folder / "replies")
        for name, role in roles.items():
            run.add_input(f"{name} {role.judge.label}", role.judge.identity)
        made = synthesize(pool, config, roles)
        items = {item.item_id: item for item in made.items}
        write_parquet(run.folder / "attempts.parquet", attempt_rows(made.attempts, items), ATTEMPTS)
        rows = [
            training_row(item, made.pairs.get(name), made.rationales[name], made.pair_rationales.get(name))
            for name, item in items.items()
        ]
        write_rows(run.folder / "items.jsonl", [*rows, *map(test_row, pool.test)])
        texts = [(items[name].response, pair.text) for name, pair in made.pairs.items()]
        report_synthesis(run, config, made, minimality(texts, load_encoder(config.encoder, config.seed)), roles)


if __name__ == "__main__":
    launch("score", main)
