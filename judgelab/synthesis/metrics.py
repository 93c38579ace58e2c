"""The suites' metrics: macro-F1 over span sets, squared error, right or wrong (biomedical judges, Table 1)."""

import string
from collections.abc import Iterable, Mapping

from judgelab.data.biomedical import PICO_KEYS

DELETE_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised_span(span: str) -> str:
    """A span as it is compared: lower case, ASCII punctuation deleted, runs of white space as one space."""
    return " ".join(span.lower().translate(DELETE_PUNCTUATION).split())


def span_set(spans: Iterable[str]) -> frozenset[str]:
    """The distinct normalised spans; one that is only punctuation is none."""
    return frozenset(filter(None, map(normalised_span, spans)))


def span_f1(gold: Iterable[str], candidate: Iterable[str], both_empty: float) -> float:
    """Exact-match F1 of two sets of spans; `both_empty` where neither has any, 0 where nothing matches."""
    expected, found = span_set(gold), span_set(candidate)
    if not expected and not found:
        return both_empty
    return 2 * len(expected & found) / (len(expected) + len(found))


def macro_f1(
    gold: Mapping[str, Iterable[str]], candidate: Mapping[str, Iterable[str]], both_empty: float = 1.0
) -> float:
    """Mean of the four F1 values over P, I, C and O."""
    return sum(span_f1(gold[key], candidate[key], both_empty) for key in PICO_KEYS) / len(PICO_KEYS)


def squared_error(value: float, target: float) -> float:
    """Squared difference, in the square of the calculator's unit; lower is better."""
    return (value - target) ** 2


def correctness(answer: str, right: str) -> float:
    """1 for the right answer, else 0."""
    return float(answer == right)
