"""A batch packed as the tree of its common prefixes: every shared token goes through the model once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from judgelab.errors import TrainingError


@dataclass(frozen=True)
class Example:
    """One training row: prompt and completion as token ids; only the completion is learned.

    `verdict_index` is the position in `completion_ids` of the token that carries the verdict.
    """

    example_id: str
    format: str
    prompt_ids: tuple[int, ...]
    completion_ids: tuple[int, ...]
    verdict_index: int

    def __post_init__(self) -> None:
        """Refuse a row that could not be learned from."""
        if not self.prompt_ids or not self.completion_ids:
            raise TrainingError(f"example {self.example_id}: a row needs a prompt and at least one target token")
        if not 0 <= self.verdict_index < len(self.completion_ids):
            raise TrainingError(f"example {self.example_id}: the verdict lies outside the completion")

    @property
    def token_ids(self) -> tuple[int, ...]:
        """Prompt and completion in one sequence."""
        return self.prompt_ids + self.completion_ids


@dataclass(frozen=True)
class PrefixTree:
    """Token tree of a batch in depth-first order.

    Shapes: N nodes, M nodes with a target, T targets (one per completion token of each example), and B
    branches: an example whose path ends in nodes of its own, which start at `own_starts` in its path.
    Node q attends node k exactly when k is q itself or an ancestor, i.e. `k <= q < subtree_ends[k]`.
    `example_lengths` is, per node, the length of the longest example that passes through it.
    """

    token_ids: Tensor  # [N] int64
    positions: Tensor  # [N] int64
    subtree_ends: Tensor  # [N] int64
    example_lengths: Tensor  # [N] int64
    logit_nodes: Tensor  # [M] int64, ascending
    target_rows: Tensor  # [T] int64, row of the logits [M, V] that predicts the target
    target_ids: Tensor  # [T] int64
    target_formats: tuple[str, ...]  # [T]
    target_is_verdict: Tensor  # [T] bool
    paths: tuple[Tensor, ...]  # B of [length] int64, the nodes from the root to the example's end
    own_starts: tuple[int, ...]  # B
    unshared_positions: int  # tokens of the batch without sharing and without padding

    @property
    def num_nodes(self) -> int:
        """Positions that go through the model."""
        return self.token_ids.numel()

    def to(self, device: torch.device) -> "PrefixTree":
        """The same tree with its tensors on a device."""
        moved: dict[str, Any] = {k: v.to(device) for k, v in vars(self).items() if isinstance(v, Tensor)}
        return replace(self, **moved, paths=tuple(path.to(device) for path in self.paths))


def shared_length(left: Sequence[int], right: Sequence[int]) -> int:
    """Length of the common prefix of two token sequences."""
    for index, (a, b) in enumerate(zip(left, right, strict=False)):
        if a != b:
            return index
    return min(len(left), len(right))


def pack(examples: Sequence[Example]) -> PrefixTree:
    """Pack a batch as its prefix tree; loss and gradients equal the padded batch's.

    Sorting brings common prefixes together, so one pass over neighbours yields the depth-first order.
    """
    tokens: list[int] = []
    positions: list[int] = []
    ends: list[int] = []
    lengths: list[int] = []
    targets: list[tuple[int, int, str, bool]] = []
    path: list[int] = []
    branches: list[tuple[list[int], int]] = []
    previous: tuple[int, ...] = ()
    for example in sorted(examples, key=lambda e: e.token_ids):
        ids = example.token_ids
        shared = shared_length(previous, ids)
        for node in path[shared:]:
            ends[node] = len(tokens)
        path = path[:shared] + list(range(len(tokens), len(tokens) + len(ids) - shared))
        tokens += ids[shared:]
        positions += range(shared, len(ids))
        ends += [0] * (len(ids) - shared)
        lengths += [0] * (len(ids) - shared)
        for node in path:
            lengths[node] = max(lengths[node], len(ids))
        targets += _targets(example, path)
        if shared < len(ids):
            branches.append((path, shared))
        previous = ids
    for node in path:
        ends[node] = len(tokens)
    return _tensors(tokens, positions, ends, lengths, targets, branches, sum(len(e.token_ids) for e in examples))


def _targets(example: Example, path: Sequence[int]) -> list[tuple[int, int, str, bool]]:
    """(predicting node, target token, format, is it the verdict) for every completion token."""
    start = len(example.prompt_ids)
    return [
        (path[start + offset - 1], token, example.format, offset == example.verdict_index)
        for offset, token in enumerate(example.completion_ids)
    ]


def _tensors(
    tokens: list[int],
    positions: list[int],
    ends: list[int],
    lengths: list[int],
    targets: list[tuple[int, int, str, bool]],
    branches: list[tuple[list[int], int]],
    unshared_positions: int,
) -> PrefixTree:
    logit_nodes = sorted({node for node, *_ in targets})
    row_of = {node: row for row, node in enumerate(logit_nodes)}
    return PrefixTree(
        token_ids=torch.tensor(tokens),
        positions=torch.tensor(positions),
        subtree_ends=torch.tensor(ends),
        example_lengths=torch.tensor(lengths),
        logit_nodes=torch.tensor(logit_nodes),
        target_rows=torch.tensor([row_of[node] for node, *_ in targets]),
        target_ids=torch.tensor([token for _, token, _, _ in targets]),
        target_formats=tuple(format_ for _, _, format_, _ in targets),
        target_is_verdict=torch.tensor([verdict for *_, verdict in targets]),
        paths=tuple(torch.tensor(path) for path, _ in branches),
        own_starts=tuple(start for _, start in branches),
        unshared_positions=unshared_positions,
    )
