"""Which prompts of a batch share a prefix, so that an engine reads every shared token once."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class PrefixGroup:
    """Prompts (by index) that agree on their first `length` tokens; each goes on for at least one token."""

    length: int
    members: tuple[int, ...]


def common_prefix(first: Sequence[int], second: Sequence[int]) -> int:
    """How many leading tokens two prompts share."""
    for index, (left, right) in enumerate(zip(first, second, strict=False)):
        if left != right:
            return index
    return min(len(first), len(second))


def shared_length(prompts: Sequence[Sequence[int]]) -> int:
    """How many leading tokens all prompts share, leaving each at least one of its own."""
    lowest, highest = min(prompts, key=tuple), max(prompts, key=tuple)
    return min(common_prefix(lowest, highest), min(map(len, prompts)) - 1)


def prefix_groups(prompts: Sequence[Sequence[int]], largest: int) -> list[PrefixGroup]:
    """Every prompt in exactly one group, groups of at most `largest`, the shortest prefixes first.

    Beyond what all prompts share, neighbours in token order stay together while half of the shorter one is shared.
    """
    base = shared_length(prompts)
    order = sorted(range(len(prompts)), key=lambda index: (tuple(prompts[index]), index))
    runs: list[list[int]] = [[order[0]]]
    for before, after in pairwise(order):
        shared = common_prefix(prompts[before], prompts[after]) - base
        own = min(len(prompts[before]), len(prompts[after])) - base
        if 2 * shared >= own and len(runs[-1]) < largest:
            runs[-1].append(after)
        else:
            runs.append([after])
    groups = [PrefixGroup(shared_length([prompts[index] for index in run]), tuple(run)) for run in runs]
    return sorted(groups, key=lambda group: (group.length, group.members))


def batches(groups: Sequence[PrefixGroup], largest: int) -> list[list[PrefixGroup]]:
    """Neighbouring groups packed into batches of at most `largest` prompts."""
    packed: list[list[PrefixGroup]] = [[]]
    for group in groups:
        if packed[-1] and sum(len(other.members) for other in packed[-1]) + len(group.members) > largest:
            packed.append([])
        packed[-1].append(group)
    return packed
