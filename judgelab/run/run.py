"""One run of a stage, from its folder to its manifest."""

import math
import os
import random
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, cast

import numpy as np
import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from judgelab.config.schema import StudyRoot
from judgelab.errors import RunFolderError
from judgelab.run.folder import FolderLock, changed_keys, config_hash, run_folder, write_atomic, write_json
from judgelab.run.manifest import Record, command_line, read_manifest, write_manifest
from judgelab.run.tracking import Tracker, start_tracking

CONFIG = "config.yaml"
METRICS = "metrics.json"


@dataclass
class Run:
    """A run in progress, or one that is `finished`: then there is nothing left to do in its folder."""

    folder: Path
    config_hash: str
    finished: bool
    resuming: bool
    tracker: Tracker
    replica: bool
    """Whether another process holds the folder, and this one only shares its training steps."""
    _record: Record = field(repr=False)

    def add_input(self, name: str, sha256: str) -> None:
        """Record an input under its content's hash."""
        self._record.inputs[name] = sha256

    def count_tokens(self, name: str, count: int) -> None:
        """Add to a token count of the manifest."""
        self._record.tokens[name] = self._record.tokens.get(name, 0) + count

    def write_metrics(self, metrics: Mapping[str, float | None]) -> None:
        """Write metrics.json, null for an undefined metric; raises ValueError for any value not finite."""
        checked = {name: _number(name, value) for name, value in metrics.items()}
        write_json(self.folder / METRICS, checked)
        self.tracker.summary(checked)


def _number(name: str, value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(f"metric {name}: {value!r} is not a finite number; an undefined metric is null")
    return int(value) if isinstance(value, Integral) else float(value)


class Terminated(SystemExit):
    """SIGTERM, as an exception that lets the run say in its manifest how it ended."""

    def __init__(self) -> None:
        super().__init__("terminated by SIGTERM; the same command resumes")
        self.code = 128 + signal.SIGTERM


@contextmanager
def start_run(stage: str, config: StudyRoot) -> Iterator[Run]:
    """Hold a run folder from its resolved config to its manifest, which says `failed` if the body raises.

    Raises RunFolderError where the folder is in use or belongs to another config.
    """
    plain = plain_config(config)
    record = Record(stage, config.name, command_line(sys.argv), config_hash(plain), config.seed)
    folder = run_folder(stage, config.name, record.config_hash, config.paths.outputs, config.paths.output_dir)
    if _is_replica():
        yield Run(folder, record.config_hash, False, False, Tracker(), True, record)
        return
    with FolderLock(folder), _sigterm_raises():
        finished, resuming = _state(folder, plain, record.config_hash)
        if finished:
            _say(f"{folder} is done: nothing to do")
            yield Run(folder, record.config_hash, True, False, Tracker(), False, record)
            return
        if resuming:
            _say(f"{folder}: resuming")
        write_atomic(folder / CONFIG, OmegaConf.to_yaml(OmegaConf.create(plain)))
        random.seed(config.seed)
        np.random.seed(config.seed)
        with _manifest_at_end(folder, record), _tracking(config, folder, stage, plain) as tracker:
            yield Run(folder, record.config_hash, False, resuming, tracker, False, record)


def _is_replica() -> bool:
    """Whether a data-parallel launcher started this process beside the one that holds the folder."""
    return int(os.environ.get("LOCAL_RANK", "0")) > 0


def plain_config(config: StudyRoot) -> dict[str, Any]:
    """A typed config as plain values, enums by name; raises where a mandatory value is missing."""
    container = OmegaConf.to_container(
        OmegaConf.structured(config), resolve=True, throw_on_missing=True, enum_to_str=True
    )
    return cast(dict[str, Any], container)


@contextmanager
def _manifest_at_end(folder: Path, record: Record) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        write_manifest(folder, record, error)
        if isinstance(error, SystemExit) and not error.code:
            raise SystemExit(1) from error  # leaving early is not success
        raise
    write_manifest(folder, record, None)


@contextmanager
def _tracking(config: StudyRoot, folder: Path, stage: str, plain: dict[str, Any]) -> Iterator[Tracker]:
    tracker = start_tracking(config.logger, folder, stage, config.name, plain)
    try:
        yield tracker
    except BaseException:
        tracker.finish(1)
        raise
    tracker.finish(0)


def _state(folder: Path, plain: dict[str, Any], own_hash: str) -> tuple[bool, bool]:
    """Whether the folder's run is finished, else whether it was begun; refuses that of another config."""
    manifest = read_manifest(folder)
    begun = _stored_config(folder)
    if begun is not None and config_hash(begun) != own_hash:
        raise _other_run(folder, f"these keys differ: {', '.join(changed_keys(begun, plain))}")
    if manifest is not None and manifest["config_hash"] != own_hash:
        raise _other_run(folder, f"its manifest names config {manifest['config_hash'][:8]}")
    finished = manifest is not None and manifest["status"] == "done"
    return finished, begun is not None and not finished


def _stored_config(folder: Path) -> dict[str, Any] | None:
    path = folder / CONFIG
    if not path.exists():
        return None
    try:
        stored = OmegaConf.to_container(OmegaConf.load(path))
    except (OmegaConfBaseException, yaml.YAMLError, OSError, ValueError) as error:
        raise _other_run(folder, f"its {CONFIG} cannot be read ({error})") from error
    if not isinstance(stored, dict):
        raise _other_run(folder, f"its {CONFIG} is not a config")
    return cast(dict[str, Any], stored)


def _other_run(folder: Path, reason: str) -> RunFolderError:
    return RunFolderError(f"{folder}: holds another run ({reason}); choose another paths.output_dir")


@contextmanager
def _sigterm_raises() -> Iterator[None]:
    """Turn SIGTERM into Terminated; only the main thread may set handlers, and only it receives signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # schedulers repeat it; the manifest must still be written
    raise Terminated


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
