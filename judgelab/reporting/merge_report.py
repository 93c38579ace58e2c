"""What a person reads after experts were merged: macro-F1 by λ, the merges beside the conditions, their distances."""

from collections.abc import Iterator, Mapping

from matplotlib.figure import Figure

from judgelab.config.schema import Condition, MergeMethod, MergeRoot
from judgelab.evaluation.conditions import BASE, ConditionScore
from judgelab.evaluation.merge_study import MergeStudy, merge_label
from judgelab.reporting.conditions_report import (
    GLOSSARY,
    condition_metrics,
    condition_warnings,
    contrast_table,
    score_table,
)
from judgelab.reporting.figures import canvas, save_figure
from judgelab.reporting.formats_figures import COLORS
from judgelab.reporting.report import finish_report
from judgelab.reporting.tables import Cell, Table
from judgelab.run.run import Run

OPTIMISTIC = (
    "The best λ is the one of the highest macro-F1 on the very test split that is reported, as in the paper: "
    "its figure is optimistic."
)
Scores = Mapping[tuple[str, str], ConditionScore]


def report_merges(run: Run, config: MergeRoot, study: MergeStudy) -> None:
    """Metrics, figures, report.html, and the table by λ on the screen."""
    scores = {(score.criterion, score.condition): score for score in study.conditions.scores}
    distances = {
        f"distances/{each.criterion}/{merge_label(each.method, each.weight)}": each.distance for each in study.distances
    }
    run.write_metrics({**dict(condition_metrics(study.conditions)), **distances})
    tables = [
        lambda_table(scores, config),
        summary_table(scores, config),
        contrast_table(study.conditions.contrasts),
        distance_table(study),
        score_table(study.conditions),
    ]
    figures = [
        (
            f"{criterion}: macro-F1 of the merges by the share λ of the pointwise expert.",
            save_figure(lambda_figure(criterion, scores, config), run.folder, f"lambda_{criterion}"),
        )
        for criterion in _criteria(scores)
    ]
    facts = (
        ("training runs", str(len(config.runs))),
        ("density", f"{config.density:g}"),
        ("rescale", config.rescale.value),
        ("resamples", f"{config.resamples:,}"),
        ("seed", str(config.seed)),
    )
    glossary = (*GLOSSARY, ("λ", "The share of the pointwise expert's update; the pairwise expert has 1 − λ."))
    shown = [table for table in tables if table.rows]
    finish_report(run.folder, config, shown, figures, list(_warnings(study)), facts, glossary)


def lambda_table(scores: Scores, config: MergeRoot) -> Table:
    """CPA's Table 3: a row per criterion and method, a column per λ."""
    rows = tuple(
        (
            criterion,
            method.value,
            *(_shown(scores[criterion, merge_label(method, weight)]) for weight in config.lambdas),
        )
        for criterion in _criteria(scores)
        for method in config.methods
    )
    columns = ("criterion", "method", *(f"λ = {weight:g}" for weight in config.lambdas))
    return Table("Macro-F1 of merged judges", columns, rows)


def summary_table(scores: Scores, config: MergeRoot) -> Table:
    """CPA's Table 1 with the first method's best λ in place of the merge."""
    method = config.methods[0]
    rows = []
    for criterion in _criteria(scores):
        weight = max(config.lambdas, key=lambda each: scores[criterion, merge_label(method, each)].macro_f1)
        best = scores[criterion, merge_label(method, weight)]
        trained = [scores.get((criterion, each)) for each in (BASE, "pointwise", "pairwise")]
        joint = scores.get((criterion, Condition.joint.value))
        cells: list[Cell] = [_shown(each) for each in (*trained, best, joint)]
        rows.append((criterion, *cells, weight))
    columns = ("criterion", BASE, "pointwise", "pairwise", f"{method.value}, best λ", "joint", "best λ")
    return Table("Macro-F1 by condition", columns, tuple(rows), note=OPTIMISTIC)


def distance_table(study: MergeStudy) -> Table:
    """How far each method's update lies from the linear merge, in relative Frobenius norm."""
    rows = tuple((e.criterion, e.method.value, e.weight, e.distance, e.seeds) for e in study.distances)
    note = "‖ΔW − ΔW_linear‖ / ‖ΔW_linear‖ over all projections, mean over seeds."
    return Table("Distance from the linear merge", ("criterion", "method", "λ", "distance", "seeds"), rows, note)


def lambda_figure(criterion: str, scores: Scores, config: MergeRoot) -> Figure:
    """Macro-F1 by λ, a line per method; trained conditions as level lines."""
    figure, axes = canvas(6.4, 3.4)
    places = sorted(config.lambdas)
    for color, marker, method in zip(COLORS, "osD", MergeMethod, strict=False):
        if method in config.methods:
            found = [scores[criterion, merge_label(method, weight)] for weight in places]
            axes.errorbar(
                places,
                [score.macro_f1 for score in found],
                yerr=[score.sd or 0.0 for score in found],
                color=color,
                marker=marker,
                capsize=2.5,
                label=method.value,
            )
    for color, style, condition in zip(COLORS[3:], ("-", "--", ":"), Condition, strict=True):
        if score := scores.get((criterion, condition.value)):
            axes.axhline(score.macro_f1, color=color, linestyle=style, linewidth=1.2, label=condition.value)
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(0, 1)
    axes.set_xlabel("λ, the share of the pointwise expert")
    axes.set_ylabel("macro-F1 (mean ± sd)")
    figure.legend(loc="outside upper left", ncols=6, frameon=False, fontsize=7.5)
    return figure


def _criteria(scores: Scores) -> list[str]:
    return list(dict.fromkeys(criterion for criterion, _ in scores))


def _shown(score: ConditionScore | None) -> Cell:
    if score is None:
        return None
    return score.macro_f1 if score.sd is None else f"{score.macro_f1:.3f} ± {score.sd:.3f}"


def _warnings(study: MergeStudy) -> Iterator[str]:
    yield OPTIMISTIC
    if study.unpaired:
        yield f"{study.unpaired} pointwise or pairwise runs have no partner of their seed and were not merged."
    yield from condition_warnings(study.conditions)
