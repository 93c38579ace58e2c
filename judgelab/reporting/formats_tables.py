"""Tables of the format diagnostics: the Format paper's Tables 1, 2, 4 to 7 and 10 for the pool at hand."""

from collections.abc import Iterator, Sequence

from judgelab.evaluation.format_claims import Claim
from judgelab.evaluation.format_diagnostics import Cell, Slots
from judgelab.evaluation.format_grid import Shares
from judgelab.evaluation.slots import Estimate
from judgelab.reporting.tables import Cell as TableCell
from judgelab.reporting.tables import Table

JUDGE_FORMAT = ("judge", "format")
Row = tuple[TableCell, ...]


def main_table(cells: Sequence[Cell]) -> Table:
    """Table 1: ties, effective levels, tied tops, and agreement with the reference."""
    columns = ("parse rate", "ties", "D₂", "TT", "Spearman", "τ_b", "τ_a", "Somers' D", "top-1", "top-1 drawn")
    rows = tuple(
        (
            c.judge,
            c.format,
            c.parse_rate,
            c.ties,
            1 / c.ties if c.ties else None,
            c.top_tied,
            c.over.spearman,
            c.within.tau_b.mean,
            c.within.tau_a.mean,
            c.within.somers_d.mean,
            c.top.expected,
            c.top.drawn,
        )
        for c in cells
    )
    uniform = {round(c.top.uniform, 3) for c in cells if c.top.uniform is not None}
    blind = f" Choosing blindly, top-1 is {', '.join(f'{value:.3f}' for value in sorted(uniform))}." if uniform else ""
    note = "Spearman over the pool; τ_b, τ_a and Somers' D are means within prompts." + blind
    return Table("Judges under formats", JUDGE_FORMAT + columns, rows, note=note)


def level_table(cells: Sequence[Cell]) -> Table:
    """Table 5: distinct values beside the pool size, effective levels, capacity, round numbers, flip rate."""
    alphas = list(dict.fromkeys(alpha for c in cells for alpha in c.effective))
    columns = (
        *("scored", "of", "mean", "distinct", *(f"D_{alpha:g}" for alpha in alphas)),
        *("K", "D₂ / K", "ln D₂ / ln K", "ties above 1/K", "multiples of 5", "of the scale", "flip rate"),
    )
    return Table("Levels", JUDGE_FORMAT + columns, tuple(_levels(c, alphas) for c in cells))


def _levels(c: Cell, alphas: Sequence[float]) -> Row:
    used = c.capacity
    capacity = (used.levels, used.share, used.log_share, used.excess_ties) if used else (None,) * 4
    effective = (c.effective[alpha] for alpha in alphas)
    round_numbers = c.round_numbers or (None, None)
    return (
        c.judge,
        c.format,
        c.scored,
        c.candidates,
        c.mean,
        c.distinct,
        *effective,
        *capacity,
        *round_numbers,
        c.flip_rate,
    )


def agreement_table(cells: Sequence[Cell]) -> Table:
    """Agreement in full: within prompts, with undefined prompts as 0 and their count, and over the pool."""
    names = ("τ_b", "Somers' D", "Spearman")
    columns = (
        "prompts",
        *(column for name in names for column in (name, f"{name}, undefined as 0", f"{name} undefined")),
        *("pool τ_b", "pool τ_a", "pool Somers' D", "n"),
    )
    rows = []
    for c in cells:
        within, over = c.within, c.over
        figures: list[TableCell] = [c.judge, c.format, within.tau_a.defined]
        for mean in (within.tau_b, within.somers_d, within.spearman):
            figures += [mean.mean, mean.with_zeros, mean.undefined]
        rows.append((*figures, over.tau_b, over.tau_a, over.somers_d, over.n))
    note = "Undefined: all scores, or all references, of a prompt tie; such prompts leave the mean beside it."
    return Table("Agreement with the reference", JUDGE_FORMAT + columns, tuple(rows), note=note)


def slot_table(slots: Sequence[Slots]) -> Table:
    """Table 4: slot bias b, preference q, and how q follows the reference's gap."""
    columns = (
        "both orders",
        "incomplete",
        "b",
        "95 % of b",
        "q",
        "95 % of q",
        "q, gap: Pearson",
        "its 95 %",
        "Spearman",
    )
    rows = []
    for s in slots:
        gap = s.gap
        correlation = (gap.pearson, _interval(gap.low, gap.high), gap.spearman) if gap else (None, None, None)
        n = s.model.bias.n if s.model.bias else 0
        estimates = (*_estimate(s.model.bias), *_estimate(s.model.preference))
        rows.append((s.judge, s.format, n, s.model.incomplete, *estimates, *correlation))
    note = "On the verdict's scale; b > 0 pulls toward slot A. Comparisons of a response with itself stand apart."
    return Table("Slot bias", JUDGE_FORMAT + columns, tuple(rows), note=note)


def _estimate(estimate: Estimate | None) -> tuple[TableCell, TableCell]:
    return (estimate.mean, _interval(estimate.low, estimate.high)) if estimate else (None, None)


def _interval(low: float | None, high: float | None) -> str | None:
    return None if low is None or high is None else f"[{low:+.2f}, {high:+.2f}]"


def slot_share_table(slots: Sequence[Slots]) -> Table:
    """Where verdicts fall, over comparisons of two responses and of one with itself."""
    rows: list[Row] = []
    for s in slots:
        for name, share in (("two responses", s.asked), ("itself", s.alone)):
            if share.n + share.unparsed:
                rows.append(
                    (
                        s.judge,
                        s.format,
                        name,
                        share.n,
                        share.unparsed,
                        share.slot_a,
                        share.tie,
                        share.slot_b,
                        share.mean,
                    )
                )
    columns = (*JUDGE_FORMAT, "compared", "parsed", "unparsed", "slot A", "tie", "slot B", "mean verdict")
    return Table("Verdicts by slot", columns, tuple(rows))


def position_table(cells: Sequence[Cell], effect: float | None) -> Table:
    """How often each listing position is chosen, by number of candidates."""
    widest = max((rates.candidates for c in cells for rates in c.positions), default=2)
    rows = tuple(
        (c.judge, c.format, rates.candidates, rates.prompts, 1 / rates.candidates, *_filled(rates.rates, widest))
        for c in cells
        for rates in c.positions
    )
    columns = (*JUDGE_FORMAT, "candidates", "prompts", "no effect", *(f"position {n}" for n in range(1, widest + 1)))
    told = "undefined" if effect is None else f"{effect:.3f}"
    return Table("Chosen listing position", columns, rows, note=f"Spearman of position and reference: {told}.")


def _filled(rates: Sequence[float], width: int) -> Iterator[float | None]:
    yield from rates
    yield from [None] * (width - len(rates))


def share_table(shares: Sequence[Shares]) -> Table:
    """Tables 2, 6 and 7: what the format and the judge explain."""
    rows = tuple(
        (
            each.diagnostic,
            ", ".join(each.formats) or "–",
            each.left_out or "none",
            *((each.shares.format, each.shares.judge, each.shares.residual) if each.shares else (None, None, None)),
        )
        for each in shares
    )
    note = "Shares of the sum of squares over format × judge; – where a cell is missing, or one judge or format only."
    columns = ("diagnostic", "formats", "judge left out", "format", "judge", "residual")
    return Table("Variance shares", columns, rows, note=note)


def curve_table(cells: Sequence[Cell]) -> Table:
    """Table 10: distinct values grow with the pool, D₂ does not."""
    rows = tuple(
        (
            c.judge,
            c.format,
            part.prompts,
            part.draws,
            part.distinct,
            part.distinct_sd,
            part.effective,
            part.effective_sd,
        )
        for c in cells
        for part in c.curve
    )
    columns = (*JUDGE_FORMAT, "prompts", "draws", "distinct", "± distinct", "D₂", "± D₂")
    return Table("Levels by pool size", columns, rows, note="Means over random parts of the pool, sample sd.")


def claim_table(claims: Sequence[Claim]) -> Table:
    """The paper's claims, each with a verdict for this pool."""
    rows = tuple((c.section, c.text, c.verdict, c.figures) for c in claims)
    note = "A claim holds where it does for every judge or comparison that can tell."
    return Table("The paper's claims on this pool", ("§", "claim", "here", "figures"), rows, note=note)
