"""The configuration that a finished training run was made with, typed again."""

from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from judgelab.config.compose import DATA
from judgelab.config.schema import TrainRoot
from judgelab.errors import RunFolderError


def stored_config(folder: Path) -> TrainRoot:
    """Read config.yaml of a run of train.py; RunFolderError where it does not fit this version's keys."""
    stored = cast(dict[str, Any], OmegaConf.to_container(OmegaConf.load(folder / "config.yaml")))
    try:
        root = OmegaConf.structured(TrainRoot(data=DATA[stored["data"]["name"]]()))  # type: ignore[arg-type]
        return cast(TrainRoot, OmegaConf.to_object(OmegaConf.merge(root, stored)))
    except (KeyError, OmegaConfBaseException) as error:
        reason = str(error).splitlines()[0]
        raise RunFolderError(f"{folder}/config.yaml: is of another version ({reason}); train it anew") from error
