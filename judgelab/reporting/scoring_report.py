"""What a person reads after a pool was scored: coverage, distinct values and ties per format, and sample verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from judgelab.config.schema import ScoreRoot
from judgelab.data.candidates import CandidatePool
from judgelab.evaluation.score_summary import ENOUGH_PARSED, Flips, ScoreSummary, captured_mass, flip_rates, summarize
from judgelab.reporting.figures import histogram_figure, save_figure
from judgelab.reporting.report import finish_report
from judgelab.reporting.tables import Cell, Table
from judgelab.run.run import Run
from judgelab.scoring.repeats import judgment_scores

GLOSSARY = (
    ("parse rate", "Share of replies with a readable verdict; a request without a reply is an error and no reply."),
    ("mean score", "Over judgments; one that was asked several times scores the mean of its samples."),
    ("distinct", "How many different scores occur; scores are equal when they agree to nine decimals."),
    ("tie probability", "Σ p²: how likely two scores drawn with replacement are equal."),
    ("top share", "Share of the most frequent score."),
    (
        "captured mass",
        "How likely the judge replies with any legal verdict and nothing else; expected scores are means over those "
        "replies alone.",
    ),
    ("flip rate", "Share of verdicts that changed when the same request was asked again, where both replies parsed."),
    ("replies changed", "Share of replies whose text changed at all when the same request was asked again."),
)
ENOUGH_MASS = 0.5


FormatFlips = Mapping[str, Flips]
Masses = Mapping[str, tuple[float, int]]


def report_scoring(
    run: Run,
    config: ScoreRoot,
    pool: CandidatePool,
    unanchored: Mapping[str, int],
    cut_requests: int,
    again: Sequence[Mapping[str, Any]],
) -> None:
    """Metrics, tracked verdict samples, figure, report.html, and the table of formats on the screen."""
    scores = pq.read_table(run.folder / "scores.parquet").to_pandas()
    summaries = summarize(scores)
    flips = flip_rates(scores, pd.DataFrame(again)) if again else {}
    masses = captured_mass(scores)
    run.count_tokens("judge_prompts", int(scores["prompt_tokens"].sum()))
    run.count_tokens("judge_replies", int(scores["completion_tokens"].sum()))
    run.write_metrics(_metrics(summaries, flips, masses) | _left_out(unanchored))
    columns = ("format", "prompt_id", "candidate_id", "other_id", "order", "status", "verdict", "score", "mass", "text")
    run.tracker.table("verdict samples", columns, _samples(scores, columns, config.logger.sample_rows))
    by_format = judgment_scores(scores).groupby("format", sort=False)
    values = {name: rows["score"].dropna().tolist() for name, rows in by_format}
    figures = [("Scores by format.", save_figure(histogram_figure(values), run.folder, "scores"))]
    facts = (
        ("judge", config.model.name),
        ("adapter", config.adapter or "none"),
        ("engine", config.engine.name),
        ("pool", config.data.name),
        ("schedule of comparisons", config.scoring.schedule.value),
        ("samples per judgment", str(config.scoring.repeats)),
        ("seed", str(config.seed)),
    )
    tables = (format_table(summaries, flips, masses), status_table(summaries), pool_table(pool, unanchored))
    warnings = _warnings(summaries, masses, cut_requests)
    warnings += [
        f"{name}: {count} of {len(pool.prompts)} prompts have no reference score, so no anchor; this format leaves "
        "them out, the others do not."
        for name, count in unanchored.items()
        if count
    ]
    finish_report(run.folder, config, tables, figures, warnings, facts, GLOSSARY)


def format_table(summaries: Sequence[ScoreSummary], flips: FormatFlips, masses: Masses) -> Table:
    """One row per format."""
    columns: tuple[str, ...] = (
        "format",
        "requests",
        "parse rate",
        "mean score",
        "distinct",
        "tie probability",
        "top share",
    )
    if masses:
        columns += ("captured mass",)
    if flips:
        columns += ("flip rate", "parsed twice", "replies changed", "asked again")
    rows = tuple(_format_cells(summary, flips, masses) for summary in summaries)
    return Table("Scores by format", columns, rows, note="Under formats that compare, a score is Response A's.")


def _format_cells(s: ScoreSummary, flips: FormatFlips, masses: Masses) -> tuple[Cell, ...]:
    cells: tuple[Cell, ...] = (s.format, s.requests, s.parse_rate, s.mean, s.distinct, s.tie_probability, s.top_share)
    if masses:
        cells += (masses.get(s.format, (None, 0))[0],)
    if flips:
        cells += astuple(flips[s.format]) if s.format in flips else (None, 0, None, 0)
    return cells


def status_table(summaries: Sequence[ScoreSummary]) -> Table:
    """How the replies of each format could be read."""
    statuses = ("ok", "invalid", "truncated", "refused", "error")
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (s.format, *(s.statuses.get(status, 0) for status in statuses)) for s in summaries
    )
    return Table("Replies by status", ("format", *statuses), rows)


def pool_table(pool: CandidatePool, unanchored: Mapping[str, int]) -> Table:
    """How large the pool is, and what was left out of it."""
    sizes = (
        ("prompts", len(pool.prompts)),
        ("candidates", sum(len(prompt.candidates) for prompt in pool.prompts)),
        ("prompts held out", len(pool.held_out)),
    )
    counted = tuple((name.replace("_", " "), count) for name, count in sorted(pool.counts.items()))
    anchors = tuple((f"prompts without an anchor ({name})", count) for name, count in unanchored.items())
    return Table("Pool", ("what", "count"), sizes + anchors + counted)


def _left_out(unanchored: Mapping[str, int]) -> dict[str, float | None]:
    return {f"scoring/{name}/prompts_without_anchor": count for name, count in unanchored.items()}


def _metrics(summaries: Sequence[ScoreSummary], flips: FormatFlips, masses: Masses) -> dict[str, float | None]:
    metrics: dict[str, float | None] = {}
    for summary in summaries:
        prefix = f"scoring/{summary.format}"
        metrics |= {
            f"{prefix}/requests": summary.requests,
            f"{prefix}/n": summary.statuses.get("ok", 0),
            f"{prefix}/parse_rate": summary.parse_rate,
            f"{prefix}/mean": summary.mean,
            f"{prefix}/distinct": summary.distinct,
            f"{prefix}/tie_probability": summary.tie_probability,
        }
    for name, each in flips.items():
        metrics |= {
            f"scoring/{name}/flip_rate": each.rate,
            f"scoring/{name}/flip_n": each.parsed,
            f"scoring/{name}/replies_changed": each.replies_changed,
            f"scoring/{name}/replies_changed_n": each.asked,
        }
    for name, (mass, n) in masses.items():
        metrics |= {f"scoring/{name}/captured_mass": mass, f"scoring/{name}/captured_mass_n": n}
    return metrics


def _samples(scores: pd.DataFrame, columns: Sequence[str], count: int) -> list[list[Any]]:
    """The first rows of every format, so that none fills the table alone."""
    shown = scores.groupby("format", sort=False).head(max(count // scores["format"].nunique(), 1))
    return [[None if pd.isna(cell) else cell for cell in row] for row in shown[list(columns)].itertuples(index=False)]


def _warnings(summaries: Sequence[ScoreSummary], masses: Masses, cut_requests: int) -> list[str]:
    warnings = [
        f"{s.format}: only {s.parse_rate:.0%} of replies carried a readable verdict; every figure is over those alone."
        for s in summaries
        if s.parse_rate is not None and s.parse_rate < ENOUGH_PARSED
    ]
    warnings += [
        f"{name}: legal verdicts captured only {mass:.2g} of the probability on average; the judge would mostly reply "
        "with something else, and its expected scores say little."
        for name, (mass, _) in masses.items()
        if mass < ENOUGH_MASS
    ]
    if cut_requests:
        warnings.append(f"{cut_requests} requests lost data text to fit scoring.max_length.")
    return warnings
