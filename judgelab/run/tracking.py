"""Weights & Biases: a view of the run folder, and the only module that knows it."""

import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgelab.config.schema import LoggerConfig
from judgelab.errors import ConfigError
from judgelab.run.folder import write_atomic

if TYPE_CHECKING:
    import wandb

RUN_ID = "wandb_run_id"
STEP = "trainer/global_step"
MODES = ("auto", "online", "offline", "disabled")


class Tracker:
    """Receives what a run measures; this one, for logger.mode=disabled, keeps nothing."""

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        """Add a point to each metric's curve at an optimizer step."""

    def table(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Show rows for reading, at most logger.sample_rows of them; the parquet file has all."""

    def summary(self, metrics: Mapping[str, float | None]) -> None:
        """Set the run's final metrics."""

    def finish(self, exit_code: int) -> None:
        """Close the run; any code but 0 shows it as failed."""


class WandbTracker(Tracker):
    """Sends what a run measures to a started W&B run."""

    def __init__(self, run: "wandb.Run", sample_rows: int) -> None:
        self._run = run
        self._sample_rows = sample_rows
        # An axis of their own keeps the points of a resumed run, which goes back to its last checkpoint:
        # W&B drops points whose own step goes back.
        run.define_metric(STEP, hidden=True)
        run.define_metric("*", step_metric=STEP)

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        self._run.log({**metrics, STEP: step})

    def table(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        import wandb

        shown = [list(row) for row in rows[: self._sample_rows]]
        self._run.log({name: wandb.Table(columns=list(columns), data=shown)})

    def summary(self, metrics: Mapping[str, float | None]) -> None:
        self._run.summary.update(dict(metrics))

    def finish(self, exit_code: int) -> None:
        self._run.finish(exit_code=exit_code)


def start_tracking(logger: LoggerConfig, folder: Path, stage: str, name: str, config: dict[str, Any]) -> Tracker:
    """Start the W&B run of a run folder; raises ConfigError for an unknown mode or a failed start.

    Mode `auto` follows WANDB_MODE where it is set; else it is online where a key is known, else offline.
    """
    mode = os.environ.get("WANDB_MODE", "auto") if logger.mode == "auto" else logger.mode
    if mode not in MODES:
        source = "WANDB_MODE" if logger.mode == "auto" else "logger.mode"
        raise ConfigError(f"{source}={mode!r}: expected one of {', '.join(MODES)}")
    if mode == "disabled":
        return Tracker()
    import wandb

    try:
        online = mode == "online" or (mode == "auto" and _has_login())
        run = _start(logger, folder, stage, name, config, online)
    except wandb.Error as error:
        raise ConfigError(
            f"logger.mode={logger.mode}: Weights & Biases could not start ({error}); check the network and "
            "WANDB_API_KEY, or run with logger.mode=offline"
        ) from error
    return WandbTracker(run, logger.sample_rows)


def _has_login() -> bool:
    """Whether W&B knows a key without asking for one: from the environment, or from netrc for its host."""
    import wandb
    from wandb.sdk.lib import wbauth

    settings = wandb.setup(_quiet()).settings
    return bool(settings.api_key or wbauth.read_netrc_auth(host=settings.base_url))


def _start(
    logger: LoggerConfig, folder: Path, stage: str, name: str, config: dict[str, Any], online: bool
) -> "wandb.Run":
    import wandb

    wandb.setup(_quiet())
    # Offline attempts that share an id would overwrite each other when they are synced; the group links them.
    return wandb.init(
        project=logger.project,
        entity=logger.entity,
        group=logger.group,
        job_type=stage,
        name=name,
        tags=list(logger.tags),
        config=config,
        dir=folder,
        mode="online" if online else "offline",
        id=_run_id(folder) if online else secrets.token_hex(4),
        resume="allow" if online else None,
        settings=_quiet(),
    )


def _quiet() -> "wandb.Settings":
    import wandb

    # Uploading must not hold a finished run for ever: what was not sent stays on disk for `wandb sync`.
    return wandb.Settings(silent=True, console="off", init_timeout=60, finish_timeout=300)


def _run_id(folder: Path) -> str:
    """The folder's W&B run id, the same in every attempt."""
    path = folder / RUN_ID
    if not path.exists():
        write_atomic(path, secrets.token_hex(4))
    return path.read_text().strip()
