"""Which responses a judge sees together under a format, and in which order (Format paper §2, appendix on slots)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from judgelab.config.schema import Comparison, FormatConfig, Schedule
from judgelab.data.candidates import Candidate, PoolPrompt
from judgelab.errors import DataError
from judgelab.run.randomness import derived_seed

LISTING, REVERSE = "listing", "reverse"


@dataclass(frozen=True)
class Judgment:
    """One thing to ask: a response alone, or Response A beside Response B in an order."""

    response: Candidate
    other: Candidate | None
    order: str | None


def judgments(prompt: PoolPrompt, comparison: Comparison, schedule: Schedule, seed: int) -> Iterator[Judgment]:
    """All judgments of one prompt; none where an anchor is needed and no candidate has a reference."""
    match comparison:
        case Comparison.none:
            for candidate in prompt.candidates:
                yield Judgment(candidate, None, None)
        case Comparison.anchor:
            reference = anchor(prompt)
            if reference is not None:
                for candidate in prompt.candidates:
                    yield from _ordered(candidate, reference, schedule, seed)
        case Comparison.all_pairs:
            for earlier, later in combinations(prompt.candidates, 2):
                yield from _ordered(earlier, later, schedule, seed)


def anchor(prompt: PoolPrompt) -> Candidate | None:
    """The candidate at index ⌊k/2⌋ of the stable ascending order of the k candidates with a reference, if any has."""
    rated = [candidate for candidate in prompt.candidates if candidate.reference is not None]
    if not rated:
        return None
    ascending = sorted(rated, key=lambda candidate: candidate.reference or 0.0)
    return ascending[len(ascending) // 2]


def without_anchor(prompts: Sequence[PoolPrompt], formats: Mapping[str, FormatConfig]) -> dict[str, int]:
    """How many prompts have no anchor and are left out, per format that needs one.

    Raises DataError where that would be all of them.
    """
    missing = sum(anchor(prompt) is None for prompt in prompts)
    anchored = [name for name, fmt in formats.items() if fmt.comparison is Comparison.anchor]
    if anchored and missing == len(prompts):
        raise DataError(
            f"no candidate of the pool has a reference score, so format {anchored[0]} has no anchor: "
            f"drop it with '~format@formats.{anchored[0]}', or give references"
        )
    return {formats[name].name: missing for name in anchored}


def _ordered(first: Candidate, second: Candidate, schedule: Schedule, seed: int) -> Iterator[Judgment]:
    """The comparison in the orders of the schedule; a drawn order depends on the two ids and the seed alone."""
    drawn = (LISTING, REVERSE)[derived_seed(seed, "slot", first.candidate_id, second.candidate_id) % 2]
    orders = {Schedule.listing: (LISTING,), Schedule.both: (LISTING, REVERSE), Schedule.balanced: (drawn,)}[schedule]
    for order in orders:
        yield Judgment(first, second, order) if order == LISTING else Judgment(second, first, order)
