"""What a person reads after training conditions were compared: scores, paired differences, and whether they hold."""

from collections.abc import Iterator, Sequence

from judgelab.config.schema import ConditionsRoot
from judgelab.evaluation.conditions import ConditionStudy, Contrast
from judgelab.reporting.report import finish_report
from judgelab.reporting.tables import Table
from judgelab.run.run import Run

ALPHA = 0.05
GLOSSARY = (
    ("macro-F1", "Mean of the two classes' F1; a reply without a readable verdict counts as a wrong verdict."),
    ("± sd", "Sample standard deviation over training seeds and inference repeats together."),
    (
        "95 %",
        "Percentile interval of a paired bootstrap: items and seeds are resampled, both conditions share the draw.",
    ),
    ("p, Holm", "Two-sided bootstrap p, corrected over all rows of the table; at most 0.05 is a difference."),
)


def report_conditions(run: Run, config: ConditionsRoot, study: ConditionStudy) -> None:
    """Metrics, report.html, and the table of scores on the screen."""
    run.write_metrics(dict(condition_metrics(study)))
    tables = [score_table(study), contrast_table(study.contrasts)]
    facts = (
        ("training runs", str(len(config.runs))),
        ("criteria", str(len({score.criterion for score in study.scores}))),
        ("resamples", f"{config.resamples:,}"),
        ("seed", str(config.seed)),
    )
    shown = [table for table in tables if table.rows]
    finish_report(run.folder, config, shown, [], list(condition_warnings(study)), facts, GLOSSARY)


def score_table(study: ConditionStudy) -> Table:
    """CPA's Table 1 for the runs at hand, with the sizes of its Table 5."""
    rows = tuple(
        (
            score.criterion,
            score.condition,
            score.macro_f1 if score.sd is None else f"{score.macro_f1:.3f} ± {score.sd:.3f}",
            score.parse_rate,
            score.seeds,
            score.repeats,
            score.items,
            score.training_rows or None,
        )
        for score in study.scores
    )
    columns = ("criterion", "condition", "macro-F1", "parse rate", "seeds", "repeats", "test items", "training rows")
    return Table("Pointwise judging by condition", columns, rows)


def contrast_table(contrasts: Sequence[Contrast]) -> Table:
    """Paired differences, with what they say at 0.05 after Holm's correction."""
    rows = tuple(
        (
            each.criterion,
            f"{each.first} − {each.second}",
            each.difference.mean,
            f"[{each.difference.low:+.3f}, {each.difference.high:+.3f}]",
            each.difference.p,
            each.adjusted,
            _said(each),
            each.difference.seeds,
            each.difference.items,
        )
        for each in contrasts
    )
    columns = ("criterion", "contrast", "difference", "95 %", "p", "p, Holm", "better", "seeds", "items")
    return Table("Paired differences", columns, rows)


def _said(each: Contrast) -> str:
    if each.adjusted > ALPHA:
        return "undecided"
    return each.first if each.difference.mean > 0 else each.second


def condition_warnings(study: ConditionStudy) -> Iterator[str]:
    """What a reader of paired differences should know."""
    for each in study.contrasts:
        if each.unpaired:
            yield (
                f"{each.criterion}, {each.first} − {each.second}: {each.unpaired} seeds were trained under one of the "
                "two only and are left out."
            )
        if each.difference.seeds == 1:
            yield f"{each.criterion}, {each.first} − {each.second}: one seed, so that only items were resampled."


def condition_metrics(study: ConditionStudy) -> Iterator[tuple[str, float | None]]:
    """Flat metrics of scores and contrasts."""
    for score in study.scores:
        prefix = f"conditions/{score.criterion}/{score.condition}"
        yield f"{prefix}/macro_f1", score.macro_f1
        yield f"{prefix}/macro_f1_sd", score.sd
        yield f"{prefix}/parse_rate", score.parse_rate
        yield f"{prefix}/n", score.items
    for each in study.contrasts:
        prefix = f"contrasts/{each.criterion}/{each.first}-{each.second}"
        yield f"{prefix}/difference", each.difference.mean
        yield f"{prefix}/low", each.difference.low
        yield f"{prefix}/high", each.difference.high
        yield f"{prefix}/p_holm", each.adjusted
