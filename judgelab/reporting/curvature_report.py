"""What a person reads after curvatures were measured: the two conditions, directions, bias by λ, κ and λ*."""

from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.figure import Figure

from judgelab.config.schema import CurvatureRoot
from judgelab.evaluation.curvature_study import LOSSES, CriterionCurvature
from judgelab.evaluation.second_order import excess_risk, merge_bias
from judgelab.reporting.figures import canvas, save_figure
from judgelab.reporting.formats_figures import COLORS
from judgelab.reporting.report import finish_report
from judgelab.reporting.tables import Cell, Table
from judgelab.run.run import Run

Rows = tuple[tuple[Cell, ...], ...]
DIRECTIONS = ("criterion", "gap", "random", "leading pointwise", "leading pairwise")
GLOSSARY = (
    ("space", "The updates that the experts of one criterion span; lengths are Frobenius norms of the dense update."),
    ("criterion direction", "Mean pointwise gradient of label 1 minus that of label 0, at the pointwise expert."),
    ("gap Δ*", "The pairwise expert minus the pointwise expert."),
    ("separation b", "Δ*ᵀH_pointΔ*, in nats per target token."),
    ("v, ρ", "εᵀH_pointε of the pointwise experts around their mean over seeds; correlation of both experts' errors."),
    ("κ, λ*", "v(1 − ρ)/b and (1 + κ)/(1 + 2κ), the share of the pointwise expert that the model holds best."),
)


def report_curvature(run: Run, config: CurvatureRoot, criteria: Sequence[CriterionCurvature]) -> None:
    """Metrics, figures, report.html, and the table of conditions on the screen."""
    run.write_metrics(dict(_metrics(criteria)))
    tables = [condition_table(criteria, config)]
    tables += [table(criteria) for table in (direction_table, gradient_table, bias_table)]
    figures = []
    for each in criteria:
        bias = save_figure(bias_figure(each), run.folder, f"bias_{each.criterion}")
        figures.append((f"{each.criterion}: excess pointwise loss of the merge, predicted and measured.", bias))
        directions = save_figure(direction_figure(each), run.folder, f"directions_{each.criterion}")
        figures.append((f"{each.criterion}: curvature of both losses along directions, mean over seeds.", directions))
    facts = (
        ("criteria", str(len(criteria))),
        ("seeds", str(max(len(each.seeds) for each in criteria))),
        ("rows per loss", str(config.rows)),
        ("≈ 0 and ≫ 0", f"1/{config.much:g} and {config.much:g} times"),
    )
    finish_report(run.folder, config, tables, figures, list(_warnings(criteria)), facts, GLOSSARY)


def condition_table(criteria: Sequence[CriterionCurvature], config: CurvatureRoot) -> Table:
    """Definition 1's conditions, κ, λ* and the regime."""
    rows: Rows = tuple(
        (
            each.criterion,
            each.gradient_share,
            "yes" if each.small_cost else "no",
            each.sharpness,
            "yes" if each.large_return else "no",
            each.separation,
            each.variance,
            each.correlation,
            each.ratio,
            each.weight,
            each.regime,
            len(each.seeds),
        )
        for each in criteria
    )
    note = (
        "(i): ‖∇L_pair‖ at the pointwise expert over that at the base model. (ii): curvature of L_pair along the "
        f"criterion over that along random directions. (i) holds up to 1/{config.much:g}, (ii) from {config.much:g} on."
    )
    columns = ("criterion", "(i)", "holds", "(ii)", "holds", "b", "v", "ρ", "κ", "λ*", "regime", "seeds")
    return Table("Conditions of a useful pairwise view", columns, rows, note)


def direction_table(criteria: Sequence[CriterionCurvature]) -> Table:
    """Curvature vᵀHv/vᵀv of both losses along every direction, mean over seeds."""
    rows: Rows = tuple(
        (each.criterion, name, *(_mean(each, name, loss) for loss in LOSSES))
        for each in criteria
        for name in DIRECTIONS
    )
    return Table("Curvature along directions", ("criterion", "direction", *LOSSES), rows)


def gradient_table(criteria: Sequence[CriterionCurvature]) -> Table:
    """Gradient norms where training starts and ends."""
    keys = list(criteria[0].seeds[0].gradients)
    rows: Rows = tuple(
        (
            each.criterion,
            *(float(np.mean([seed.gradients[key] for seed in each.seeds])) for key in keys),
            float(np.mean([seed.gap for seed in each.seeds])),
            float(np.mean([seed.alignment for seed in each.seeds])),
        )
        for each in criteria
    )
    columns = ("criterion", *(f"{loss}, {'base' if at == 'base' else at + ' expert'}" for loss, at in keys))
    note = "Quadratic: cosine of ∇L_pair at the pointwise expert with −H_pairΔ*, 1 where L_pair is quadratic."
    return Table("Gradient norms", (*columns, "‖Δ*‖", "quadratic"), rows, note)


def bias_table(criteria: Sequence[CriterionCurvature]) -> Table:
    """B(λ) predicted and measured, mean over seeds."""
    rows: Rows = tuple(
        (
            each.criterion,
            weight,
            *(
                float(np.mean([getattr(seed.biases[place], name) for seed in each.seeds]))
                for name in ("predicted", "with_gradient", "measured")
            ),
        )
        for each in criteria
        for place, weight in enumerate(bias.weight for bias in each.seeds[0].biases)
    )
    columns = ("criterion", "λ", "predicted", "with gradient term", "measured")
    return Table("Excess pointwise loss of the merge, nats per target token", columns, rows)


def bias_figure(study: CriterionCurvature) -> Figure:
    """Predicted bias as a curve, measured as points per seed, and the modelled risk with variance where v is known."""
    figure, axes = canvas(5.4, 3.4)
    weights = np.linspace(0, 1, 101)
    predicted = [merge_bias(study.separation, weight) for weight in weights]
    axes.plot(weights, predicted, color=COLORS[0], label="predicted B(λ)")
    for place, seed in enumerate(study.seeds):
        places = [bias.weight for bias in seed.biases]
        measured = [bias.measured for bias in seed.biases]
        label = "measured, one line per seed" if place == 0 else None
        axes.plot(places, measured, color=COLORS[1], marker="o", linewidth=0.8, label=label)
    if study.variance is not None and study.correlation is not None:
        risk = [excess_risk(weight, study.separation, study.variance, study.correlation) for weight in weights]
        axes.plot(weights, risk, color=COLORS[2], linestyle="--", label="predicted, with variance")
    axes.set_xlabel("λ, the share of the pointwise expert")
    axes.set_ylabel("excess loss (nats per target token)")
    figure.legend(loc="outside upper left", ncols=3, frameon=False, fontsize=7.5)
    return figure


def direction_figure(study: CriterionCurvature) -> Figure:
    """Bars of both losses' curvature along each direction on a symmetric logarithmic axis."""
    figure, axes = canvas(5.4, 3.4)
    values = {loss: [_mean(study, name, loss) for name in DIRECTIONS] for loss in LOSSES}
    smallest = min(abs(value) for each in values.values() for value in each if value)
    for place, (loss, heights) in enumerate(values.items()):
        places = np.arange(len(DIRECTIONS)) + 0.38 * (place - 0.5)
        axes.bar(places, heights, 0.36, color=COLORS[place], label=f"L_{loss}")
    axes.set_yscale("symlog", linthresh=smallest)
    axes.axhline(0, color="black", linewidth=0.6)
    axes.set_xticks(range(len(DIRECTIONS)), [name.replace(" ", "\n") for name in DIRECTIONS])
    axes.set_ylabel("curvature")
    figure.legend(loc="outside upper left", ncols=2, frameon=False, fontsize=7.5)
    return figure


def _mean(study: CriterionCurvature, name: str, loss: str) -> float:
    return float(np.mean([seed.curvatures[name, loss] for seed in study.seeds]))


def _warnings(criteria: Sequence[CriterionCurvature]) -> Iterator[str]:
    for each in criteria:
        if each.correlation is None:
            yield f"{each.criterion}: ρ, v, κ and λ* need runs of two seeds or more; they are null."
        if each.separation <= 0:
            yield (
                f"{each.criterion}: Δ*ᵀH_pointΔ* is {each.separation:.3g}, so the pointwise expert is no minimum along "
                "Δ*, and κ and λ* are null."
            )


def _metrics(criteria: Sequence[CriterionCurvature]) -> Iterator[tuple[str, float | None]]:
    for each in criteria:
        prefix = f"curvature/{each.criterion}"
        for name in ("gradient_share", "sharpness", "separation", "variance", "correlation", "ratio", "weight"):
            yield f"{prefix}/{name}", getattr(each, name)
        yield f"{prefix}/seeds", len(each.seeds)
        for seed in each.seeds:
            own = f"{prefix}/seed_{seed.seed}"
            for (loss, at), norm in seed.gradients.items():
                yield f"{own}/gradient/{loss}/{at}", norm
            for (direction, loss), curvature in seed.curvatures.items():
                yield f"{own}/curvature/{direction.replace(' ', '_')}/{loss}", curvature
            for bias in seed.biases:
                yield f"{own}/bias/{bias.weight:g}/predicted", bias.predicted
                yield f"{own}/bias/{bias.weight:g}/measured", bias.measured
