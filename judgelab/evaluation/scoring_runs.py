"""Finished scoring runs as input: score rows, formats and pool of each, checked to be of one pool."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pyarrow.parquet as pq
from omegaconf import OmegaConf

from judgelab.config.schema import Comparison, FormatConfig
from judgelab.errors import ConfigError
from judgelab.run.manifest import check_finished

ROW_COLUMNS = ["prompt_id", "candidate_id", "other_id", "format", "order", "repeat", "status", "verdict", "score"]
POOL_COLUMNS = ["prompt_id", "candidate_id", "position", "reference"]


@dataclass(frozen=True)
class ScoringRun:
    """What one finished `score.py` run holds: its judge's name in tables, its formats, rows and pool."""

    folder: Path
    judge: str
    decoding: Mapping[str, Any]
    schedule: str
    rubric: str
    formats: Mapping[str, FormatConfig]
    flip_rates: Mapping[str, float | None]
    rows: pd.DataFrame
    pool: pd.DataFrame


def load_scoring_runs(folders: Sequence[str]) -> list[ScoringRun]:
    """Read the run folders; raises RunFolderError for one that is no finished scoring run.

    Raises ConfigError where two hold the same judge under the same format, or their pools differ.
    """
    if not folders:
        raise ConfigError("scores is empty: name finished run folders of score.py, scores=[DIR,DIR]")
    runs = [_load(Path(folder).expanduser()) for folder in folders]
    _check_cells(runs)
    for run in runs[1:]:
        _check_same_pool(runs[0], run)
    return runs


def _load(folder: Path) -> ScoringRun:
    check_finished(folder, "score", "scores")
    config = cast(dict[str, Any], OmegaConf.to_container(OmegaConf.load(folder / "config.yaml")))
    metrics = json.loads((folder / "metrics.json").read_bytes())
    formats = {
        plain["name"]: FormatConfig(**{**plain, "comparison": Comparison[plain["comparison"]]})
        for plain in config["formats"].values()
    }
    return ScoringRun(
        folder=folder,
        judge=_judge_name(config),
        decoding=config["decoding"],
        schedule=config["scoring"]["schedule"],
        rubric=config["criterion"]["rubric"],
        formats=formats,
        flip_rates={name: metrics.get(f"scoring/{name}/flip_rate") for name in formats},
        rows=pq.read_table(folder / "scores.parquet", columns=ROW_COLUMNS).to_pandas(),
        pool=pq.read_table(folder / "candidates.parquet", columns=POOL_COLUMNS).to_pandas(),
    )


def _judge_name(config: Mapping[str, Any]) -> str:
    """The model, and what sets this judge apart from the same model's plain greedy verdicts."""
    name = str(config["model"]["name"])
    if config["adapter"] is not None:
        name += f" + {Path(config['adapter']).parent.name or config['adapter']}"
    return name if config["decoding"]["name"] == "greedy" else f"{name} ({config['decoding']['name']})"


def _check_cells(runs: Sequence[ScoringRun]) -> None:
    owners: dict[tuple[str, str], Path] = {}
    for run in runs:
        for name in run.formats:
            if (run.judge, name) in owners:
                raise ConfigError(
                    f"scores: {owners[run.judge, name]} and {run.folder} both hold judge {run.judge} under format "
                    f"{name}; keep one of them"
                )
            owners[run.judge, name] = run.folder


def _check_same_pool(first: ScoringRun, other: ScoringRun) -> None:
    """Diagnostics compare judges on identical candidates, so every row of the pools must agree."""
    if first.pool.equals(other.pool):
        return
    if len(first.pool) != len(other.pool):
        difference = f"{len(first.pool)} against {len(other.pool)} candidates"
    else:
        unlike = (first.pool.fillna("–") != other.pool.fillna("–")).any(axis=1)
        row = int(unlike.argmax())
        difference = f"row {row + 1}: {first.pool.iloc[row].to_dict()} against {other.pool.iloc[row].to_dict()}"
    raise ConfigError(f"scores: {first.folder} and {other.folder} scored different pools ({difference})")
