"""Examples of the biomedical suites: a text, a question and what counts as right (biomedical judges paper §2.2)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

PICO_KEYS = ("P", "I", "C", "O")


@dataclass(frozen=True)
class Source:
    """Where an example comes from.

    `group` is what a split must keep together (an abstract, a patient note, a question that occurs twice).
    `official_split` is the split that the source itself puts the example in, null where it names none.
    """

    source_id: str
    group: str
    place: str
    official_split: str | None = None


@dataclass(frozen=True)
class SpanExample:
    """An abstract with its gold spans per key P, I, C, O; a key without spans has an empty tuple."""

    source: Source
    passage: str
    spans: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class CalculatorExample:
    """A patient note with a calculator's inputs as the benchmark extracted them, and the accepted answers.

    `entities` maps the benchmark's name of an input to [number, unit, …], a number, a truth value or a text.
    An answer is accepted from `lower` to `upper`, limits included.
    """

    source: Source
    calculator_id: int
    calculator_name: str
    passage: str
    question: str
    entities: Mapping[str, Any]
    answer: float
    lower: float
    upper: float


@dataclass(frozen=True)
class ChoiceExample:
    """A question with options by letter, and the letter of the right one; `passage` is empty without context."""

    source: Source
    passage: str
    question: str
    options: Mapping[str, str]
    gold: str


ExampleT = TypeVar("ExampleT", SpanExample, CalculatorExample, ChoiceExample, covariant=True)


@dataclass(frozen=True)
class Examples(Generic[ExampleT]):
    """The examples of one suite, a count for everything left out, and path -> sha256 of what was read."""

    examples: tuple[ExampleT, ...]
    counts: Mapping[str, int]
    inputs: Mapping[str, str]
