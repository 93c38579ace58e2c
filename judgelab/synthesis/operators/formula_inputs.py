"""MedCalc: numeric inputs of the formula changed, and the value recomputed."""

import random
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from judgelab.data.biomedical import CalculatorExample
from judgelab.errors import DataError
from judgelab.run.randomness import generator
from judgelab.synthesis.medcalc.calculator import Calculator
from judgelab.synthesis.medcalc.expressions import Value, evaluate, substituted
from judgelab.synthesis.metrics import squared_error
from judgelab.synthesis.mutation import Parameters, Response

SMALLEST_CHANGE, LARGEST_CHANGE = 0.005, 0.5  # relative; drawn evenly on a log scale
ATTEMPTS = 50  # draws before an input set counts as impossible to change


@dataclass(frozen=True)
class FormulaInputMutations:
    """Changes one or more numeric inputs by a relative error each, at the decimals in which the input stands.

    Parameters: the new value of every changed input. The response is the formula with its values in place, which
    Python can evaluate; its score is the squared error (lower is better) against the formula's value for the
    benchmark's inputs, unrounded.
    """

    example: CalculatorExample
    calculator: Calculator
    count: int
    operator = "medcalc_inputs"

    @property
    def source_id(self) -> str:
        """The row's id."""
        return self.example.source.source_id

    @cached_property
    def inputs(self) -> dict[str, Value]:
        """The formula's inputs; DataError names the row of a missing one."""
        return self.calculator.inputs(self.example.entities, self.example.source.place)

    @cached_property
    def target(self) -> float:
        """The value that the benchmark's inputs give."""
        return evaluate(self.calculator.formula, self.inputs)

    def draw(self, number: int, seed: int) -> Parameters:
        """New values of some inputs, drawn until the formula is defined for them."""
        rng = generator(seed, "candidate", number)
        numeric = [name for name, value in self.inputs.items() if not isinstance(value, str) and value != 0]
        if not number:
            return {}
        for _ in range(ATTEMPTS if numeric else 0):
            chosen = sorted(rng.sample(numeric, rng.randint(1, len(numeric))))
            changed = {name: self._changed(name, rng) for name in chosen}
            if self._defined(changed):
                return changed
        raise DataError(f"{self.example.source.place}: {self.calculator.name} has no input that can be changed")

    def respond(self, parameters: Parameters) -> Response:
        """The formula with the example's inputs, the changed ones replaced."""
        values = self.inputs | dict(parameters)
        score = squared_error(evaluate(self.calculator.formula, values), self.target)
        return Response(substituted(self.calculator.formula, values), score)

    def _changed(self, name: str, rng: random.Random) -> float:
        value = float(self.inputs[name])
        size = SMALLEST_CHANGE * (LARGEST_CHANGE / SMALLEST_CHANGE) ** rng.random()
        sign = rng.choice((-1, 1))
        places = 0 if name in self.calculator.whole_inputs() else decimals(value)
        step = 10.0**-places
        changed = round(value + sign * max(step, abs(value) * size), places)
        return changed if changed * value > 0 else round(value + step, places)

    def _defined(self, changed: Parameters) -> bool:
        try:
            evaluate(self.calculator.formula, self.inputs | dict(changed))
        except ArithmeticError:
            return False
        return True


def decimals(value: float) -> int:
    """Decimals in which a number is written."""
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    return max(0, -int(exponent))
