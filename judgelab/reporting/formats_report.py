"""What a person reads after the format diagnostics: tables, figures, claims and the methods box."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from judgelab.config.schema import FormatsRoot
from judgelab.evaluation.format_diagnostics import Cell
from judgelab.evaluation.format_grid import DIAGNOSTICS, grid
from judgelab.evaluation.format_study import FormatStudy
from judgelab.evaluation.scoring_runs import ScoringRun
from judgelab.reporting import formats_tables as tables
from judgelab.reporting.figures import histogram_figure, save_figure
from judgelab.reporting.formats_figures import heat_map, slot_figure, tie_figure
from judgelab.reporting.methods_box import methods_box
from judgelab.reporting.report import finish_report
from judgelab.run.folder import write_atomic
from judgelab.run.run import Run

HEAT_MAPS = ("tie probability", "τ_a")
GLOSSARY = (
    ("ties", "Σ p²: how likely two scores drawn with replacement are equal; D₂ = 1 / ties."),
    ("D_α", "Effective number of equally used levels: exp of Rényi's entropy of order α, in nats."),
    ("TT", "Share of prompts whose best score is shared, so that a selector draws among them."),
    ("τ_a, τ_b, Somers' D", "(C − D) over all pairs, over the pairs untied in both, over those untied in reference."),
    ("top-1", "How often the best-scored candidate is one of the reference's best: exact under a uniform tie-break."),
    ("top-1 drawn", "The same for one seeded draw among tied candidates."),
    ("b, q", "v_fwd = q + b, v_rev = −q + b: the pull of slot A, and the preference for the response first in A."),
    ("flip rate", "Share of verdicts that changed when the same request was asked again (scoring.rescored)."),
    ("(both orders)", "A comparison's scores averaged over both slots, beside the paper's single order."),
)


def report_formats(run: Run, config: FormatsRoot, runs: Sequence[ScoringRun], study: FormatStudy) -> None:
    """Metrics, methods.md, figures, report.html, and the main table and claims on the screen."""
    run.write_metrics(dict(_metrics(study)))
    box = methods_box(runs, study)
    write_atomic(run.folder / "methods.md", box)
    claims = tables.claim_table(study.claims)
    all_tables = (
        tables.main_table(study.cells),
        claims,
        tables.level_table(study.cells),
        tables.agreement_table(study.cells),
        tables.slot_table(study.slots),
        tables.slot_share_table(study.slots),
        tables.position_table(study.cells, study.position_effect),
        tables.share_table(study.shares),
        tables.curve_table(study.cells),
    )
    facts = (
        ("judges", ", ".join(dict.fromkeys(scoring.judge for scoring in runs))),
        ("prompts", f"{int(study.pool.prompts.max()) + 1:,}"),
        ("candidates", f"{len(study.pool.prompts):,}"),
        ("reference", config.reference or "the pool's own"),
        ("seed", str(config.seed)),
    )
    shown = [table for table in all_tables if table.rows]
    figures = list(_figures(run.folder, runs, study))
    texts = (("Methods box", box),)
    finish_report(run.folder, config, shown, figures, study.warnings, facts, GLOSSARY, texts)


def _figures(folder: Path, runs: Sequence[ScoringRun], study: FormatStudy) -> Iterator[tuple[str, Path]]:
    asked = [cell for cell in study.cells if cell.paper]
    judges = list(dict.fromkeys(cell.judge for cell in asked))
    formats = list(dict.fromkeys(cell.format for cell in asked))
    ties = {judge: {cell.format: cell.ties for cell in asked if cell.judge == judge} for judge in judges}
    floors = {cell.format: 1 / cell.capacity.levels for cell in asked if cell.capacity}
    yield "Tie probability by format; dashed: 1/K.", save_figure(tie_figure(ties, floors), folder, "ties")
    if any(each.model.bias for each in study.slots):
        caption = "Slot bias and preference, 95 % intervals."
        yield caption, save_figure(slot_figure(study.slots), folder, "slots")
    for diagnostic in DIAGNOSTICS:
        if diagnostic.name in HEAT_MAPS:
            values = grid(asked, diagnostic, formats, judges)
            name = f"heat_{HEAT_MAPS.index(diagnostic.name)}"
            yield (
                f"Format × judge: {diagnostic.name}.",
                save_figure(heat_map(values, formats, judges, diagnostic.name), folder, name),
            )
    for index, scoring in enumerate(runs):
        values_by_format = {
            name: rows["score"].dropna().tolist() for name, rows in scoring.rows.groupby("format", sort=False)
        }
        yield f"Scores of {scoring.judge}.", save_figure(histogram_figure(values_by_format), folder, f"scores_{index}")


def _metrics(study: FormatStudy) -> Iterator[tuple[str, float | None]]:
    for cell in study.cells:
        yield from _cell_metrics(f"diagnostics/{cell.judge}/{cell.format}", cell)
    for each in study.slots:
        prefix = f"slots/{each.judge}/{each.format}"
        for name, found in (("b", each.model.bias), ("q", each.model.preference)):
            yield f"{prefix}/{name}", found.mean if found else None
            yield f"{prefix}/{name}_low", found.low if found else None
            yield f"{prefix}/{name}_high", found.high if found else None
        yield f"{prefix}/n", each.model.bias.n if each.model.bias else 0
        yield f"{prefix}/itself_tie", each.alone.tie
        yield f"{prefix}/itself_n", each.alone.n
    for explained in study.shares:
        if explained.left_out is None and explained.shares:
            prefix = f"shares/{explained.diagnostic}/{'+'.join(explained.formats)}"
            yield f"{prefix}/format", explained.shares.format
            yield f"{prefix}/judge", explained.shares.judge


def _cell_metrics(prefix: str, cell: Cell) -> Iterator[tuple[str, float | None]]:
    yield f"{prefix}/n", cell.scored
    yield f"{prefix}/parse_rate", cell.parse_rate
    for diagnostic in DIAGNOSTICS:
        yield f"{prefix}/{diagnostic.name}", diagnostic.of(cell)
