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
    rows = logits.float()
    log_normalizer = torch.logsumexp(rows, dim=-1)
    picked = rows[tree.target_rows, tree.target_ids]
    nll = log_normalizer[tree.target_rows] - picked
    hits = rows.detach().argmax(dim=-1)[tree.target_rows] == tree.target_ids
    return {name: _select(name, nll, hits, tree) for name in sorted(set(tree.target_formats))}


def _select(name: str, nll: Tensor, hits: Tensor, tree: PrefixTree) -> FormatLoss:
    chosen = torch.tensor([format_ == name for format_ in tree.target_formats], device=nll.device)
    verdicts = chosen & tree.target_is_verdict
    return FormatLoss(
        nll_sum=nll[chosen].sum(),
        targets=int(chosen.sum()),
        verdicts=int(verdicts.sum()),
        correct_verdicts=int((hits & verdicts).sum()),
    )


def neftune_noise(embeddings: Tensor, example_lengths: Tensor, alpha: float) -> Tensor:
    """Uniform noise in ±α/√(L·d) for token embeddings (NEFTune eq. 1).

    `embeddings` [N, d]; L is the unpadded length [N] of the longest example that a node belongs to, so a
    shared token, which draws its noise once, never draws more than its examples would.
    """
    scale = alpha / torch.sqrt(example_lengths * embeddings.shape[-1])
    uniform = torch.rand(embeddings.shape, device=embeddings.device, dtype=torch.float32) * 2 - 1
    return (uniform * scale[:, None]).to(embeddings.dtype)
