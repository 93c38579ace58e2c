"""Which run folders can be diagnosed together."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from omegaconf import OmegaConf

from judgelab.config.compose import compose_config
from judgelab.errors import ConfigError, DataError, RunFolderError
from judgelab.evaluation.format_study import with_reference
from judgelab.evaluation.scoring_runs import load_scoring_runs
from judgelab.run.folder import write_parquet
from judgelab.scoring.store import SCHEMA

POOL = [
    {"prompt_id": "p", "candidate_id": name, "position": place, "reference": reference, "model": None, "characters": 3}
    for place, (name, reference) in enumerate([("a", 1.0), ("b", 2.0)])
]


def _folder(path: Path, overrides: tuple[str, ...] = (), pool: list[dict[str, Any]] = POOL, **manifest: Any) -> str:
    path.mkdir()
    words = ["experiment=formats_sample", "hardware=cpu", *overrides]
    config = compose_config("score", words)
    (path / "config.yaml").write_text(
        OmegaConf.to_yaml(OmegaConf.create(OmegaConf.to_container(config, enum_to_str=True)))
    )
    (path / "metrics.json").write_text(json.dumps({"scoring/binary/flip_rate": 0.25}))
    (path / "manifest.json").write_text(
        json.dumps({"stage": "score", "status": "done", "config_hash": "x", **manifest})
    )
    write_parquet(path / "candidates.parquet", pool)
    write_parquet(path / "scores.parquet", [], SCHEMA)
    return str(path)


def test_a_finished_run_is_read_with_its_formats(tmp_path: Path) -> None:
    (run,) = load_scoring_runs([_folder(tmp_path / "one")])
    assert run.judge == "HuggingFaceTB/SmolLM2-135M-Instruct"
    assert list(run.formats) == ["binary", "likert5", "numeric100", "anchored", "tournament"]
    assert (run.flip_rates["binary"], run.flip_rates["likert5"], run.schedule) == (0.25, None, "listing")
    assert run.pool["candidate_id"].tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("manifest", "said"), [({"status": "failed"}, "score run, failed"), ({"stage": "train"}, "train run, done")]
)
def test_unfinished_and_other_runs_are_refused(tmp_path: Path, manifest: dict[str, str], said: str) -> None:
    with pytest.raises(RunFolderError, match=said):
        load_scoring_runs([_folder(tmp_path / "one", **manifest)])
    with pytest.raises(RunFolderError, match=r"no manifest\.json"):
        load_scoring_runs([str(tmp_path / "absent")])


def test_no_run_at_all_is_refused() -> None:
    with pytest.raises(ConfigError, match="scores is empty"):
        load_scoring_runs([])


def test_one_judge_twice_under_a_format_is_refused_and_another_decoding_is_another_judge(tmp_path: Path) -> None:
    folders = [_folder(tmp_path / "one"), _folder(tmp_path / "two")]
    with pytest.raises(ConfigError, match=r"one and .*two both hold judge .* under format binary"):
        load_scoring_runs(folders)
    sampled = _folder(tmp_path / "three", ("decoding=sampled",))
    names = [run.judge for run in load_scoring_runs([folders[0], sampled])]
    assert names[1] == f"{names[0]} (sampled)"


def test_other_pools_are_refused_with_the_first_row_that_differs(tmp_path: Path) -> None:
    one = _folder(tmp_path / "one")
    other = _folder(tmp_path / "two", ("model.name=other",), [POOL[0], {**POOL[1], "reference": 3.0}])
    with pytest.raises(ConfigError, match=r"different pools \(row 2: .*2\.0.*3\.0"):
        load_scoring_runs([one, other])
    shorter = _folder(tmp_path / "three", ("model.name=other",), POOL[:1])
    with pytest.raises(ConfigError, match="2 against 1 candidates"):
        load_scoring_runs([one, shorter])


def _reference_file(tmp_path: Path, *rows: dict[str, Any]) -> str:
    path = tmp_path / "reference.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_another_reference(tmp_path: Path) -> None:
    pool = pd.DataFrame(POOL)
    path = _reference_file(tmp_path, {"prompt_id": "p", "candidate_id": "b", "reference": 7})
    assert with_reference(pool, path)["reference"].tolist() == pytest.approx([float("nan"), 7.0], nan_ok=True)
    assert pool["reference"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"candidate_id": "x", "reference": 1}], "row 1: the pool has no candidate 'x'"),
        ([{"candidate_id": "a", "reference": 1}] * 2, "row 2: candidate 'a' is rated a second time"),
        ([{"candidate_id": "a", "reference": "8/10"}], "row 1: 'reference' is '8/10'"),
    ],
)
def test_a_reference_file_that_does_not_fit(tmp_path: Path, rows: list[dict[str, Any]], said: str) -> None:
    path = _reference_file(tmp_path, *({"prompt_id": "p", **row} for row in rows))
    with pytest.raises(DataError, match=said):
        with_reference(pd.DataFrame(POOL), path)
