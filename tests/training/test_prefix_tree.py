"""Prefix trees against brute force, and their loss and gradients against the padded batch."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from judgelab.config.schema import Attention
from judgelab.errors import TrainingError
from judgelab.models.tiny import tiny_model
from judgelab.training.attention import BRANCHES, ancestor_block_mask, attention_arguments, branches
from judgelab.training.losses import format_losses
from judgelab.training.prefix_tree import Example, PrefixTree, pack

TOKENS = st.lists(st.integers(0, 3), min_size=1, max_size=6).map(tuple)


def example(index: int, prompt: tuple[int, ...], completion: tuple[int, ...], format_: str = "pointwise") -> Example:
    return Example(str(index), format_, prompt, completion, len(completion) - 1)


@st.composite
def batches(draw: st.DrawFn) -> list[Example]:
    rows = draw(st.lists(st.tuples(TOKENS, TOKENS, st.sampled_from(["pointwise", "pairwise"])), min_size=1, max_size=7))
    return [example(i, *row) for i, row in enumerate(rows)]


@given(batches())
def test_nodes_are_the_distinct_prefixes(batch: list[Example]) -> None:
    tree = pack(batch)
    prefixes = {e.token_ids[:length] for e in batch for length in range(1, len(e.token_ids) + 1)}
    assert tree.num_nodes == len(prefixes)
    assert set(_paths(tree)) == prefixes
    assert tree.unshared_positions == sum(len(e.token_ids) for e in batch)


@given(batches())
def test_attention_sees_exactly_ancestors(batch: list[Example]) -> None:
    tree = pack(batch)
    paths = _paths(tree)
    expected = [[q[: len(k)] == k for k in paths] for q in paths]
    assert _ancestors(tree).tolist() == expected
    assert tree.positions.tolist() == [len(path) - 1 for path in paths]


@given(batches())
def test_targets_are_the_completions(batch: list[Example]) -> None:
    tree = pack(batch)
    paths = _paths(tree)
    nodes = tree.logit_nodes[tree.target_rows].tolist()
    found = sorted(
        (paths[n], t, f) for n, t, f in zip(nodes, tree.target_ids.tolist(), tree.target_formats, strict=True)
    )
    expected = sorted(
        (e.prompt_ids + e.completion_ids[:i], token, e.format)
        for e in batch
        for i, token in enumerate(e.completion_ids)
    )
    assert found == expected
    assert int(tree.target_is_verdict.sum()) == len(batch)


@given(batches())
def test_lengths_are_those_of_the_longest_example_through_a_node(batch: list[Example]) -> None:
    tree = pack(batch)
    expected = [max(len(e.token_ids) for e in batch if e.token_ids[: len(p)] == p) for p in _paths(tree)]
    assert tree.example_lengths.tolist() == expected


@given(batches())
def test_branches_let_every_node_attend_its_ancestors_once(batch: list[Example]) -> None:
    tree = pack(batch)
    found = branches(tree)
    asked = [(group, branch, slot) for group in found.groups for branch, slot in np.ndindex(*group.queries.shape)]
    attended = torch.zeros(tree.num_nodes, tree.num_nodes, dtype=torch.int64)
    for node, place in enumerate(found.rows.tolist()):
        group, branch, slot = asked[place]
        assert int(group.queries[branch, slot]) == node
        keys = group.keys[branch][group.mask[branch, 0, slot]]
        attended[node].index_add_(0, keys, torch.ones_like(keys))
    assert torch.equal(attended, _ancestors(tree).long())
    assert all(bool(group.mask.any(dim=-1).all()) for group in found.groups)


@given(batches())
def test_padding_never_takes_more_than_half_of_a_group(batch: list[Example]) -> None:
    found = branches(pack(batch))
    assert sum(group.queries.numel() for group in found.groups) <= 2 * found.rows.numel()


@settings(max_examples=20, deadline=None)
@given(batches())
def test_the_block_mask_allows_the_same_pairs(batch: list[Example]) -> None:
    tree = pack(batch)
    block = ancestor_block_mask(tree.subtree_ends)
    nodes = torch.arange(tree.num_nodes)
    zero = torch.tensor(0)
    allowed = [[bool(block.mask_mod(zero, zero, q, k)) for k in nodes] for q in nodes]
    assert allowed == _ancestors(tree).tolist()


def _ancestors(tree: PrefixTree) -> torch.Tensor:
    """Dense mask [N, N] by the documented rule: k <= q < subtree_ends[k]."""
    nodes = torch.arange(tree.num_nodes)
    return (nodes[None, :] <= nodes[:, None]) & (nodes[:, None] < tree.subtree_ends[None, :])


def _paths(tree: PrefixTree) -> list[tuple[int, ...]]:
    """Token path of every node, rebuilt from depth-first order and depth alone."""
    paths: list[tuple[int, ...]] = []
    current: list[int] = []
    for token, depth in zip(tree.token_ids.tolist(), tree.positions.tolist(), strict=True):
        current = [*current[:depth], token]
        paths.append(tuple(current))
    return paths


RUBRIC = tuple(range(40, 80))
CASES = {
    "joint mixture": [
        example(0, (*RUBRIC, 1, 2, 3), (9, 8, 7)),
        example(1, (*RUBRIC, 1, 2, 3), (9, 5)),
        example(2, (*RUBRIC, 1, 2, 3, 4, 5), (6, 6, 6, 1), "pairwise"),
        example(3, (*RUBRIC, 4, 5, 1, 2), (6, 1), "pairwise"),
    ],
    "mixed lengths": [example(i, tuple(range(1, 2 + 7 * i)), tuple(range(90, 92 + i))) for i in range(5)],
    "one-token suffixes": [example(i, (*RUBRIC, i), (100 + i,)) for i in range(6)],
    "identical rows": [example(i, RUBRIC, (3, 2, 1)) for i in range(4)],
    "no shared prefix": [example(i, (i, 50, 51, 52), (60, 61)) for i in range(5)],
    "a completion inside another prompt": [example(0, RUBRIC, (1, 2)), example(1, (*RUBRIC, 1, 2, 3), (4,))],
}


@pytest.mark.parametrize("name", CASES)
def test_loss_and_gradients_equal_the_padded_batch(name: str) -> None:
    batch = CASES[name]
    model = tiny_model(seed=3)
    padded_loss = _padded_loss(model, batch)
    padded = _gradients(model, padded_loss)
    model.set_attn_implementation(BRANCHES)
    tree_loss = _tree_loss(model, batch)
    tree = _gradients(model, tree_loss)
    assert tree_loss.item() == pytest.approx(padded_loss.item(), rel=1e-5)
    assert (torch.linalg.vector_norm(tree - padded) / torch.linalg.vector_norm(padded)).item() <= 1e-5


def _padded_loss(model: nn.Module, batch: list[Example]) -> torch.Tensor:
    longest = max(len(e.token_ids) for e in batch)
    ids = torch.tensor([[*e.token_ids, *[0] * (longest - len(e.token_ids))] for e in batch])
    attended = torch.tensor([[1] * len(e.token_ids) + [0] * (longest - len(e.token_ids)) for e in batch])
    labels = torch.full_like(ids, -100)
    for row, e in enumerate(batch):
        start, stop = len(e.prompt_ids), len(e.token_ids)
        labels[row, start:stop] = ids[row, start:stop]
    logits = model(input_ids=ids, attention_mask=attended).logits[:, :-1]
    return nn.functional.cross_entropy(logits.flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100)


def _tree_loss(model: nn.Module, batch: list[Example]) -> torch.Tensor:
    tree = pack(batch)
    logits = model(
        inputs_embeds=model.get_input_embeddings()(tree.token_ids)[None],
        **attention_arguments(tree, Attention.sdpa),
        position_ids=tree.positions[None],
        logits_to_keep=tree.logit_nodes,
    ).logits[0]
    losses = format_losses(logits, tree).values()
    return sum(loss.nll_sum for loss in losses) / sum(loss.targets for loss in losses)


def _gradients(model: nn.Module, loss: torch.Tensor) -> torch.Tensor:
    parameters = [p for p in model.parameters() if p.requires_grad]
    return torch.cat([g.flatten() for g in torch.autograd.grad(loss, parameters)])


@pytest.mark.parametrize(
    ("prompt", "completion", "verdict"), [((), (1,), 0), ((1,), (), 0), ((1,), (2, 3), 2), ((1,), (2,), -1)]
)
def test_a_row_that_cannot_be_learned_is_refused(prompt: tuple, completion: tuple, verdict: int) -> None:
    with pytest.raises(TrainingError, match="example row-7"):
        Example("row-7", "pointwise", prompt, completion, verdict)
