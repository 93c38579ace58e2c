"""Finished training runs as input: condition, seed, and every verdict on the test split before and after."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from omegaconf import OmegaConf

from judgelab.errors import ConfigError, RunFolderError
from judgelab.evaluation.classification import UNPARSED
from judgelab.run.manifest import check_finished

Verdicts = NDArray[np.int64]


@dataclass(frozen=True)
class TrainingRun:
    """A finished run of train.py: labels [items] and, per judge, verdicts [repeats, items], −1 where unparsed."""

    folder: Path
    criterion: str
    condition: str
    seed: int
    training_rows: int
    item_ids: tuple[str, ...]
    labels: Verdicts
    verdicts: Mapping[str, Verdicts]


def load_training_runs(folders: Sequence[str]) -> list[TrainingRun]:
    """Read the run folders; raises RunFolderError for one that is no finished training run.

    Raises ConfigError where two are of the same criterion, condition and seed.
    """
    if not folders:
        raise ConfigError("runs is empty: name finished run folders of train.py, runs=[DIR,DIR]")
    runs = [_load(Path(folder).expanduser()) for folder in folders]
    owners: dict[tuple[str, str, int], Path] = {}
    for run in runs:
        key = (run.criterion, run.condition, run.seed)
        if key in owners:
            raise ConfigError(
                f"runs: {owners[key]} and {run.folder} are both {run.criterion}, {run.condition}, seed {run.seed}; "
                "keep one of them"
            )
        owners[key] = run.folder
    return runs


def _load(folder: Path) -> TrainingRun:
    check_finished(folder, "train", "runs")
    config = cast(dict[str, Any], OmegaConf.to_container(OmegaConf.load(folder / "config.yaml")))
    if not (folder / "items.parquet").exists():
        raise RunFolderError(f"{folder}: has no items.parquet with the labels; train it anew")
    items = pq.read_table(folder / "items.parquet").to_pydict()
    rows = pq.read_table(folder / "scores.parquet", columns=["judge", "repeat", "candidate_id", "score"]).to_pylist()
    return TrainingRun(
        folder=folder,
        criterion=config["criterion"]["name"],
        condition=config["method"]["condition"],
        seed=config["seed"],
        training_rows=json.loads((folder / "metrics.json").read_bytes())["train/examples"],
        item_ids=tuple(items["item_id"]),
        labels=np.array(items["label"]),
        verdicts={judge: verdict_matrix(rows, judge, items["item_id"]) for judge in ("before", "after")},
    )


def verdict_matrix(rows: Sequence[Mapping[str, Any]], judge: str, item_ids: Sequence[str]) -> Verdicts:
    """A judge's verdicts [repeats, items] from score rows, −1 where unparsed."""
    scores = {(row["repeat"], row["candidate_id"]): row["score"] for row in rows if row["judge"] == judge}
    repeats = sorted({repeat for repeat, _ in scores})
    return np.array(
        [
            [UNPARSED if scores[repeat, item] is None else int(scores[repeat, item]) for item in item_ids]
            for repeat in repeats
        ]
    )
