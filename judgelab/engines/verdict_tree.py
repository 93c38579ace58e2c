"""The verdicts of a format as the tree of their common prefixes, so that every shared token is read once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from judgelab.engines.base import Verdicts


@dataclass(frozen=True)
class VerdictTree:
    """The distinct prefixes of some verdicts; node 0 is the end of the prompt, and a node stands behind its parent.

    `paths` are the tokens from the prompt to each node, `children` the nodes behind each, `parents` those before nodes
    1, 2, …; `ends` is the node at which each verdict is complete.
    """

    paths: tuple[tuple[int, ...], ...]
    parents: tuple[int, ...]
    children: tuple[tuple[int, ...], ...]
    ends: tuple[int, ...]

    @property
    def tokens(self) -> tuple[int, ...]:
        """The tokens of nodes 1, 2, …."""
        return tuple(path[-1] for path in self.paths[1:])

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
    paths = sorted({verdict[:length] for verdict in verdicts for length in range(len(verdict) + 1)})
    nodes = {path: number for number, path in enumerate(paths)}
    parents = tuple(nodes[path[:-1]] for path in paths[1:])
    children: list[list[int]] = [[] for _ in paths]
    for node, parent in enumerate(parents, start=1):
        children[parent].append(node)
    return VerdictTree(
        tuple(paths), parents, tuple(map(tuple, children)), tuple(nodes[verdict] for verdict in verdicts)
    )
