"""What a person reads after counterfactuals were written: how many were accepted, why others were not, examples."""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields

from judgelab.config.schema import SynthesisRoot
from judgelab.reporting.report import finish_report
from judgelab.reporting.tables import Cell, Table
from judgelab.run.run import Run
from judgelab.synthesis.counterfactuals import Outcome
from judgelab.synthesis.cpa_synthesis import Synthesis
from judgelab.synthesis.minimality import Minimality
from judgelab.synthesis.roles import Role

EXAMPLES = 3
GLOSSARY = (
    ("accepted", "The auditor named the response that should satisfy the criterion in both orders."),
    ("refuted", "The auditor named the other one, or the same slot twice."),
    ("unreadable", "A verdict of the auditor could not be read."),
    ("length ratio", "Characters of the counterfactual per character of the response."),
    ("edit distance", "Insertions, deletions and substitutions per character of the longer text."),
    ("embedding distance", "1 - cosine of the two sentence embeddings."),
)


def report_synthesis(
    run: Run, config: SynthesisRoot, made: Synthesis, changes: Sequence[Minimality], roles: Mapping[str, Role]
) -> None:
    """Metrics, report.html, and the tables of outcomes on the screen."""
    counts = made.counts()
    rate = len(made.pairs) / len(made.items)
    means = {name: _mean(changes, name) for name in (each.name for each in fields(Minimality))}
    run.write_metrics(
        {f"synthesis/{name}": count for name, count in counts.items()}
        | {"synthesis/acceptance_rate": rate}
        | {f"minimality/{name}": value for name, value in means.items()}
        | {f"requests/{name}": len(role.replies) for name, role in roles.items()}
    )
    tables = [outcome_table(made), rationale_table(made), minimality_table(changes), example_table(made)]
    facts = (
        ("criterion", config.criterion.name),
        ("pairs accepted", f"{len(made.pairs)} of {len(made.items)} items"),
        *((name, role.judge.identity) for name, role in roles.items()),
    )
    warnings = [] if made.pairs else ["no counterfactual was accepted: training on these rows is pointwise only"]
    finish_report(run.folder, config, [table for table in tables if table.rows], [], warnings, facts, GLOSSARY)


def outcome_table(made: Synthesis) -> Table:
    """Outcomes by try."""
    counted = Counter((attempt.number, attempt.outcome) for attempt in made.attempts)
    numbers = sorted({attempt.number for attempt in made.attempts})
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (str(number), sum(counted[number, outcome] for outcome in Outcome), *(counted[number, o] for o in Outcome))
        for number in numbers
    )
    return Table("Tries", ("try", "items", *(outcome.name.replace("_", " ") for outcome in Outcome)), rows)


def rationale_table(made: Synthesis) -> Table:
    """Rationales by who wrote them, and rows without one."""
    counts = made.counts()
    rows: tuple[tuple[Cell, ...], ...] = (
        ("items", counts["rationales_student"], counts["rationales_auditor"], counts["items_without_rationale"]),
        (
            "pairs",
            counts["pair_rationales_student"],
            counts["pair_rationales_auditor"],
            counts["pairs_without_rationale"],
        ),
    )
    return Table("Rationales", ("of", "by the student", "by the auditor", "rows without"), rows)


def minimality_table(changes: Sequence[Minimality]) -> Table:
    """Mean and median of how much was changed."""
    rows: list[tuple[Cell, ...]] = []
    for name in (each.name for each in fields(Minimality)) if changes else ():
        values = [asdict(change)[name] for change in changes]
        rows.append((name.replace("_", " "), statistics.mean(values), statistics.median(values)))
    return Table("Change from response to counterfactual", ("measure", "mean", "median"), tuple(rows))


def example_table(made: Synthesis) -> Table:
    """The first accepted pairs."""
    items = [item for item in made.items if item.item_id in made.pairs][:EXAMPLES]
    rows = tuple((item.query, item.label, item.response, made.pairs[item.item_id].text) for item in items)
    return Table("Examples", ("query", "label", "response", "counterfactual"), rows)


def _mean(changes: Sequence[Minimality], name: str) -> float | None:
    return statistics.mean(getattr(change, name) for change in changes) if changes else None
