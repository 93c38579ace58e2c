"""Ancestor-only attention for prefix trees: branch by branch (SDPA) or by a block mask (FlexAttention).

A dense N x N mask would let the quadratic cost of all pairs eat what sharing saves. Branch by branch, the nodes that
an example adds to the tree attend its own path only, so the cost stays that of the padded batch or less.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import create_block_mask
from torch.nn.functional import scaled_dot_product_attention
from torch.nn.utils.rnn import pad_sequence
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import repeat_kv, sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from judgelab.config.schema import Attention
from judgelab.training.prefix_tree import PrefixTree

BRANCHES = "prefix_tree"


@dataclass(frozen=True)
class Branches:
    """B branches padded to U own nodes and L path nodes.

    `queries` [B, U] and `keys` [B, L] are nodes; `mask` [B, 1, U, L] is true where a query's path holds the key;
    `rows` [N] is where each node stands in the flattened queries. Padding repeats the last node of its branch, so
    that no query is without a key.
    """

    queries: Tensor
    keys: Tensor
    mask: Tensor
    rows: Tensor


def branches(tree: PrefixTree) -> Branches:
    """The branches of a tree."""
    queries = [path[start:] for path, start in zip(tree.paths, tree.own_starts, strict=True)]
    padded_queries, padded_keys = _padded(queries), _padded(list(tree.paths))
    depth = torch.arange(padded_keys.shape[1], device=padded_keys.device)
    mask = depth[None, None, :] <= tree.positions[padded_queries][:, :, None]
    own = torch.arange(padded_queries.numel(), device=padded_queries.device).view(padded_queries.shape)
    rows = torch.empty_like(tree.token_ids)
    for branch, nodes in enumerate(queries):
        rows[nodes] = own[branch, : nodes.numel()]
    return Branches(padded_queries, padded_keys, mask[:, None], rows)


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
    branches: Branches | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Attention in the form that transformers calls; without branches (generation) it is plain SDPA.

    `query` is [1, heads, N, d], the result [1, N, heads, d].
    """
    if branches is None:
        return sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **kwargs)
    groups = module.num_key_value_groups
    mixed = scaled_dot_product_attention(
        _gathered(query, branches.queries),
        repeat_kv(_gathered(key, branches.keys), groups),
        repeat_kv(_gathered(value, branches.keys), groups),
        attn_mask=branches.mask,
        scale=scaling,
    )
    return mixed.transpose(1, 2).flatten(0, 1).index_select(0, branches.rows)[None], None


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
    return {"attention_mask": found.mask, "branches": found}


def ancestor_block_mask(subtree_ends: Tensor) -> Any:
    """FlexAttention's block mask, true where the query node attends the key node."""

    def is_ancestor(batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return (key <= query) & (query < subtree_ends[key])

    length = subtree_ends.numel()
    return create_block_mask(is_ancestor, None, None, length, length, device=str(subtree_ends.device))
