"""Decomposable suite over medical calculators."""

from dataclasses import dataclass

from omegaconf import MISSING

from judgelab.data.biomedical import CalculatorExample
from judgelab.data.medcalc_bench import load_medcalc_bench
from judgelab.synthesis.medcalc.catalogue import CALCULATORS, accepted, recomputed
from judgelab.synthesis.operators.formula_inputs import FormulaInputMutations
from judgelab.synthesis.pair_suites import Case, Cases, PairSuite, Shown


@dataclass
class MedCalcSuite(PairSuite):
    """MedCalc-Bench from its CSV: rows of the catalogue's calculators whose answer the formula confirms.

    The paper's threshold is in squared units of the calculator, so it drops close pairs of small values only. With
    `relative_threshold` the gap of squared errors is divided by the square of the target first; a target of 0 then
    leaves no pair.
    """

    path: str = MISSING
    candidates: int = 10
    relative_threshold: bool = False
    family = "decomposable"
    higher_is_better = False

    def load(self, seed: int) -> Cases:
        """One case per row; calculators without a formula and answers outside the limits are counted."""
        loaded = load_medcalc_bench(self.path, "pairs.medcalc.path")
        known = [each for each in loaded.examples if each.calculator_id in CALCULATORS]
        agreeing = [each for each in known if accepted(each, recomputed(each))]
        counts = {
            **loaded.counts,
            "dropped_no_formula": len(loaded.examples) - len(known),
            "dropped_answer_outside_limits": len(known) - len(agreeing),
        }
        return Cases(tuple(map(self._case, agreeing)), counts, loaded.inputs)

    def _case(self, example: CalculatorExample) -> Case:
        calculator = CALCULATORS[example.calculator_id]
        mutations = FormulaInputMutations(example, calculator, self.candidates)
        shown = Shown(
            text=f"{example.passage}\n\n{example.question}",
            calculator=f"{calculator.name}, in {calculator.unit}" if calculator.unit else calculator.name,
            formula=calculator.formula,
            formula_inputs="\n".join(
                f"{name}: {definition}" + (f", in {unit}" if unit else "")
                for name, definition, unit in calculator.described()
            ),
        )
        scale = mutations.target**2 or None if self.relative_threshold else 1.0
        return Case(example.source, shown, mutations, scale)
