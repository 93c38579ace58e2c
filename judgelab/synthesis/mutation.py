"""Candidates that an operator makes from one example, and the lineage by which it makes them again."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from judgelab.errors import DataError
from judgelab.run.randomness import derived_seed

Parameters = Mapping[str, Any]
"""What an operator drew, in JSON's types."""


@dataclass(frozen=True)
class Response:
    """A candidate's text and its score under the suite's metric."""

    text: str
    score: float


@dataclass(frozen=True)
class Lineage:
    """How a candidate came about; number 0 is the ground truth, `parameters` is canonical JSON."""

    operator: str
    number: int
    seed: int
    parameters: str


@dataclass(frozen=True)
class Candidate:
    """A response with its lineage."""

    text: str
    score: float
    lineage: Lineage


class Mutations(Protocol):
    """One example under one operator: up to `count` candidates, number 0 first."""

    @property
    def operator(self) -> str:
        """The operator's name."""

    @property
    def source_id(self) -> str:
        """The example's id, which seeds its draws."""

    @property
    def count(self) -> int:
        """How many candidates to draw, the ground truth included."""

    def draw(self, number: int, seed: int) -> Parameters:
        """The parameters of a candidate; every draw comes from its seed."""

    def respond(self, parameters: Parameters) -> Response:
        """The response that the parameters describe."""


def candidates(mutations: Mutations, seed: int) -> tuple[tuple[Candidate, ...], int]:
    """The distinct candidates of an example (Algorithm 1), and how many repeated an earlier one's text."""
    drawn = [_candidate(mutations, number, seed) for number in range(mutations.count)]
    distinct = {candidate.text: candidate for candidate in reversed(drawn)}
    kept = tuple(candidate for candidate in drawn if distinct[candidate.text] is candidate)
    return kept, len(drawn) - len(kept)


def replayed(mutations: Mutations, lineage: Lineage) -> Candidate:
    """The candidate that a lineage describes, drawn anew; DataError where the draw is not what the lineage says."""
    response = mutations.respond(json.loads(lineage.parameters))
    drawn = _canonical(mutations.draw(lineage.number, lineage.seed))
    if (mutations.operator, drawn) != (lineage.operator, lineage.parameters):
        raise DataError(
            f"candidate {lineage.number} of {mutations.source_id} by {lineage.operator!r} cannot be replayed: seed "
            f"{lineage.seed} gives {drawn} by {mutations.operator!r}, the lineage says {lineage.parameters}"
        )
    return Candidate(response.text, response.score, lineage)


def _candidate(mutations: Mutations, number: int, seed: int) -> Candidate:
    own = derived_seed(seed, f"{mutations.operator}_mutation", mutations.source_id)
    parameters = mutations.draw(number, own)
    response = mutations.respond(parameters)
    return Candidate(response.text, response.score, Lineage(mutations.operator, number, own, _canonical(parameters)))


def _canonical(parameters: Parameters) -> str:
    return json.dumps(parameters, sort_keys=True, ensure_ascii=False, allow_nan=False)
