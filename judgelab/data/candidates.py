"""Prompts with candidate responses: what a judge scores under a format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from omegaconf import MISSING


@dataclass(frozen=True)
class Candidate:
    """One response to a prompt; `reference` is a rating by somebody else, null where there is none."""

    candidate_id: str
    prompt_id: str
    text: str
    reference: float | None = None
    model: str | None = None


@dataclass(frozen=True)
class PoolPrompt:
    """A prompt and its candidates in listing order."""

    prompt_id: str
    text: str
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class CandidatePool:
    """Prompts to score, prompts held out from selection, and a count for everything that was left out.

    `inputs` maps the path or hub id of each input to the sha256 of its content (or the hub revision).
    """

    prompts: tuple[PoolPrompt, ...]
    held_out: tuple[PoolPrompt, ...]
    counts: Mapping[str, int]
    inputs: Mapping[str, str]


def candidate_table(prompts: Sequence[PoolPrompt]) -> list[dict[str, Any]]:
    """The rows of candidates.parquet: ids, listing position, reference, model and length in code points."""
    return [
        {
            "prompt_id": prompt.prompt_id,
            "candidate_id": candidate.candidate_id,
            "position": position,
            "reference": candidate.reference,
            "model": candidate.model,
            "characters": len(candidate.text),
        }
        for prompt in prompts
        for position, candidate in enumerate(prompt.candidates)
    ]


@dataclass
class CandidateSource:
    """Configuration of a pool and its loader; each source is a subclass in a module of its own.

    Lengths are in code points, limits included (Format paper §2: 20 to 6,000). `held_out` prompts are drawn by seed.
    """

    name: str = MISSING
    path: str | None = None
    limit: int | None = None  # prompts kept, drawn by seed; null keeps all
    min_characters: int = 20
    max_characters: int = 6000
    held_out: int = 0

    def load(self, seed: int) -> CandidatePool:
        """Read, check, filter and split the pool; raises DataError naming file and row."""
        raise TypeError("choose a pool: data=pool_sample|ultrafeedback|prometheus|mt_bench|candidates_file")
