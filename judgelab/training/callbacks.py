"""What happens beside the optimisation: history, progress on the screen, checkpoints."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.callbacks import Callback, Checkpoint
from tqdm import tqdm


class History(Callback):
    """One row per optimizer step and one per validated epoch; kept in checkpoints so that a resume loses none."""

    def __init__(self, log: Callable[[Mapping[str, float], int], None]) -> None:
        self.rows: list[dict[str, float]] = []
        self._log = log

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Record what the step returned."""
        self._add(trainer, {name: float(value) for name, value in outputs.items()})

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Record the epoch's validation metrics, which the module computed when the epoch ended."""
        self._add(trainer, dict(pl_module.validation_metrics))

    def _add(self, trainer: pl.Trainer, metrics: dict[str, float]) -> None:
        row = {"step": trainer.global_step, "epoch": trainer.current_epoch + 1, **metrics}
        self.rows.append(row)
        self._log(metrics, trainer.global_step)

    def state_dict(self) -> dict[str, Any]:
        """Rows so far."""
        return {"rows": self.rows}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Rows up to the checkpoint."""
        self.rows = list(state_dict["rows"])


def with_all_columns(rows: Sequence[Mapping[str, float]]) -> list[dict[str, float | None]]:
    """History rows as a table: steps and validated epochs have different metrics, null where one has none."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [{name: row.get(name) for name in names} for row in rows]


class Progress(Callback):
    """A bar with remaining time, target tokens per second and positions saved; one line per epoch elsewhere."""

    def __init__(self) -> None:
        self._bar: tqdm | None = None
        self._started = 0.0
        self._targets = self._saved = self._positions = 0.0

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Open the bar at the step that the run resumes from; `disable=None` keeps it off where no terminal is."""
        total = int(trainer.estimated_stepping_batches)
        hidden = None if trainer.is_global_zero else True
        self._bar = tqdm(total=total, initial=trainer.global_step, desc="training", unit="step", disable=hidden)
        self._started = time.monotonic()

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Advance the bar."""
        self._targets += outputs["train/target_tokens"]
        self._saved += outputs["train/saved_positions"]
        self._positions += outputs["train/model_positions"]
        if self._bar is not None:
            self._bar.set_postfix_str(f"loss {outputs['train/loss']:.3f}, {self.throughput}")
            self._bar.update()

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """One line per epoch, above the bar where there is one."""
        validation = pl_module.validation_metrics
        shown = ", ".join(
            f"{name.removeprefix('validation/').replace('_', ' ')} {value:.3f}"
            for name, value in validation.items()
            if name.endswith(("loss", "accuracy"))
        )
        if trainer.is_global_zero:
            tqdm.write(f"epoch {trainer.current_epoch + 1}/{trainer.max_epochs}: {self.throughput}; validation {shown}")

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Close the bar."""
        if self._bar is not None:
            self._bar.close()

    @property
    def throughput(self) -> str:
        """Target tokens per second since the start, and the share of positions that sharing saved."""
        seconds = max(time.monotonic() - self._started, 1e-9)
        saved = self._saved / max(self._saved + self._positions, 1.0)
        return f"{self._targets / seconds:.0f} target tokens/s, {saved:.0%} of positions shared"


class EpochCheckpoint(Checkpoint):
    """A checkpoint of adapter, optimizer and history after every epoch; all are kept (CPA Table 4)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Write beside, then rename, so that a killed run never leaves a torn checkpoint."""
        path = self.folder / f"epoch-{trainer.current_epoch + 1:03d}.ckpt"
        part = path.with_suffix(".part")
        self.folder.mkdir(parents=True, exist_ok=True)
        trainer.save_checkpoint(part, weights_only=False)  # with optimizer and history
        if trainer.is_global_zero:
            part.replace(path)


def latest_checkpoint(folder: Path) -> Path | None:
    """The checkpoint of the last finished epoch, if any."""
    return max(folder.glob("epoch-*.ckpt"), default=None)
