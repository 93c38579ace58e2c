"""What a calculator is: a formula, its inputs with units, and how the benchmark's entities become them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgelab.errors import DataError
from judgelab.synthesis.medcalc.expressions import Value, evaluate, names
from judgelab.synthesis.medcalc.units import Factors

DECIMALS = 5  # the benchmark's own rounding of what it shows


@dataclass(frozen=True)
class Quantity:
    """A number with a unit, under the benchmark's `entity`; `factors` converts the units it comes in."""

    name: str
    definition: str
    unit: str
    entity: str
    factors: Factors
    whole: bool = False

    def read(self, value: Any) -> float:
        """The number in this unit, from [number, unit, …] pairs that add up; ValueError says what is wrong."""
        if not isinstance(value, (list, tuple)) or not value or len(value) % 2:
            raise ValueError(f"is {value!r}, expected [number, unit]")
        total = 0.0
        for number, unit in zip(value[::2], value[1::2], strict=True):
            if unit not in self.factors or isinstance(number, bool) or not isinstance(number, (int, float)):
                raise ValueError(f"is {value!r}, expected a number in {', '.join(self.factors)}")
            total += number * self.factors[unit]
        return total


@dataclass(frozen=True)
class Category:
    """One of a few words (in lower case) under the benchmark's `entity`; `absent` stands where there is none."""

    name: str
    definition: str
    entity: str
    words: tuple[str, ...]
    absent: str | None = None

    def read(self, value: Any) -> str:
        """The word; ValueError says what is wrong."""
        word = value.lower() if isinstance(value, str) else value
        if word not in self.words:
            raise ValueError(f"is {value!r}, expected one of {', '.join(self.words)}")
        return word


@dataclass(frozen=True)
class Step:
    """An intermediate quantity that the formula takes as an input, computed from what the note gives."""

    name: str
    definition: str
    unit: str
    formula: str


@dataclass(frozen=True)
class Calculator:
    """A calculator of MedCalc-Bench under the benchmark's id; the formula's value is in `unit` ("" for a ratio)."""

    calculator_id: int
    name: str
    unit: str
    formula: str
    given: Sequence[Quantity | Category]
    steps: Sequence[Step] = ()

    def inputs(self, entities: Mapping[str, Any], place: str) -> dict[str, Value]:
        """Values of the formula's inputs, numbers rounded to 5 decimals.

        DataError names the place and the entity that is missing, in an unknown unit, or leaves a step undefined.
        """
        values: dict[str, Value] = {variable.name: self._given(variable, entities, place) for variable in self.given}
        for step in self.steps:
            values[step.name] = self._computed(step.formula, values, place)
        chosen = ((name, values[name]) for name in names(self.formula))
        return {name: value if isinstance(value, str) else round(value, DECIMALS) for name, value in chosen}

    def described(self) -> list[tuple[str, str, str]]:
        """Name, definition and unit ("" without one) of every input of the formula."""
        units = {variable.name: getattr(variable, "unit", "") for variable in (*self.given, *self.steps)}
        definitions = {variable.name: variable.definition for variable in (*self.given, *self.steps)}
        return [(name, definitions[name], units[name]) for name in names(self.formula)]

    def whole_inputs(self) -> set[str]:
        """Inputs that are whole numbers, such as an age in years."""
        return {variable.name for variable in self.given if isinstance(variable, Quantity) and variable.whole}

    def _given(self, variable: Quantity | Category, entities: Mapping[str, Any], place: str) -> Value:
        found = {name.lower(): value for name, value in entities.items()}
        if variable.entity.lower() not in found:
            if isinstance(variable, Category) and variable.absent is not None:
                return variable.absent
            raise DataError(f"{place}: {self.name} needs {variable.entity!r}, which 'Relevant Entities' lacks")
        try:
            return variable.read(found[variable.entity.lower()])
        except ValueError as error:
            raise DataError(f"{place}: {variable.entity!r} of {self.name} {error}") from error

    def _computed(self, formula: str, values: Mapping[str, Value], place: str) -> float:
        try:
            return evaluate(formula, values)
        except ArithmeticError as error:
            raise DataError(f"{place}: {self.name} is undefined for {dict(values)} ({error})") from error
