"""Grouped heads read in place give what transformers' copied heads give."""

import pytest
import torch

from judgelab.models.attention import GROUPED_HEADS
from judgelab.models.tiny import tiny_model


@pytest.mark.parametrize("padding", [0, 3])
def test_logits_and_gradients_equal_those_of_copied_heads(padding: int) -> None:
    ids = torch.randint(0, 200, (3, 11), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    mask[1, :padding] = 0
    found = []
    for implementation in ("sdpa", GROUPED_HEADS):
        model = tiny_model(7)
        assert model.config.num_key_value_heads < model.config.num_attention_heads
        model.set_attn_implementation(implementation)
        logits = model(input_ids=ids, attention_mask=mask).logits[mask.bool()]
        logits.square().mean().backward()
        gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
        found.append((logits.detach(), gradients))
    (expected, expected_gradients), (logits, gradients) = found
    torch.testing.assert_close(logits, expected, rtol=1e-5, atol=1e-6)
    assert len(gradients) == len(expected_gradients) > 0
    for one, other in zip(gradients, expected_gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)
