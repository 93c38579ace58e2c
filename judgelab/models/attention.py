"""Attention on CPUs that reads key and value heads in place where several query heads share them."""

from typing import Any

from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

GROUPED_HEADS = "sdpa_grouped_heads"


def grouped_head_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """SDPA in the form that transformers calls: `query` [B, heads, N, d] gives [B, N, heads, d].

    With a mask, transformers first copies each key and value head for every query head that shares it, since GPU
    kernels need that. On a CPU the copy is most of a decoding step.
    """
    if query.device.type != "cpu" or attention_mask is None:
        return sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, **kwargs
        )
    mixed = scaled_dot_product_attention(
        query, key, value, attn_mask=attention_mask, dropout_p=dropout, scale=scaling, enable_gqa=True
    )
    return mixed.transpose(1, 2).contiguous(), None


AttentionInterface.register(GROUPED_HEADS, grouped_head_attention)
AttentionMaskInterface.register(GROUPED_HEADS, sdpa_mask)
