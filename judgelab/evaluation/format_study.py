"""All diagnostics of finished scoring runs of one pool (Format paper §3)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from judgelab.config.schema import Comparison, FormatsRoot
from judgelab.data.references import as_reference
from judgelab.data.tables import file_table
from judgelab.errors import DataError
from judgelab.evaluation.candidate_scores import KEY, RatedPool, rated_pool
from judgelab.evaluation.format_claims import Claim, claims
from judgelab.evaluation.format_diagnostics import Cell, Settings, Slots, cells, slots
from judgelab.evaluation.format_grid import Shares, ranking, shares
from judgelab.evaluation.score_summary import ENOUGH_PARSED
from judgelab.evaluation.scoring_runs import ScoringRun


@dataclass(frozen=True)
class FormatStudy:
    """Everything that was found; `position_effect` is Spearman's correlation of listing position and reference."""

    pool: RatedPool
    cells: tuple[Cell, ...]
    slots: tuple[Slots, ...]
    shares: tuple[Shares, ...]
    claims: tuple[Claim, ...]
    position_effect: float | None
    warnings: tuple[str, ...]


def study_formats(runs: Sequence[ScoringRun], config: FormatsRoot) -> FormatStudy:
    """Diagnose every judge under every format, and the grid that they make up."""
    pool = rated_pool(runs[0].pool if config.reference is None else with_reference(runs[0].pool, config.reference))
    settings = Settings(tuple(config.diagnostics.alphas), config.diagnostics.draws, config.seed)
    keys = pool.keys(config.seed)
    found = [cell for run in runs for cell in cells(run, pool, keys, settings)]
    by_slot = [each for run in runs for each in slots(run, pool)]
    pointwise = [fmt.name for run in runs for fmt in run.formats.values() if fmt.comparison is Comparison.none]
    explained = list(shares(found, pointwise))
    return FormatStudy(
        pool=pool,
        cells=tuple(found),
        slots=tuple(by_slot),
        shares=tuple(explained),
        claims=tuple(claims(found, by_slot, explained)),
        position_effect=_position_effect(pool),
        warnings=(
            *_order_warnings([cell for cell in found if cell.paper]),
            *_coverage_warnings(found),
            *_slot_warnings(by_slot),
        ),
    )


def with_reference(pool: pd.DataFrame, path: str) -> pd.DataFrame:
    """The pool's table with the ratings of a file; DataError for a candidate that the pool lacks or a second rating.

    A candidate that the file does not name has no reference.
    """
    index = pd.MultiIndex.from_frame(pool[KEY])
    reference = pd.Series(np.nan, index)
    seen: set[tuple[str, str]] = set()
    for row in file_table(path, "reference").rows:
        key = str(row.identifier("prompt_id")), str(row.identifier("candidate_id"))
        if key not in index:
            raise DataError(f"{row.place}: the pool has no candidate {key[1]!r} of prompt {key[0]!r}")
        if key in seen:
            raise DataError(f"{row.place}: candidate {key[1]!r} is rated a second time; keep one rating")
        seen.add(key)
        rating = as_reference(row.value("reference"), "reference", row.place)
        reference[key] = np.nan if rating is None else rating
    return pool.assign(reference=reference.to_numpy())


def _position_effect(pool: RatedPool) -> float | None:
    known = ~np.isnan(pool.reference)
    positions, reference = pool.positions[known], pool.reference[known]
    if len(positions) < 2 or not np.ptp(positions) or not np.ptp(reference):
        return None
    return float(stats.spearmanr(positions, reference).statistic)


def _order_warnings(cells: Sequence[Cell]) -> list[str]:
    """Where τ_b would choose another format than τ_a, which scores a tie as the coin toss that a selector makes it."""
    warnings = []
    for judge in dict.fromkeys(cell.judge for cell in cells):
        by_b = ranking(cells, judge, lambda cell: cell.within.tau_b.mean)
        by_a = [name for name in ranking(cells, judge, lambda cell: cell.within.tau_a.mean) if name in by_b]
        if by_a != by_b:
            warnings.append(
                f"{judge}: τ_b orders the formats {' > '.join(by_b)}, τ_a {' > '.join(by_a)}; "
                "to choose a format for selection, go by τ_a, Somers' D or top-1."
            )
    return warnings


def _coverage_warnings(cells: Sequence[Cell]) -> list[str]:
    return [
        f"{cell.judge}, {cell.format}: only {cell.parse_rate:.0%} of replies carried a readable verdict and "
        f"{cell.scored:,} of {cell.candidates:,} candidates have a score; every figure is over those alone."
        for cell in cells
        if cell.parse_rate is not None and cell.parse_rate < ENOUGH_PARSED
    ]


def _slot_warnings(slots: Sequence[Slots]) -> list[str]:
    return [
        f"{each.judge}, {each.format}: no comparison was judged in both orders, so the pull of a slot is unknown; "
        "score with scoring.schedule=both."
        for each in slots
        if each.model.bias is None
    ]
