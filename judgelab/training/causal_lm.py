"""The common base of trainable judges: LoRA on a causal LM, prefix-tree batches, token-exact accumulation."""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import pytorch_lightning as pl
import torch
from torch import Tensor
from transformers import PreTrainedModel, get_cosine_schedule_with_warmup

from judgelab.config.schema import Attention, Condition, TrainerConfig
from judgelab.data.records import Item, Pair
from judgelab.run.randomness import derived_seed
from judgelab.training.attention import attention_arguments
from judgelab.training.examples import ExampleBuilder
from judgelab.training.gradient_guard import check_lora_gradients
from judgelab.training.losses import FormatLoss, format_losses, neftune_noise
from judgelab.training.prefix_tree import Example, PrefixTree, pack
from judgelab.training.statistics import BatchStatistics


class CausalLM(pl.LightningModule):
    """One optimizer step per batch: the batch holds all examples of the step, however they are split.

    The loss is the mean negative log-likelihood over the completion tokens of the whole batch, so it does
    not depend on the micro-batch size or the number of devices (CPA A.4: loss on completion tokens only).
    """

    def __init__(
        self,
        model: PreTrainedModel,
        trainer_config: TrainerConfig,
        attention: Attention,
        micro_batch_size: int,
        seed: int,
        formats: Sequence[str],
    ) -> None:
        super().__init__()
        self.model = model
        self.trainer_config = trainer_config
        self.attention = attention
        self.micro_batch_size = micro_batch_size
        self.seed = seed
        self.formats = tuple(formats)
        self.automatic_optimization = False
        self.strict_loading = False  # checkpoints hold the adapter only; on_load_checkpoint checks its keys
        self.validation_metrics: dict[str, float] = {}
        self._validation = BatchStatistics.zero(self.formats)

    @staticmethod
    @abstractmethod
    def examples(
        builder: ExampleBuilder, condition: Condition, items: Sequence[Item], pairs: Sequence[Pair]
    ) -> list[Example]:
        """The training rows of the method under a condition."""

    def logits(self, tree: PrefixTree, noise: bool) -> Tensor:
        """Logits [M, V] at the nodes that predict a target."""
        embeddings = self.model.get_input_embeddings()(tree.token_ids)
        if noise:
            embeddings = embeddings + neftune_noise(embeddings, tree.example_lengths, self.trainer_config.neftune_alpha)
        output = self.model(
            inputs_embeds=embeddings[None],
            **attention_arguments(tree, self.attention),
            position_ids=tree.positions[None],
            logits_to_keep=tree.logit_nodes,
            use_cache=False,
        )
        return output.logits[0]

    def training_step(self, batch: Sequence[Example], batch_idx: int) -> dict[str, float]:
        """Accumulate the gradients of all micro-batches, then take one optimizer step."""
        torch.manual_seed(derived_seed(self.seed, "training step", self.global_step, self.global_rank))
        step, learning_rate = self.global_step, self.lr_schedulers().get_last_lr()[0]
        statistics = self.accumulate_gradients(batch)
        if step == 0:
            check_lora_gradients(self.model)
        norm = self._optimizer_step()
        return {
            **{f"train/{name}": value for name, value in self._reduced(statistics).items()},
            "train/gradient_norm": norm,
            "train/learning_rate": learning_rate,
        }

    def accumulate_gradients(self, batch: Sequence[Example]) -> BatchStatistics:
        """Backward over this device's share of the batch; denominators are those of the whole batch."""
        denominator = sum(len(example.completion_ids) for example in batch)
        statistics = BatchStatistics.zero(self.formats)
        for micro_batch in self._micro_batches(batch):
            tree = pack(micro_batch).to(self.device)
            losses = format_losses(self.logits(tree, noise=self.trainer_config.neftune_alpha > 0), tree)
            # Data-parallel training averages gradients over devices; the objective is a sum over them.
            loss = self.objective(losses, denominator) * self._world_size
            self.manual_backward(loss)
            statistics.add(losses, tree)
        return statistics

    def objective(self, losses: Mapping[str, FormatLoss], denominator: int) -> Tensor:
        """Sum over formats and targets, divided by the number of targets in the whole batch."""
        return torch.stack([loss.nll_sum for loss in losses.values()]).sum() / denominator

    def validation_step(self, batch: Sequence[Example], batch_idx: int) -> None:
        """Teacher-forced losses and verdict accuracy of a batch, per format."""
        for micro_batch in self._micro_batches(batch):
            tree = pack(micro_batch).to(self.device)
            self._validation.add(format_losses(self.logits(tree, noise=False), tree), tree)

    def on_validation_epoch_end(self) -> None:
        """Turn the epoch's sums into means."""
        reduced = self._reduced(self._validation)
        self.validation_metrics = {f"validation/{name}": value for name, value in reduced.items()}
        self._validation = BatchStatistics.zero(self.formats)

    def configure_optimizers(self) -> dict[str, Any]:
        """Fused AdamW on the adapter with linear warm-up and cosine decay (CPA Table 4)."""
        config = self.trainer_config
        parameters = [parameter for parameter in self.parameters() if parameter.requires_grad]
        optimizer = torch.optim.AdamW(parameters, lr=config.learning_rate, weight_decay=config.weight_decay, fused=True)
        steps = int(self.trainer.estimated_stepping_batches)
        warmup = math.ceil(config.warmup_ratio * steps)
        scheduler = get_cosine_schedule_with_warmup(optimizer, warmup, steps)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}

    def transfer_batch_to_device(self, batch: Any, device: torch.device, dataloader_idx: int) -> Any:
        """Batches are plain examples; their trees move to the device when they are packed."""
        return batch

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Keep the adapter only; the base model is frozen and known by its identity."""
        names = self._adapter_names()
        checkpoint["state_dict"] = {k: v for k, v in checkpoint["state_dict"].items() if k in names}

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """A checkpoint must hold exactly this adapter."""
        if set(checkpoint["state_dict"]) != self._adapter_names():
            raise RuntimeError("the checkpoint's adapter does not fit this model; start in a new run folder")

    def _adapter_names(self) -> set[str]:
        return {name for name, parameter in self.named_parameters() if parameter.requires_grad}

    def _micro_batches(self, batch: Sequence[Example]) -> list[Sequence[Example]]:
        """This device's examples in micro-batches, sorted so that common prefixes meet."""
        rank = self.global_rank if self._world_size > 1 else 0
        ordered = sorted(batch, key=lambda example: example.token_ids)
        share = -(-len(ordered) // self._world_size)
        mine = ordered[rank * share : (rank + 1) * share]
        size = self.micro_batch_size
        return [mine[start : start + size] for start in range(0, len(mine), size)]

    def _optimizer_step(self) -> float:
        optimizer = self.optimizers()
        clip = self.trainer_config.gradient_clip
        norm = torch.nn.utils.clip_grad_norm_([p for p in self.parameters() if p.grad is not None], clip)
        optimizer.step()
        optimizer.zero_grad()
        self.lr_schedulers().step()
        return float(norm)

    def _reduced(self, statistics: BatchStatistics) -> dict[str, float]:
        if self._world_size > 1:
            return statistics.summed(lambda sums: self.all_gather(sums).sum(dim=0)).means()
        return statistics.means()

    @property
    def _world_size(self) -> int:
        attached = self._trainer is not None
        return self.trainer.world_size if attached else 1
