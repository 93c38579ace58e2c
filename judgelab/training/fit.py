"""Running a LightningModule on the configured hardware, from the last checkpoint where there is one."""

import logging
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

import pytorch_lightning as pl

from judgelab.config.schema import HardwareConfig
from judgelab.errors import ConfigError
from judgelab.training.batches import ExampleBatches
from judgelab.training.callbacks import EpochCheckpoint, History, Progress, latest_checkpoint
from judgelab.training.causal_lm import CausalLM


def fit(
    module: CausalLM,
    batches: ExampleBatches,
    hardware: HardwareConfig,
    folder: Path,
    log: Callable[[Mapping[str, float], int], None],
) -> list[dict[str, float]]:
    """Train for all epochs and return the history rows; a killed run goes on after its last whole epoch."""
    if hardware.devices > 1 and (batches.batch_size % hardware.devices or not batches.drop_last):
        raise ConfigError(
            f"trainer.batch_size={batches.batch_size}, trainer.drop_last={batches.drop_last}: "
            f"hardware.devices={hardware.devices} needs full batches that it divides evenly"
        )
    history = History(log)
    with warnings.catch_warnings():
        # Batches are lists of examples: there is nothing for loader workers to do, and no sampler to replace.
        warnings.filterwarnings("ignore", message=".*does not have many workers.*")
        warnings.filterwarnings("ignore", message=".*overridden `transfer_batch_to_device`.*")
        warnings.filterwarnings("ignore", message=".*isinstance.treespec, LeafSpec.*")
        module.train()  # Lightning keeps the modes it finds, and the base model was loaded for evaluation
        trainer = _trainer(module, hardware, folder, history)
        # Checkpoints hold tensors and plain values only, so nothing but those is unpickled.
        trainer.fit(module, batches, ckpt_path=latest_checkpoint(folder), weights_only=True)
    return history.rows


def _trainer(module: CausalLM, hardware: HardwareConfig, folder: Path, history: History) -> pl.Trainer:
    logging.getLogger("pytorch_lightning.utilities.rank_zero").setLevel(logging.WARNING)
    return pl.Trainer(
        accelerator=hardware.accelerator,
        devices=hardware.devices,
        strategy=hardware.strategy,
        precision=hardware.precision,
        max_epochs=module.trainer_config.epochs,
        reload_dataloaders_every_n_epochs=1,
        use_distributed_sampler=False,
        num_sanity_val_steps=0,
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=folder,
        callbacks=[history, Progress(), EpochCheckpoint(folder)],
    )
