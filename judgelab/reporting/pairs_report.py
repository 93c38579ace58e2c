"""What a person reads after verifiable pairs were built: counts per suite and bin, what was left out, examples."""

from collections.abc import Iterator, Mapping

from judgelab.config.schema import PairsRoot
from judgelab.reporting.report import finish_report
from judgelab.reporting.tables import Cell, Table
from judgelab.run.run import Run
from judgelab.synthesis.bio_pairs import PairTable

BINS = ("hard", "medium", "easy", "one_bin")
SPLITS = ("train", "test")
EXAMPLES = 1
GLOSSARY = (
    ("hard, medium, easy", "Tertiles of the rank gap: ⌈3δ/(K−1)⌉ of 1, 2, 3 among K ranked candidates."),
    ("one bin", "Atomic suites set the right response against a wrong one; their pairs have no bins."),
    ("sources", "Examples that candidates were made of; each gives one pair, or is counted by why it does not."),
)


def report_pairs(run: Run, config: PairsRoot, table: PairTable) -> None:
    """Metrics, report.html, and the table of counts on the screen."""
    run.write_metrics(
        {f"pairs/{suite}/{name}": count for suite, counts in table.counts.items() for name, count in counts.items()}
    )
    facts = (("pairs", f"{len(table.rows):,}"), ("suites", str(len(table.counts))), ("seed", str(config.seed)))
    tables = [count_table(table.counts), left_out_table(table.counts), example_table(table)]
    finish_report(run.folder, config, [each for each in tables if each.rows], [], [], facts, GLOSSARY)


def count_table(counts: Mapping[str, Mapping[str, int]]) -> Table:
    """Pairs by suite, split and bin."""
    names = [f"{split}_{each}" for split in SPLITS for each in BINS]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (suite, found["sources"], *(found.get(name, 0) for name in names)) for suite, found in counts.items()
    )
    return Table("Pairs by suite", ("suite", "sources", *(name.replace("_", " ") for name in names)), rows)


def left_out_table(counts: Mapping[str, Mapping[str, int]]) -> Table:
    """Why examples or candidates of a suite are not among the pairs."""
    return Table("Left out", ("suite", "what", "count"), tuple(_left_out(counts)))


def _left_out(counts: Mapping[str, Mapping[str, int]]) -> Iterator[tuple[str, str, int]]:
    for suite, found in counts.items():
        for name, count in found.items():
            if count and name != "sources" and not name.startswith(tuple(f"{split}_" for split in SPLITS)):
                yield suite, name.replace("_", " "), count


def example_table(table: PairTable) -> Table:
    """A pair of every suite."""
    rows = []
    for suite in table.counts:
        for row in [row for row in table.rows if row["suite"] == suite][:EXAMPLES]:
            responses = row["response_a"], row["response_b"]
            better, worse = responses if row["gold"] == "A" else responses[::-1]
            rows.append((suite, better, row["chosen_score"], worse, row["rejected_score"]))
    return Table("Examples", ("suite", "better", "score", "worse", "its score"), tuple(rows))
