"""The space of updates against dense arithmetic."""

import torch

from judgelab.models.lora_factors import LoraFactors
from judgelab.models.merged import with_update
from judgelab.models.tiny import tiny_model
from judgelab.models.update_space import UpdateSpace

NAMES = ("model.layers.0.self_attn.q_proj", "model.layers.1.mlp.down_proj")


def expert(seed: int) -> dict[str, LoraFactors]:
    drawn, model = torch.Generator().manual_seed(seed), tiny_model(1)
    shapes = {name: model.get_submodule(name).weight.shape for name in NAMES}
    return {
        name: LoraFactors(torch.randn(4, columns, generator=drawn), 0.1 * torch.randn(rows, 4, generator=drawn), 2.0)
        for name, (rows, columns) in shapes.items()
    }


def test_vectors_have_the_lengths_and_angles_of_the_dense_updates() -> None:
    first, second = expert(1), expert(2)
    space = UpdateSpace([first, second])
    vectors = [space.vector(each) for each in (first, second)]
    dense = [torch.cat([each[name].update().flatten() for name in NAMES]) for each in (first, second)]
    for left in (0, 1):
        torch.testing.assert_close(space.update(vectors[left], NAMES[1]), (first, second)[left][NAMES[1]].update())
        for right in (0, 1):
            torch.testing.assert_close(vectors[left] @ vectors[right], dense[left] @ dense[right], rtol=1e-4, atol=1e-4)
    assert space.size == len(vectors[0])


def test_more_ranks_than_inputs_still_hold_every_update() -> None:
    experts = [expert(seed) for seed in range(12)]  # 48 ranks of 32 inputs
    space = UpdateSpace(experts)
    torch.testing.assert_close(
        space.update(space.vector(experts[7]), NAMES[0]), experts[7][NAMES[0]].update(), rtol=1e-4, atol=1e-5
    )


def test_the_model_at_a_point_is_the_model_with_that_update() -> None:
    first, second = expert(1), expert(2)
    space, model, ids = UpdateSpace([first, second]), tiny_model(1), torch.arange(20)[None]
    point = (0.25 * space.vector(first) + 0.75 * space.vector(second)).requires_grad_()
    with space.at(model, point):
        found = model(ids).logits
    with with_update(tiny_model(1), NAMES, lambda n: 0.25 * first[n].update() + 0.75 * second[n].update()) as merged:
        torch.testing.assert_close(found, merged(ids).logits, rtol=1e-4, atol=1e-5)
    (slope,) = torch.autograd.grad(found.logsumexp(-1).sum(), point)
    assert slope.abs().sum() > 0
    torch.testing.assert_close(model(ids).logits, tiny_model(1)(ids).logits)
