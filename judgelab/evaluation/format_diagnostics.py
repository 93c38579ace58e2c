"""The diagnostics of one judge under one format (Format paper, Tables 1, 4, 5 and 10), from its score rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judgelab.config.schema import Comparison, FormatConfig
from judgelab.evaluation.candidate_scores import RatedPool, Reading, candidate_scores, matches, readings
from judgelab.evaluation.levels import (
    Capacity,
    Codes,
    Subsample,
    capacity,
    effective_levels,
    level_counts,
    round_number_share,
    subsamples,
    tie_probability,
)
from judgelab.evaluation.rank_agreement import OverPool, WithinPrompts, over_pool, within_prompts
from judgelab.evaluation.scoring_runs import ScoringRun
from judgelab.evaluation.slots import GapCorrelation, SlotModel, SlotShares, gap_correlation, slot_model, slot_shares
from judgelab.evaluation.top_choice import PositionRates, TopChoice, position_rates, top_choice, top_tied
from judgelab.scoring.score import ERROR

FRACTIONS = (0.1, 1 / 3, 2 / 3, 1.0)
"""Parts of the pool over which Table 10's curve is drawn."""


@dataclass(frozen=True)
class Settings:
    """What a reader may choose: orders α of the effective levels, draws per part of the pool, the seed of all draws."""

    alphas: tuple[float, ...]
    draws: int
    seed: int


@dataclass(frozen=True)
class Cell:
    """One judge under one format: coverage, levels, agreement with the reference, and what a selector would get.

    Figures of scores are over the `scored` of all `candidates`; null where undefined.
    """

    judge: str
    format: str
    paper: bool
    """Whether the scores are asked as in the paper; a comparison's reading in both orders is not."""
    candidates: int
    scored: int
    requests: int
    parse_rate: float | None
    flip_rate: float | None
    mean: float | None
    distinct: int
    ties: float | None
    effective: Mapping[float, float | None]
    capacity: Capacity | None
    round_numbers: tuple[float, float] | None
    top_tied: float | None
    within: WithinPrompts
    over: OverPool
    top: TopChoice
    curve: tuple[Subsample, ...]
    positions: tuple[PositionRates, ...]


@dataclass(frozen=True)
class Slots:
    """Slot diagnostics of one judge under one comparative format; self-comparisons stand apart.

    `gap` is null where no comparison was judged in both orders.
    """

    judge: str
    format: str
    model: SlotModel
    gap: GapCorrelation | None
    asked: SlotShares
    alone: SlotShares


def cells(run: ScoringRun, pool: RatedPool, keys: Codes, settings: Settings) -> Iterator[Cell]:
    """The diagnostics of every format of a run; comparisons in both orders give a second cell."""
    for name, rows in _rows_by_format(run):
        for reading in readings(name, rows):
            yield _cell(run, run.formats[name], reading, pool, keys, settings)


def slots(run: ScoringRun, pool: RatedPool) -> Iterator[Slots]:
    """Slot diagnostics of every comparative format whose verdicts are whole numbers."""
    for name, rows in _rows_by_format(run):
        fmt = run.formats[name]
        if fmt.comparison is Comparison.none or not all(map(_is_whole, fmt.verdicts)):
            continue
        alone = rows["candidate_id"] == rows["other_id"]
        compared = matches(rows[~alone], pool)
        model = slot_model(compared.forward, compared.reverse)
        preference = (compared.forward - compared.reverse) / 2
        # Both orders of a response beside itself are one prompt, and so one reply.
        itself = rows[alone].drop_duplicates(["prompt_id", "candidate_id", "repeat"])
        yield Slots(
            judge=run.judge,
            format=name,
            model=model,
            gap=gap_correlation(preference, compared.gap) if model.bias else None,
            asked=slot_shares(pd.to_numeric(rows[~alone]["verdict"]).to_numpy(float)),
            alone=slot_shares(pd.to_numeric(itself["verdict"]).to_numpy(float)),
        )


def _rows_by_format(run: ScoringRun) -> Iterator[tuple[str, pd.DataFrame]]:
    by_name = dict(iter(run.rows.groupby("format", sort=False)))
    for name in run.formats:
        if name in by_name:
            yield name, by_name[name]


def _is_whole(verdict: str) -> bool:
    return verdict.lstrip("+-").isdecimal()


def _cell(
    run: ScoringRun, fmt: FormatConfig, reading: Reading, pool: RatedPool, keys: Codes, settings: Settings
) -> Cell:
    rows = reading.rows
    scores = candidate_scores(rows, fmt.comparison, pool)
    counts = level_counts(scores)
    parsed = rows["verdict"].dropna()
    answered = int((rows["status"] != ERROR).sum())
    return Cell(
        judge=run.judge,
        format=reading.name,
        paper=reading.name == fmt.name,
        candidates=len(scores),
        scored=int(counts.sum()),
        requests=len(rows),
        parse_rate=float((rows["status"] == "ok").sum() / answered) if answered else None,
        flip_rate=run.flip_rates[fmt.name],
        mean=float(np.nanmean(scores)) if counts.sum() else None,
        distinct=len(counts),
        ties=tie_probability(counts),
        effective={alpha: effective_levels(counts, alpha) for alpha in settings.alphas},
        capacity=capacity(counts, len(set(fmt.verdicts.values()))) if _one_verdict_per_score(fmt, rows) else None,
        round_numbers=round_number_share(parsed.tolist(), list(fmt.verdicts)),
        top_tied=top_tied(pool.prompts, scores)[0],
        within=within_prompts(pool.prompts, scores, pool.reference),
        over=over_pool(scores, pool.reference),
        top=top_choice(pool.prompts, scores, pool.reference, keys),
        curve=tuple(subsamples(scores, pool.prompts, FRACTIONS, settings.draws, settings.seed)),
        positions=tuple(position_rates(pool.prompts, pool.positions, scores)),
    )


def _one_verdict_per_score(fmt: FormatConfig, rows: pd.DataFrame) -> bool:
    """Whether a score is one of the format's K levels, which a mean over matches, orders or repeats is not.

    A probability-weighted score is not either; its rows hold scores that no verdict maps to.
    """
    if fmt.comparison is Comparison.all_pairs or rows["repeat"].nunique() > 1 or rows["order"].nunique() > 1:
        return False
    levels = np.array(sorted(fmt.verdicts.values()))
    scores = rows["score"].dropna().to_numpy()
    return bool(np.isclose(scores[:, None], levels[None], atol=1e-9).any(axis=1).all()) if len(scores) else True
