"""Whether the claims of the Format paper hold on this pool with these judges, with the figures that decide."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judgelab.evaluation.format_diagnostics import Cell, Slots
from judgelab.evaluation.format_grid import Shares, ranking

HOLDS, FAILS, UNTESTED = "holds", "does not hold", "not tested"
MOST = 0.9
"""Share of the sum of squares from which on the format "determines" a diagnostic; the paper has 0.97 to 0.99."""


@dataclass(frozen=True)
class Claim:
    """A claim, its section, the verdict for this pool, and the figures behind it."""

    section: str
    text: str
    verdict: str
    figures: str


def claims(cells: Sequence[Cell], slots: Sequence[Slots], shares: Sequence[Shares]) -> list[Claim]:
    """All claims of §3 in order; one that the runs at hand cannot decide is not tested, and says what it needs."""
    asked = [cell for cell in cells if cell.paper]
    judges = dict.fromkeys(cell.judge for cell in asked)
    by_judge = {judge: [cell for cell in asked if cell.judge == judge] for judge in judges}
    return [
        _format_sets_ties(shares),
        _few_levels_used(by_judge),
        _round_numbers(asked),
        _coarse_tops_tie(by_judge),
        _orders_differ(by_judge),
        _finer_agrees_more(by_judge),
        _slot_bias(slots),
        _itself_not_tied(slots),
    ]


def _claim(section: str, text: str, outcomes: Sequence[bool], figures: str, needs: str) -> Claim:
    """A claim holds where it does for every judge, or every comparison, that can tell."""
    if not outcomes:
        return Claim(section, text, UNTESTED, f"needs {needs}")
    verdict = HOLDS if all(outcomes) else FAILS
    count = f"{sum(outcomes)} of {len(outcomes)}: " if len(outcomes) > 1 else ""
    return Claim(section, text, verdict, count + figures)


def _format_sets_ties(shares: Sequence[Shares]) -> Claim:
    found = [s for s in shares if s.diagnostic in {"tie probability", "top tied"} and s.left_out is None and s.shares]
    full = {s.diagnostic: s.shares for s in reversed(found) if s.shares}
    text = f"The format, not the judge, explains at least {MOST:.0%} of the spread of ties."
    figures = ", ".join(f"{name}: format {s.format:.1%}, judge {s.judge:.1%}" for name, s in sorted(full.items()))
    return _claim("3.1", text, [s.format >= MOST for s in full.values()], figures, "two judges and two formats")


def _few_levels_used(by_judge: dict[str, list[Cell]]) -> Claim:
    pairs = list(_pairs(by_judge, "likert5", "numeric100"))
    levels = [(1 / fine.ties, 1 / coarse.ties) for coarse, fine in pairs if fine.ties and coarse.ties]
    return _claim(
        "3.2",
        "Numeric-100 is worth a few times the effective levels (D₂) of Likert-5, not twenty times.",
        [coarse < fine < 10 * coarse for fine, coarse in levels],
        ", ".join(f"{fine:.1f} against {coarse:.1f}" for fine, coarse in levels),
        "scores under likert5 and numeric100",
    )


def _round_numbers(cells: Sequence[Cell]) -> Claim:
    found = [cell.round_numbers for cell in cells if cell.round_numbers]
    return _claim(
        "3.2",
        "Most verdicts on a wide scale are multiples of five.",
        [share > 0.5 for share, _ in found],
        ", ".join(f"{share:.1%} of verdicts ({chance:.1%} of the scale)" for share, chance in found),
        "parsed verdicts under numeric100",
    )


def _coarse_tops_tie(by_judge: dict[str, list[Cell]]) -> Claim:
    pairs = [
        (coarse.top_tied, fine.top_tied)
        for coarse, fine in _pairs(by_judge, "binary", "numeric100")
        if coarse.top_tied is not None and fine.top_tied is not None
    ]
    return _claim(
        "3.3",
        "The best score is shared in more prompts under binary than under numeric100.",
        [coarse > fine for coarse, fine in pairs],
        ", ".join(f"{coarse:.1%} against {fine:.1%}" for coarse, fine in pairs),
        "scores under binary and numeric100",
    )


def _orders_differ(by_judge: dict[str, list[Cell]]) -> Claim:
    outcomes, figures = [], []
    for judge, cells in by_judge.items():
        by_b = ranking(cells, judge, lambda cell: cell.within.tau_b.mean)
        by_a = [name for name in ranking(cells, judge, lambda cell: cell.within.tau_a.mean) if name in by_b]
        if len(by_b) > 1:
            outcomes.append(by_a != by_b)
            figures.append(f"{judge}: τ_a {' > '.join(by_a)}; τ_b {' > '.join(by_b)}")
    return _claim("3.3", "τ_b orders the formats differently from τ_a.", outcomes, "; ".join(figures), "two formats")


def _finer_agrees_more(by_judge: dict[str, list[Cell]]) -> Claim:
    expected = ["numeric100", "likert5", "binary"]
    found = [
        [name for name in ranking(cells, judge, lambda cell: cell.within.tau_a.mean) if name in expected]
        for judge, cells in by_judge.items()
    ]
    complete = [order for order in found if len(order) == len(expected)]
    return _claim(
        "3.3",
        "By τ_a, numeric100 agrees most with the reference, likert5 comes second, binary last.",
        [order == expected for order in complete],
        ", ".join(" > ".join(order) for order in complete),
        "scores under the three pointwise formats",
    )


def _slot_bias(slots: Sequence[Slots]) -> Claim:
    found = [(s, bias) for s in slots if (bias := s.model.bias) and bias.low is not None and bias.high is not None]
    return _claim(
        "3.4",
        "Comparative formats carry a slot bias: the interval of b leaves out 0.",
        [bias.low > 0 or bias.high < 0 for _, bias in found if bias.low is not None and bias.high is not None],
        ", ".join(f"{s.judge}, {s.format}: {bias.mean:+.2f} [{bias.low:+.2f}, {bias.high:+.2f}]" for s, bias in found),
        "comparisons in both orders (scoring.schedule=both)",
    )


def _itself_not_tied(slots: Sequence[Slots]) -> Claim:
    found = [s for s in slots if s.alone.tie is not None]
    return _claim(
        "3.4",
        "A response beside itself is not always called a tie.",
        [s.alone.tie < 1 for s in found if s.alone.tie is not None],
        ", ".join(f"{s.judge}: {s.alone.tie:.1%} ties, mean verdict {s.alone.mean:+.2f}" for s in found),
        "parsed verdicts under anchored",
    )


def _pairs(by_judge: dict[str, list[Cell]], coarse: str, fine: str) -> Iterator[tuple[Cell, Cell]]:
    for cells in by_judge.values():
        named = {cell.format: cell for cell in cells}
        if coarse in named and fine in named:
            yield named[coarse], named[fine]
