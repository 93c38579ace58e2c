"""Ancestor-only attention for prefix trees, as a dense mask (SDPA) or a block mask (FlexAttention)."""

from typing import Any

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import create_block_mask

from judgelab.config.schema import Attention


def ancestor_mask(subtree_ends: Tensor) -> Tensor:
    """Boolean mask [1, 1, N, N], true where the query node attends the key node."""
    nodes = torch.arange(subtree_ends.numel(), device=subtree_ends.device)
    query, key = nodes[:, None], nodes[None, :]
    return ((key <= query) & (query < subtree_ends[None, :]))[None, None]


def attention_mask(subtree_ends: Tensor, attention: Attention) -> Any:
    """The mask in the form that the attention kernel takes; both forms allow the same pairs."""
    if attention is Attention.sdpa:
        return ancestor_mask(subtree_ends)

    def is_ancestor(batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return (key <= query) & (query < subtree_ends[key])

    length = subtree_ends.numel()
    return create_block_mask(is_ancestor, None, None, length, length, device=str(subtree_ends.device))
