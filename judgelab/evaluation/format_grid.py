"""The format × judge grid: what the format explains and what the judge (Format paper §3.1, Tables 2, 6 and 7)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from judgelab.evaluation.format_diagnostics import Cell
from judgelab.evaluation.levels import Floats
from judgelab.evaluation.variance_shares import VarianceShares, variance_shares

Figure = Callable[[Cell], float | None]


@dataclass(frozen=True)
class Diagnostic:
    """A figure of a cell, under the name it has in tables; `structural` ones need no reference."""

    name: str
    structural: bool
    of: Figure


def _squared_levels(cell: Cell) -> float | None:
    return 1 / cell.ties if cell.ties else None


DIAGNOSTICS = (
    Diagnostic("tie probability", True, lambda cell: cell.ties),
    Diagnostic("D₂", True, _squared_levels),
    Diagnostic("top tied", True, lambda cell: cell.top_tied),
    Diagnostic("distinct", True, lambda cell: cell.distinct or None),
    Diagnostic("D₂ / K", True, lambda cell: cell.capacity.share if cell.capacity else None),
    Diagnostic("ln D₂ / ln K", True, lambda cell: cell.capacity.log_share if cell.capacity else None),
    Diagnostic("ties above 1/K", True, lambda cell: cell.capacity.excess_ties if cell.capacity else None),
    Diagnostic("Spearman", False, lambda cell: cell.over.spearman),
    Diagnostic("τ_b", False, lambda cell: cell.within.tau_b.mean),
    Diagnostic("τ_a", False, lambda cell: cell.within.tau_a.mean),
    Diagnostic("Somers' D", False, lambda cell: cell.within.somers_d.mean),
    Diagnostic("top-1", False, lambda cell: cell.top.expected),
)


@dataclass(frozen=True)
class Shares:
    """Variance shares of one diagnostic over some formats and judges; null where the table is not complete."""

    diagnostic: str
    formats: tuple[str, ...]
    left_out: str | None
    shares: VarianceShares | None


def shares(cells: Sequence[Cell], pointwise: Sequence[str]) -> Iterator[Shares]:
    """Shares over the paper's readings: all formats, the pointwise ones alone, each also without any one judge.

    Formats for which a diagnostic is undefined by nature (capacity of a mean over matches) leave its table.
    """
    asked = [cell for cell in cells if cell.paper]
    judges = list(dict.fromkeys(cell.judge for cell in asked))
    for diagnostic in DIAGNOSTICS:
        formats = _formats_with(diagnostic, asked)
        for chosen in dict.fromkeys((formats, tuple(name for name in formats if name in pointwise))):
            for left_out in (None, *(judges if len(judges) > 2 else ())):
                kept = [judge for judge in judges if judge != left_out]
                table = grid(asked, diagnostic, chosen, kept)
                yield Shares(diagnostic.name, chosen, left_out, variance_shares(table))


def _formats_with(diagnostic: Diagnostic, cells: Sequence[Cell]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(cell.format for cell in cells if diagnostic.of(cell) is not None))


def grid(cells: Sequence[Cell], diagnostic: Diagnostic, formats: Sequence[str], judges: Sequence[str]) -> Floats:
    """Values [formats, judges] of a diagnostic, NaN where a cell is missing or undefined."""
    values = {(cell.format, cell.judge): diagnostic.of(cell) for cell in cells}
    table = [[values.get((name, judge)) for judge in judges] for name in formats]
    return np.array([[np.nan if value is None else value for value in row] for row in table], dtype=float).reshape(
        len(formats), len(judges)
    )


def ranking(cells: Sequence[Cell], judge: str, figure: Figure) -> list[str]:
    """Formats of a judge from the best figure to the worst; undefined ones leave, equal ones by name."""
    known = [(cell.format, value) for cell in cells if cell.judge == judge and (value := figure(cell)) is not None]
    return [name for name, value in sorted(known, key=lambda entry: (-entry[1], entry[0]))]
