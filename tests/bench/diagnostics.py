"""The diagnostics part of the scoring benchmark: 15,406 candidates, five formats, three made judges.

It writes finished run folders, then times what `evaluate.py experiment=formats_diagnostics` does with them: reading
the score rows, every diagnostic, tables, figures and report.
"""

import io
import json
import random
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from omegaconf import OmegaConf

from judgelab.config.compose import compose_config, typed
from judgelab.config.schema import FormatConfig, FormatsRoot, Schedule, ScoreRoot
from judgelab.data.candidates import Candidate, PoolPrompt, candidate_table
from judgelab.evaluation.format_study import study_formats
from judgelab.evaluation.scoring_runs import load_scoring_runs
from judgelab.reporting.formats_report import report_formats
from judgelab.run.folder import write_parquet
from judgelab.run.run import start_run
from judgelab.scoring.schedule import judgments
from judgelab.scoring.store import SCHEMA

CANDIDATES, PROMPTS = 15_406, 4_000


def made_pool() -> list[PoolPrompt]:
    """4,000 prompts of three or four candidates, 15,406 in all, with references in halves from 1 to 10."""
    draw = random.Random(0)
    sizes = [4] * (CANDIDATES - 3 * PROMPTS) + [3] * (4 * PROMPTS - CANDIDATES)
    draw.shuffle(sizes)
    return [
        PoolPrompt(
            f"p{p}", "", tuple(Candidate(f"p{p}c{c}", f"p{p}", "", draw.randint(2, 20) / 2) for c in range(size))
        )
        for p, size in enumerate(sizes)
    ]


def made_rows(pool: list[PoolPrompt], formats: dict[str, FormatConfig], judge: str) -> pa.Table:
    """Score rows of a judge that draws its verdicts, most of them from the upper half of each scale."""
    draw = random.Random(judge)
    rows = []
    for prompt in pool:
        for fmt in formats.values():
            scale = list(fmt.verdicts)
            for judgment in judgments(prompt, fmt.comparison, Schedule.listing, 0):
                verdict = scale[int(len(scale) * draw.betavariate(4, 2))]
                rows.append(
                    {
                        **dict.fromkeys(SCHEMA.names),
                        "prompt_id": prompt.prompt_id,
                        "candidate_id": judgment.response.candidate_id,
                        "other_id": judgment.other.candidate_id if judgment.other else None,
                        "format": fmt.name,
                        "judge": judge,
                        "order": judgment.order,
                        "repeat": 0,
                        "status": "ok",
                        "verdict": verdict,
                        "score": fmt.verdicts[verdict],
                    }
                )
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def finished_run(folder: Path, pool: list[PoolPrompt], judge: str) -> str:
    """A run folder as score.py leaves it."""
    folder.mkdir(parents=True)
    config = compose_config("score", ["experiment=formats_sample", "hardware=cpu", f"model.name={judge}"])
    root = typed(config)
    assert isinstance(root, ScoreRoot)
    plain = OmegaConf.create(OmegaConf.to_container(config, enum_to_str=True))
    (folder / "config.yaml").write_text(OmegaConf.to_yaml(plain))
    (folder / "metrics.json").write_text("{}")
    (folder / "manifest.json").write_text(json.dumps({"stage": "score", "status": "done", "config_hash": judge}))
    write_parquet(folder / "candidates.parquet", candidate_table(pool))
    pq.write_table(made_rows(pool, root.formats, judge), folder / "scores.parquet")
    return str(folder)


def time_diagnostics(repeats: int) -> None:
    """Seconds to read, diagnose and report three judges under five formats."""
    with tempfile.TemporaryDirectory() as made:
        pool = made_pool()
        folders = [finished_run(Path(made) / judge, pool, judge) for judge in ("one", "two", "three")]
        for repeat in range(repeats):
            words = ["experiment=formats_diagnostics", "hardware=cpu", "logger.mode=disabled"]
            words += [f"scores=[{','.join(folders)}]", f"paths.output_dir={made}/diagnosed{repeat}"]
            config = typed(compose_config("evaluate", words))
            assert isinstance(config, FormatsRoot)
            start = time.perf_counter()
            with start_run("evaluate", config) as run, redirect_stdout(io.StringIO()):
                runs = load_scoring_runs(config.scores)
                read = time.perf_counter()
                study = study_formats(runs, config)
                studied = time.perf_counter()
                report_formats(run, config, runs, study)
            end = time.perf_counter()
            rows = sum(len(each.rows) for each in runs)
            print(
                f"{rows:,} score rows: {end - start:.2f} s (read {read - start:.2f}, "
                f"diagnose {studied - read:.2f}, report {end - studied:.2f})"
            )
