"""How likely a transformers model is to reply with each verdict: one forward over the prompts and the verdict tree."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import create_block_mask

from judgelab.config.schema import Attention
from judgelab.engines.hf_prefixes import ReadBatch
from judgelab.engines.verdict_tree import VerdictTree
from judgelab.errors import ConfigError


def check_attention(model: Any) -> None:
    """Raise ConfigError for a model that would read a tree as one line: recurrent or sliding layers take no mask."""
    config = model.config.get_text_config()
    kinds = getattr(config, "layer_types", None) or ["sliding_attention"] * bool(
        getattr(config, "sliding_window", None)
    )
    odd = sorted(set(kinds) - {"full_attention"}) or ["recurrent"] * getattr(model, "_is_stateful", False)
    if odd:
        raise ConfigError(
            f"decoding=expected: engine=hf reads all verdicts at once, which the {' and '.join(odd)} layers of "
            f"{config.name_or_path or config.model_type} cannot; use engine=vllm"
        )


@torch.inference_mode()
def verdict_log_probabilities(
    model: Any, batch: ReadBatch, rows: Sequence[int], tree: VerdictTree, stop_ids: Sequence[int]
) -> list[list[float]]:
    """Log-probability of every verdict of the tree, per chosen row of the batch.

    The tree stands behind each prompt as one stretch of tokens, of which each sees the prompt, its ancestors and
    itself, at the position it would have in its own reply.
    """
    device = batch.tail.device
    chosen = torch.tensor(rows, device=device)
    read = batch.lead.shape[1]
    prompt_mask = torch.cat([batch.lead_mask, batch.tail_mask], dim=1)[chosen].bool()
    nodes = torch.tensor(tree.tokens, device=device).expand(len(rows), -1)
    depths = torch.tensor([len(path) for path in tree.paths[1:]], device=device)
    prompt_positions = (prompt_mask.long().cumsum(dim=1) - 1).clamp(min=0)
    positions = torch.cat([prompt_positions, prompt_positions[:, -1:] + depths], dim=1)
    logits = model(
        input_ids=torch.cat([batch.tail[chosen], nodes], dim=1),
        attention_mask=_attention_mask(_visible(prompt_mask, tree)[:, read:], model),
        position_ids=positions[:, read:],
        past_key_values=batch.cache_of(chosen, batch.tail.shape[1] + len(tree.tokens)),
        use_cache=True,
        logits_to_keep=1 + len(tree.tokens),
    ).logits
    return _read_tree(logits, tree, stop_ids)


def _visible(prompt_mask: Tensor, tree: VerdictTree) -> Tensor:
    """Which token [rows, tokens, tokens] of prompt and tree sees which."""
    length, total = prompt_mask.shape[1], prompt_mask.shape[1] + len(tree.tokens)
    visible = torch.ones(total, total, dtype=torch.bool, device=prompt_mask.device).tril()
    visible[length:, length:] = False
    for node, parent in enumerate(tree.parents, start=1):
        if parent:
            visible[length + node - 1, length:] = visible[length + parent - 1, length:]
        visible[length + node - 1, length + node - 1] = True
    seen = torch.nn.functional.pad(prompt_mask, (0, len(tree.tokens)), value=True)
    # Padding sees itself, so that no row of the softmax is empty.
    return (visible & seen[:, None]) | torch.eye(total, dtype=torch.bool, device=prompt_mask.device)


def _attention_mask(visible: Tensor, model: Any) -> Any:
    """What is visible [rows, queries, keys], in the form that the model's attention kernel takes."""
    if model.config._attn_implementation == Attention.flex.value:
        rows, queries, keys = visible.shape
        device = str(visible.device)
        return create_block_mask(lambda r, head, q, k: visible[r, q, k], rows, None, queries, keys, device=device)
    hidden = torch.finfo(model.dtype).min
    mask = torch.zeros(visible.shape, dtype=model.dtype, device=visible.device)
    return mask.masked_fill(~visible, hidden)[:, None]


def _read_tree(logits: Tensor, tree: VerdictTree, stop_ids: Sequence[int]) -> list[list[float]]:
    """Verdict log-probabilities from logits [rows, nodes, vocabulary], node 0 first."""
    scores = logits.float()
    total = scores.logsumexp(dim=-1)
    parents, tokens = (torch.tensor(values, device=logits.device) for values in (tree.parents, tree.tokens))
    steps = (scores[:, parents, tokens] - total[:, parents]).tolist()
    stops = (scores[:, :, list(stop_ids)].logsumexp(dim=-1) - total).tolist()
    return [tree.log_probabilities(*each) for each in zip(steps, stops, strict=True)]
