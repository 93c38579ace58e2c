"""All calculators with a formula, and how far they agree with the benchmark's own answers."""

from collections.abc import Iterable
from dataclasses import dataclass

from judgelab.data.biomedical import CalculatorExample
from judgelab.synthesis.medcalc import body, chemistry, heart, kidney
from judgelab.synthesis.medcalc.expressions import evaluate

CALCULATORS = {
    calculator.calculator_id: calculator
    for module in (body, chemistry, heart, kidney)
    for calculator in module.CALCULATORS
}


@dataclass(frozen=True)
class Agreement:
    """How many of a calculator's examples recompute to a value inside the benchmark's limits."""

    name: str
    agreeing: int
    examples: int


def recomputed(example: CalculatorExample) -> float:
    """The formula's value for the example's entities; DataError names the row of a missing input."""
    calculator = CALCULATORS[example.calculator_id]
    return evaluate(calculator.formula, calculator.inputs(example.entities, example.source.place))


def accepted(example: CalculatorExample, value: float) -> bool:
    """Whether the benchmark accepts the value."""
    return example.lower <= value <= example.upper


def agreement(examples: Iterable[CalculatorExample]) -> dict[int, Agreement]:
    """Agreement per calculator id of the catalogue, in the order of ids; ids without examples are absent."""
    verdicts: dict[int, list[bool]] = {}
    for example in examples:
        if example.calculator_id in CALCULATORS:
            verdicts.setdefault(example.calculator_id, []).append(accepted(example, recomputed(example)))
    return {
        number: Agreement(CALCULATORS[number].name, sum(values), len(values))
        for number, values in sorted(verdicts.items())
    }
