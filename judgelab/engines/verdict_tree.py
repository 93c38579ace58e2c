"""The verdicts of a format as the tree of their common prefixes, so that every shared token is read once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

Verdicts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class VerdictTree:
    """The distinct prefixes of some verdicts; node 0 is the end of the prompt, and a node stands behind its parent.

    `tokens`, `parents` and `depths` are those of nodes 1, 2, …; `ends` is the node at which each verdict is complete.
    """

    tokens: tuple[int, ...]
    parents: tuple[int, ...]
    depths: tuple[int, ...]
    ends: tuple[int, ...]

    def log_probabilities(self, steps: Sequence[float], stops: Sequence[float]) -> list[float]:
        """Log-probability of every verdict: its tokens, then the end of the turn.

        `steps` are the log-probabilities of the tokens of nodes 1, 2, … behind their parents, `stops` those of an end
        of the turn behind nodes 0, 1, ….
        """
        so_far = [0.0]
        for parent, step in zip(self.parents, steps, strict=True):
            so_far.append(so_far[parent] + step)
        return [so_far[end] + stops[end] for end in self.ends]


@cache
def verdict_tree(verdicts: Verdicts) -> VerdictTree:
    """The tree of these token sequences, of which none may be empty or occur twice."""
    prefixes = sorted({verdict[:length] for verdict in verdicts for length in range(1, len(verdict) + 1)})
    nodes = {(): 0} | {prefix: number for number, prefix in enumerate(prefixes, start=1)}
    return VerdictTree(
        tokens=tuple(prefix[-1] for prefix in prefixes),
        parents=tuple(nodes[prefix[:-1]] for prefix in prefixes),
        depths=tuple(map(len, prefixes)),
        ends=tuple(nodes[verdict] for verdict in verdicts),
    )
