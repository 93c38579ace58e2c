"""Training losses of a study as functions of a point in a space of updates, twice differentiable."""

from collections.abc import Callable, Sequence

from hydra.utils import get_class
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from judgelab.config.schema import Attention
from judgelab.data.records import Item, Pair
from judgelab.errors import ConfigError
from judgelab.evaluation.study import JudgeStudy
from judgelab.models.update_space import UpdateSpace
from judgelab.run.randomness import generator
from judgelab.training.attention import BRANCHES
from judgelab.training.batches import chunks
from judgelab.training.causal_lm import CausalLM
from judgelab.training.curvature import LossParts
from judgelab.training.examples import ExampleBuilder
from judgelab.training.losses import format_losses
from judgelab.training.prefix_tree import Example, pack


def training_losses(study: JudgeStudy, space: UpdateSpace, rows: int) -> tuple[dict[str, LossParts], list[LossParts]]:
    """Both losses (pointwise, pairwise) over drawn training rows, and the pointwise one of each label, 0 first.

    In nats per target token. ConfigError where a label has no training item.
    """
    stored = study.config
    model = study.base.model.to(stored.hardware.accelerator).requires_grad_(False)
    model.set_attn_implementation(BRANCHES)
    method: type[CausalLM] = get_class(stored.method._target_)
    formats = (stored.format.name, stored.pair_format.name)
    size = stored.hardware.micro_batch_size
    module = method(model, stored.trainer, Attention.sdpa, size, stored.seed, formats)
    formats_of = (stored.criterion, stored.format, stored.pair_format)
    builder = ExampleBuilder(study.renderer, *formats_of, stored.trainer.max_length)
    items, pairs = _drawn(study.pool.train, study.pool.train_pairs, rows, stored.seed)
    losses = {
        "pointwise": _parts(module, space, builder.pointwise(items), size),
        "pairwise": _parts(module, space, builder.pairwise(pairs), size),
    }
    labels = [[item for item in items if item.label == label] for label in (0, 1)]
    return losses, [_parts(module, space, builder.pointwise(own), size) for own in labels]


def _drawn(items: Sequence[Item], pairs: Sequence[Pair], rows: int, seed: int) -> tuple[list[Item], list[Pair]]:
    """Training items of both labels and pairs, so many that each loss has about `rows` rows."""
    draws = generator(seed, "curvature rows")
    drawn: list[Item] = []
    for label in (0, 1):
        own = sorted((item for item in items if item.label == label), key=lambda item: item.item_id)
        if not own:
            raise ConfigError(f"the training split has no item of label {label}: there is no criterion direction")
        drawn += draws.sample(own, min(len(own), max(1, rows // 2)))
    ordered = sorted(pairs, key=lambda pair: pair.pair_id)
    return drawn, draws.sample(ordered, min(len(ordered), max(1, rows // 2)))


def _parts(module: CausalLM, space: UpdateSpace, examples: Sequence[Example], size: int) -> LossParts:
    targets = sum(len(example.completion_ids) for example in examples)
    ordered = sorted(examples, key=lambda example: example.token_ids)
    return [_part(module, space, batch, targets) for batch in chunks(ordered, size, drop_last=False)]


def _part(module: CausalLM, space: UpdateSpace, batch: Sequence[Example], targets: int) -> Callable[[Tensor], Tensor]:
    def loss(point: Tensor) -> Tensor:
        tree = pack(batch).to(point.device)
        # Only the plain kernel has second derivatives.
        with space.at(module.model, point), sdpa_kernel(SDPBackend.MATH):
            (only,) = format_losses(module.logits(tree, noise=False), tree).values()
        return only.nll_sum / targets

    return loss
