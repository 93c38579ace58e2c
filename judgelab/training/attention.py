"""Ancestor-only attention for prefix trees: branch by branch (SDPA) or by a block mask (FlexAttention).

A dense N x N mask would let the quadratic cost of all pairs eat what sharing saves. Branch by branch, the nodes that
an example adds to the tree attend its own path only, so the cost stays that of the padded batch or less.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import create_block_mask
from torch.nn.functional import scaled_dot_product_attention
from torch.nn.utils.rnn import pad_sequence
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import sdpa_mask

from judgelab.config.schema import Attention
from judgelab.models.attention import grouped_head_attention
from judgelab.training.prefix_tree import PrefixTree

BRANCHES = "prefix_tree"


@dataclass(frozen=True)
class Branches:
    """B branches of similar length, padded to U own nodes and L path nodes.

    `queries` [B, U] and `keys` [B, L] are nodes; `mask` [B, 1, U, L] is true where a query's path holds the key.
    Padding repeats the last node of its branch, so that no query is without a key.
    """

    queries: Tensor
    keys: Tensor
    mask: Tensor


@dataclass(frozen=True)
class BranchGroups:
    """All branches of a tree, grouped by length; `rows` [N] is each node's place in the groups' flattened queries."""

    groups: tuple[Branches, ...]
    rows: Tensor


def branches(tree: PrefixTree) -> BranchGroups:
    """The branches of a tree, from one fork to the next."""
    segments = sorted(_segments(tree), key=lambda segment: segment[1] - segment[0])
    groups: list[list[tuple[int, int, Tensor]]] = []
    for segment in segments:
        # Padding costs at most half of a group: a long shared rubric does not lengthen every short response.
        if groups and segment[1] - segment[0] <= 2 * (groups[-1][0][1] - groups[-1][0][0]):
            groups[-1].append(segment)
        else:
            groups.append([segment])
    rows = torch.empty_like(tree.token_ids)
    packed, offset = [], 0
    for group in groups:
        packed.append(_packed(group, tree.positions))
        width = packed[-1].queries.shape[1]
        for start, stop, path in group:
            rows[path[start:stop]] = torch.arange(offset, offset + stop - start, device=rows.device)
            offset += width
    return BranchGroups(tuple(packed), rows)


def _segments(tree: PrefixTree) -> list[tuple[int, int, Tensor]]:
    """Stretches of nodes without a fork: start and stop depth, and a path that runs through them."""
    owner = torch.empty_like(tree.token_ids)
    for branch, (path, start) in enumerate(zip(tree.paths, tree.own_starts, strict=True)):
        owner[path[start:]] = branch
    cuts = [{start, path.numel()} for path, start in zip(tree.paths, tree.own_starts, strict=True)]
    for path, start in zip(tree.paths, tree.own_starts, strict=True):
        if start:
            cuts[int(owner[path[start - 1]])].add(start)
    found = []
    for path, depths in zip(tree.paths, cuts, strict=True):
        found += [(start, stop, path) for start, stop in pairwise(sorted(depths))]
    return found


def _packed(group: list[tuple[int, int, Tensor]], positions: Tensor) -> Branches:
    queries = _padded([path[start:stop] for start, stop, path in group])
    keys = _padded([path[:stop] for _, stop, path in group])
    depth = torch.arange(keys.shape[1], device=keys.device)
    mask = depth[None, None, :] <= positions[queries][:, :, None]
    return Branches(queries, keys, mask[:, None])


def _padded(nodes: list[Tensor]) -> Tensor:
    padded = pad_sequence(nodes, batch_first=True, padding_value=-1)
    last = torch.stack([each[-1] for each in nodes])
    return torch.where(padded < 0, last[:, None], padded)


def branch_attention(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    branches: BranchGroups | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Attention in the form that transformers calls; without branches (generation) it is plain SDPA.

    `query` is [1, heads, N, d], the result [1, N, heads, d].
    """
    if branches is None:
        return grouped_head_attention(module, query, key, value, attention_mask, scaling=scaling, **kwargs)
    mixed = [
        scaled_dot_product_attention(
            _gathered(query, group.queries),
            _gathered(key, group.keys),
            _gathered(value, group.keys),
            attn_mask=group.mask,
            scale=scaling,
            enable_gqa=True,
        )
        for group in branches.groups
    ]
    flat = torch.cat([each.transpose(1, 2).flatten(0, 1) for each in mixed])
    return flat.index_select(0, branches.rows)[None], None


def _gathered(states: Tensor, nodes: Tensor) -> Tensor:
    """States [1, heads, N, d] of the nodes [B, K] as [B, heads, K, d]."""
    # The backward of index_select adds in a fixed order; that of indexing does not, and runs would not repeat.
    picked = states[0].index_select(1, nodes.flatten())
    return picked.unflatten(1, nodes.shape).transpose(0, 1)


AttentionInterface.register(BRANCHES, branch_attention)
AttentionMaskInterface.register(BRANCHES, sdpa_mask)


def attention_arguments(tree: PrefixTree, attention: Attention) -> dict[str, Any]:
    """What the model's forward needs so that every node attends exactly itself and its ancestors."""
    if attention is Attention.flex:
        return {"attention_mask": ancestor_block_mask(tree.subtree_ends)}
    found = branches(tree)
    # A four-dimensional mask is passed on as it is; the branches go to `branch_attention` by name.
    return {"attention_mask": found.groups[0].mask, "branches": found}


def ancestor_block_mask(subtree_ends: Tensor) -> Any:
    """FlexAttention's block mask, true where the query node attends the key node."""

    def is_ancestor(batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return (key <= query) & (query < subtree_ends[key])

    length = subtree_ends.numel()
    return create_block_mask(is_ancestor, None, None, length, length, device=str(subtree_ends.device))
