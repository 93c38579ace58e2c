"""The manifest: written last, it says whether a run is done, and what it was made from."""

import hashlib
import json
import platform
import shlex
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import judgelab
from judgelab.errors import RunFolderError
from judgelab.run.folder import write_json

MANIFEST = "manifest.json"

PACKAGES = (
    "judgelab",
    "torch",
    "transformers",
    "pytorch-lightning",
    "peft",
    "hydra-core",
    "wandb",
    "numpy",
    "scipy",
    "scikit-learn",
)


@dataclass
class Record:
    """What a run knows of itself from its first moment: code, versions and clock are read when it is made."""

    stage: str
    name: str
    command: str
    config_hash: str
    seed: int
    inputs: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)
    git: dict[str, str | bool] | None = field(default_factory=lambda: git_state(Path(judgelab.__file__).parent))
    packages: dict[str, str | None] = field(default_factory=lambda: package_versions())
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    start_clock: float = field(default_factory=time.monotonic)


def manifest(record: Record, error: BaseException | None) -> dict[str, Any]:
    """The content of manifest.json; `wall_time_s` is that of this attempt, in seconds."""
    return {
        "stage": record.stage,
        "status": "done" if error is None else "failed",
        "error": None if error is None else {"type": type(error).__name__, "message": str(error)},
        "name": record.name,
        "command": record.command,
        "config_hash": record.config_hash,
        "seed": record.seed,
        "git": record.git,
        "packages": record.packages,
        "inputs": record.inputs,
        "tokens": record.tokens,
        "started": record.started.isoformat(timespec="seconds"),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "wall_time_s": round(time.monotonic() - record.start_clock, 3),
    }


def write_manifest(folder: Path, record: Record, error: BaseException | None) -> None:
    """Write manifest.json atomically: status `failed` where there is an error, else `done`."""
    write_json(folder / MANIFEST, manifest(record, error))


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of a run folder, null where there is none; raises RunFolderError where it is damaged."""
    path = folder / MANIFEST
    if not path.exists():
        return None
    try:
        content = json.loads(path.read_bytes())
        missing = {"status", "config_hash"} - set(content)
    except (ValueError, TypeError) as error:
        raise RunFolderError(f"{path}: not a manifest ({error}); choose another paths.output_dir") from error
    if missing:
        raise RunFolderError(
            f"{path}: not a manifest (no {', '.join(sorted(missing))}); choose another paths.output_dir"
        )
    return content


def check_finished(folder: Path, stage: str, setting: str) -> None:
    """Raise RunFolderError where a folder is no finished run of a stage; `setting` is the key that names it."""
    found = read_manifest(folder)
    if found is None or found.get("stage") != stage or found["status"] != "done":
        state = "no manifest.json" if found is None else f"{found.get('stage')} run, {found['status']}"
        raise RunFolderError(
            f"{folder}: not a finished run of {stage}.py ({state}); finish it, or leave it out of {setting}="
        )


def sha256_file(path: Path) -> str:
    """Hex SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def command_line(argv: Sequence[str]) -> str:
    """The command that started the run, as it can be typed in the repository."""
    return shlex.join(["python", Path(argv[0]).name, *argv[1:]])


def package_versions(packages: Sequence[str] = PACKAGES) -> dict[str, str | None]:
    """Python's version and that of each package; null where a package is not installed."""
    return {"python": platform.python_version(), **{package: _version(package) for package in packages}}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def git_state(folder: Path) -> dict[str, str | bool] | None:
    """Commit of the repository that tracks a package folder, and whether tracked files differ from it.

    Null where git is missing or does not track the package, as in an environment inside another repository.
    """
    if not _git(folder, "ls-files", "__init__.py"):
        return None
    sha = _git(folder, "rev-parse", "HEAD")
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    if sha is None or changes is None:
        return None
    return {"sha": sha, "dirty": bool(changes)}


def _git(folder: Path, *arguments: str) -> str | None:
    command = ["git", "-C", str(folder), *arguments]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip() if result.returncode == 0 else None
