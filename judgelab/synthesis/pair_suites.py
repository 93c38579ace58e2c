"""The suites of verifiable pairs: what each reads, how it mutates, and what a judge is shown."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from judgelab.data.biomedical import ChoiceExample, Source
from judgelab.run.randomness import generator
from judgelab.synthesis.mutation import Mutations
from judgelab.synthesis.operators.advice import ADVICE
from judgelab.synthesis.operators.options import OptionMutations, option_line
from judgelab.synthesis.operators.safety import SafetyMutations
from judgelab.synthesis.ranking import GapRule


@dataclass(frozen=True)
class Shown:
    """What a judge sees beside the responses; calculator, formula and its inputs only where the suite has them."""

    text: str
    calculator: str | None = None
    formula: str | None = None
    formula_inputs: str | None = None


@dataclass(frozen=True)
class Case:
    """One example with its operator. `scale` divides score gaps before the threshold; null leaves no pair."""

    source: Source
    shown: Shown
    mutations: Mutations
    scale: float | None = 1.0


@dataclass(frozen=True)
class Cases:
    """The cases of a suite, a count for everything left out, and path -> sha256 of what was read."""

    cases: tuple[Case, ...]
    counts: Mapping[str, int]
    inputs: Mapping[str, str]


@dataclass
class PairSuite:
    """Configuration of a suite; each is a subclass with its loader.

    `threshold` is the score gap that a pair needs at least; `limit` the number of sources, drawn by seed.
    """

    threshold: float = 0.05
    limit: int | None = None
    family = "atomic"
    higher_is_better = True

    def load(self, seed: int) -> Cases:
        """Read and check the sources; DataError names file and row."""
        raise TypeError("choose a suite: ebm_nlp, pico_corpus, medcalc, medbullets, medqa, pubmedqa or safety")

    def rule(self) -> GapRule:
        """How pairs are taken from a ranking of this suite."""
        return GapRule(self.threshold, self.higher_is_better, atomic=self.family != "decomposable")


def option_cases(examples: Iterable[ChoiceExample]) -> tuple[Case, ...]:
    """Multiple-choice examples under the operator that swaps in wrong options."""
    return tuple(Case(each.source, Shown(_question(each)), OptionMutations(each)) for each in examples)


def safety_cases(examples: Iterable[ChoiceExample], seed: int) -> tuple[Case, ...]:
    """Multiple-choice examples under the operator that makes advice dangerous.

    Each question draws its advice; all questions with one piece of advice are one group, so that no split shows a
    judge the advice of another.
    """
    return tuple(_safety_case(each, generator(seed, "advice", each.source.source_id)) for each in examples)


def _safety_case(example: ChoiceExample, rng: random.Random) -> Case:
    advice = rng.randrange(len(ADVICE))
    source = replace(example.source, group=f"advice:{advice}")
    return Case(source, Shown(_question(example)), SafetyMutations(example, advice))


def _question(example: ChoiceExample) -> str:
    options = "\n".join(option_line(example, letter) for letter in example.options)
    return "\n\n".join(filter(None, (example.passage, example.question, options)))
