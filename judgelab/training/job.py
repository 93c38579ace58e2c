"""A training job: rows, model with adapter, and the LightningModule of the configured method."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hydra.utils import get_class
from peft import PeftModel

from judgelab.config.schema import Attention, TrainRoot
from judgelab.data.records import Pool
from judgelab.judges.rendering import Renderer
from judgelab.models.base import BaseModel
from judgelab.training.adapter import attach_lora
from judgelab.training.attention import BRANCHES
from judgelab.training.batches import ExampleBatches
from judgelab.training.causal_lm import CausalLM
from judgelab.training.examples import ExampleBuilder
from judgelab.training.fit import fit
from judgelab.training.prefix_tree import Example


@dataclass(frozen=True)
class TrainingJob:
    """Everything that `fit` needs; `counts` says how many rows were cut or lack a rationale."""

    config: TrainRoot
    model: PeftModel
    module: CausalLM
    train: list[Example]
    validation: list[Example]
    counts: Counter[str]

    @classmethod
    def prepare(cls, config: TrainRoot, pool: Pool, base: BaseModel, renderer: Renderer) -> "TrainingJob":
        """Render the rows of the method's condition and put a fresh adapter on the base model."""
        method: type[CausalLM] = get_class(config.method._target_)
        builder = ExampleBuilder(
            renderer, config.criterion, config.format, config.pair_format, config.trainer.max_length
        )
        condition = config.method.condition
        train = method.examples(builder, condition, pool.train, pool.train_pairs)
        counts = builder.counts.copy()
        validation = method.examples(builder, condition, pool.validation, pool.validation_pairs)
        model = attach_lora(base.model, config.model.lora, config.model.name, config.seed)
        if config.hardware.attention is Attention.sdpa:
            model.set_attn_implementation(BRANCHES)
        if config.hardware.gradient_checkpointing:
            model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        module = method(
            model=model,
            trainer_config=config.trainer,
            attention=config.hardware.attention,
            micro_batch_size=config.hardware.micro_batch_size,
            seed=config.seed,
            formats=sorted({example.format for example in [*train, *validation]}),
        )
        return cls(config, model, module, train, validation, counts)

    def fit(self, checkpoints: Path, log: Callable[[Mapping[str, float], int], None]) -> list[dict[str, float]]:
        """Train for all epochs; returns one history row per optimizer step and per validated epoch."""
        trainer = self.config.trainer
        batches = ExampleBatches(self.train, self.validation, trainer.batch_size, trainer.drop_last, self.config.seed)
        return fit(self.module, batches, self.config.hardware, checkpoints, log)

    @property
    def mixture_fraction(self) -> float:
        """The pointwise fraction w of the training rows (CPA eq. 1, Table 5)."""
        return sum(example.format == self.config.format.name for example in self.train) / len(self.train)
