"""Objectives as (sum, count), so that accumulation and device splits cannot change them."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from judgelab.training.prefix_tree import PrefixTree


@dataclass(frozen=True)
class FormatLoss:
    """Sums over the targets of one format; divide by the counts to get means.

    `nll_sum` is a scalar tensor in nats that carries the gradient; the rest are plain counts.
    """

    nll_sum: Tensor
    targets: int
    verdicts: int
    correct_verdicts: int


def format_losses(logits: Tensor, tree: PrefixTree) -> Mapping[str, FormatLoss]:
    """Negative log-likelihood of every format's targets (CPA eq. 1, the two terms before weighting).

    `logits` [M, V] are those of `tree.logit_nodes`. A verdict is correct when its token has the highest
    logit given the reference rationale.
    """
    rows = _target_logits(logits.float(), tree)
    # Not cross_entropy: on CPUs its sum over a large vocabulary is off by 1e-5, which gradients then inherit.
    nll = torch.logsumexp(rows, dim=-1) - rows.gather(1, tree.target_ids[:, None])[:, 0]
    verdicts = tree.target_is_verdict
    correct = torch.zeros_like(verdicts)
    correct[verdicts] = rows.detach()[verdicts].argmax(dim=-1) == tree.target_ids[verdicts]
    return {name: _select(name, nll, correct, tree) for name in sorted(set(tree.target_formats))}


def _target_logits(rows: Tensor, tree: PrefixTree) -> Tensor:
    """Logits [T, V] of every target; they are `rows` itself, uncopied, unless completions of one prompt fork."""
    if torch.equal(tree.target_rows, torch.arange(len(rows), device=rows.device)):
        return rows
    return rows.index_select(0, tree.target_rows)


def _select(name: str, nll: Tensor, correct: Tensor, tree: PrefixTree) -> FormatLoss:
    chosen = torch.tensor([format_ == name for format_ in tree.target_formats], device=nll.device)
    return FormatLoss(
        nll_sum=nll[chosen].sum(),
        targets=int(chosen.sum()),
        verdicts=int((chosen & tree.target_is_verdict).sum()),
        correct_verdicts=int((chosen & correct).sum()),
    )


def neftune_noise(embeddings: Tensor, example_lengths: Tensor, alpha: float) -> Tensor:
    """Uniform noise in ±α/√(L·d) for token embeddings (NEFTune eq. 1).

    `embeddings` [N, d]; L is the unpadded length [N] of the longest example that a node belongs to, so a
    shared token, which draws its noise once, never draws more than its examples would.
    """
    scale = alpha / torch.sqrt(example_lengths * embeddings.shape[-1])
    uniform = torch.rand(embeddings.shape, device=embeddings.device, dtype=torch.float32) * 2 - 1
    return (uniform * scale[:, None]).to(embeddings.dtype)
