"""The shell around an entry point: settles hardware, checks the configuration, runs the stage, reports errors."""

import subprocess
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from judgelab.config.checks import checked
from judgelab.config.compose import CONF, compose_config, prepare_hydra, typed
from judgelab.config.hardware import settled
from judgelab.errors import JudgelabError

INTERRUPTED = 130
PAPER_SCALE = "paper scale: the same command with hardware=rtx5090, a100, h100 or h100x8\n"


class JobFailed(JudgelabError):
    """One job of a multirun did not finish."""


def launch(stage: str, main: Callable[[Any], None]) -> None:
    """Run `main` on the typed configuration of the command line; the exit code is 0 only where it finished."""
    prepare_hydra()
    flags, overrides = split_arguments(sys.argv[1:])
    try:
        overrides, choice = settled(overrides)
        if not flags:
            note = PAPER_SCALE if choice.name == "cpu" else ""
            sys.stdout.write(f"{choice}\n{note}")
            sys.stdout.flush()
            compose_config(stage, overrides)
    except JudgelabError as error:
        _exit_with(error)
    sys.argv[1:] = [*flags, *overrides]

    @hydra.main(version_base="1.3", config_path=str(CONF), config_name=stage)
    def job(config: DictConfig) -> None:
        task = list(HydraConfig.get().overrides.task)
        if HydraConfig.get().mode is RunMode.MULTIRUN:
            run_in_own_process(task)
        else:
            _run(main, config, task)

    job()


def split_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Hydra's own flags with their values, and the overrides."""
    overrides = [word for word in arguments if not word.startswith("-") and ("=" in word or word.startswith("~"))]
    return [word for word in arguments if word not in overrides], overrides


def run_in_own_process(task: Sequence[str]) -> None:
    """Run one job of a multirun alone, so that memory, W&B run and failure stay its own."""
    sys.stdout.write(f"job: {' '.join(task)}\n")
    sys.stdout.flush()
    code = subprocess.run([sys.executable, sys.argv[0], *task], check=False).returncode
    if code:
        message = f"job failed with exit code {code}: {' '.join(task)}"
        sys.stderr.write(f"{message}\n")
        raise JobFailed(message)


def _run(main: Callable[[Any], None], config: DictConfig, task: Sequence[str]) -> None:
    try:
        main(typed(checked(config, task)))
    except JudgelabError as error:
        _exit_with(error)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; the same command resumes\n")
        sys.exit(INTERRUPTED)
    except Exception:
        traceback.print_exc()
        sys.exit(1)


def _exit_with(error: JudgelabError) -> NoReturn:
    sys.stderr.write(f"error: {error}\n")
    sys.exit(1)
