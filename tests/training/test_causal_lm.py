"""Accumulation does not change the objective; adapters that cannot learn are refused; noise is training-only."""

import pytest
import torch

from judgelab.errors import TrainingError
from judgelab.models.tiny import tiny_model
from judgelab.training.gradient_guard import check_lora_gradients
from judgelab.training.job import TrainingJob
from judgelab.training.losses import neftune_noise
from judgelab.training.prefix_tree import pack
from tests.training.conftest import tiny_config, tiny_job


def _gradient_of_step(job: TrainingJob, micro_batch_size: int) -> torch.Tensor:
    module = job.module
    module.micro_batch_size = micro_batch_size
    module.manual_backward = lambda loss: loss.backward()
    module.zero_grad()
    module.accumulate_gradients(job.train[:16])
    return torch.cat([p.grad.flatten() for p in module.parameters() if p.grad is not None])


def test_one_by_sixteen_equals_four_by_four_equals_sixteen_by_one() -> None:
    job = tiny_job(tiny_config("data.limit=12", "trainer.batch_size=16", "trainer.neftune_alpha=0"))
    whole = _gradient_of_step(job, 16)
    for size in (4, 1):
        split = _gradient_of_step(job, size)
        assert (torch.linalg.vector_norm(split - whole) / torch.linalg.vector_norm(whole)).item() <= 1e-5


def test_per_format_statistics_add_up(job: TrainingJob) -> None:
    job.module.manual_backward = lambda loss: loss.backward()
    metrics = job.module.accumulate_gradients(job.train).means()
    targets = {f: sum(len(e.completion_ids) for e in job.train if e.format == f) for f in ("pointwise", "pairwise")}
    mixed = sum(metrics[f"{f}_loss"] * n for f, n in targets.items()) / sum(targets.values())
    assert metrics["loss"] == pytest.approx(mixed, rel=1e-6)
    assert metrics["target_tokens"] == sum(targets.values())
    assert metrics["model_positions"] + metrics["saved_positions"] == sum(len(e.token_ids) for e in job.train)
    assert metrics["saved_positions"] > metrics["model_positions"]


def test_neftune_noise_is_bounded_by_the_unpadded_length() -> None:
    lengths = torch.tensor([4] * 500 + [400] * 500)
    noise = neftune_noise(torch.zeros(1000, 16), lengths, alpha=5.0)
    for rows, length in ((noise[:500], 4), (noise[500:], 400)):
        bound = 5.0 / (length * 16) ** 0.5
        assert rows.abs().max() <= bound
        assert rows.abs().max() > 0.99 * bound
        assert rows.mean().abs() < 0.05 * bound


def test_noise_is_drawn_in_training_only() -> None:
    job = tiny_job(tiny_config("trainer.neftune_alpha=50"))
    job.module.eval()
    tree = pack(job.train[:2])
    quiet = job.module.logits(tree, noise=False)
    assert torch.equal(quiet, job.module.logits(tree, noise=False))
    assert not torch.allclose(quiet, job.module.logits(tree, noise=True))
    job.module.validation_step(job.train[:2], 0)
    first = job.module._validation.means()["loss"]
    job.module.on_validation_epoch_end()
    assert job.module.validation_metrics["validation/loss"] == first


def test_an_adapter_without_gradient_is_refused(job: TrainingJob) -> None:
    job.module.manual_backward = lambda loss: loss.backward()
    job.module.accumulate_gradients(job.train[:4])
    check_lora_gradients(job.model)
    name, parameter = next((n, p) for n, p in job.model.named_parameters() if "lora_B" in n)
    parameter.grad.zero_()
    with pytest.raises(TrainingError, match=r"1 of \d+ .*lora_B.*target_modules") as caught:
        check_lora_gradients(job.model)
    assert name in str(caught.value)


def test_a_model_without_adapter_is_refused() -> None:
    with pytest.raises(TrainingError, match="no trainable lora_B"):
        check_lora_gradients(tiny_model(0))
