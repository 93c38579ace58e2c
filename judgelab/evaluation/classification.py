"""Agreement of binary verdicts with labels; an unparsed verdict is a miss in the strict figures."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from sklearn.metrics import f1_score

LABELS = (0, 1)
UNPARSED = -1


@dataclass(frozen=True)
class Confusion:
    """Counts of (label, verdict); the verdict is 0, 1 or unparsed."""

    counts: dict[tuple[int, int], int]

    @property
    def n(self) -> int:
        """Number of judged items."""
        return sum(self.counts.values())


@dataclass(frozen=True)
class Classification:
    """Figures of one run over n items; null where undefined."""

    macro_f1_strict: float
    macro_f1_parsed: float | None
    accuracy_strict: float
    accuracy_parsed: float | None
    parse_rate: float
    n: int
    n_parsed: int


def confusion(labels: Sequence[int], verdicts: Sequence[int | None]) -> Confusion:
    """Count (label, verdict) pairs; a null verdict is unparsed."""
    counts = {(label, verdict): 0 for label in LABELS for verdict in (*LABELS, UNPARSED)}
    for label, verdict in zip(labels, verdicts, strict=True):
        counts[label, UNPARSED if verdict is None else verdict] += 1
    return Confusion(counts)


def classify(labels: Sequence[int], verdicts: Sequence[int | None]) -> Classification:
    """Macro-F1 over the two classes, accuracy and parse rate of one run (CPA §5).

    Strict: an unparsed verdict is a wrong one. Parsed-only: items with an unparsed verdict leave.
    """
    if not labels:
        raise ValueError("no items were judged")
    strict = [UNPARSED if verdict is None else verdict for verdict in verdicts]
    parsed = [(y, v) for y, v in zip(labels, strict, strict=True) if v != UNPARSED]
    hits = sum(y == v for y, v in parsed)
    return Classification(
        macro_f1_strict=float(f1_score(labels, strict, labels=LABELS, average="macro", zero_division=0)),
        macro_f1_parsed=_macro_f1_parsed(parsed),
        accuracy_strict=hits / len(labels),
        accuracy_parsed=hits / len(parsed) if parsed else None,
        parse_rate=len(parsed) / len(labels),
        n=len(labels),
        n_parsed=len(parsed),
    )


def _macro_f1_parsed(parsed: Sequence[tuple[int, int]]) -> float | None:
    """Null where a class occurs neither among the labels nor among the verdicts: its F1 is undefined."""
    if {value for pair in parsed for value in pair} != set(LABELS):
        return None
    labels, verdicts = zip(*parsed, strict=True)
    return float(f1_score(labels, verdicts, labels=LABELS, average="macro", zero_division=0))


def mean_and_sd(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    """Mean and sample standard deviation; null values leave, and one value has no deviation."""
    known = [value for value in values if value is not None]
    mean = statistics.fmean(known) if known else None
    return mean, statistics.stdev(known) if len(known) > 1 else None
