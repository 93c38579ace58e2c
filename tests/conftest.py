"""Judges whose answers are known, asked about a made pool through the real schedule of judgments."""

import os
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgelab.config.compose import compose_config, typed
from judgelab.config.schema import FormatConfig, Schedule, ScoreRoot
from judgelab.data.candidates import Candidate, PoolPrompt, candidate_table
from judgelab.evaluation.scoring_runs import ScoringRun
from judgelab.scoring.schedule import Judgment, judgments

if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ["OMP_NUM_THREADS"] = "1"  # a worker per core; before torch is imported, which reads it once

Answer = Callable[[Judgment, FormatConfig, random.Random], str | None]


@pytest.fixture(scope="session")
def formats() -> dict[str, FormatConfig]:
    config = typed(compose_config("score", ["experiment=formats_sample", "hardware=cpu"]))
    assert isinstance(config, ScoreRoot)
    return config.formats


@pytest.fixture(scope="session")
def prompts() -> tuple[PoolPrompt, ...]:
    """300 prompts of two to five candidates; references are whole numbers from 1 to 10, ties included."""
    draw = random.Random(5)
    return tuple(
        PoolPrompt(
            f"p{p}",
            f"question {p}",
            tuple(
                Candidate(f"p{p}c{c}", f"p{p}", f"answer {c}", float(draw.randint(1, 10)))
                for c in range(draw.choice([2, 3, 4, 4, 5]))
            ),
        )
        for p in range(300)
    )


@pytest.fixture(scope="session")
def asked(formats: dict[str, FormatConfig], prompts: tuple[PoolPrompt, ...]) -> Callable[[str, Answer], ScoringRun]:
    """A scoring run of a judge under all five formats, comparisons in both orders."""

    def run(name: str, answer: Answer) -> ScoringRun:
        draw = random.Random(name)
        rows = [
            {
                "prompt_id": prompt.prompt_id,
                "candidate_id": judgment.response.candidate_id,
                "other_id": judgment.other.candidate_id if judgment.other else None,
                "format": fmt.name,
                "order": judgment.order,
                "repeat": 0,
                "verdict": answer(judgment, fmt, draw),
            }
            for prompt in prompts
            for fmt in formats.values()
            for judgment in judgments(prompt, fmt.comparison, Schedule.both, 1)
        ]
        for row in rows:
            row["status"] = "invalid" if row["verdict"] is None else "ok"
            row["score"] = np.nan if row["verdict"] is None else formats[row["format"]].verdicts[row["verdict"]]
        return ScoringRun(
            folder=Path(name),
            judge=name,
            decoding={"name": "greedy", "temperature": 0.0, "max_new_tokens": 16},
            schedule="both",
            rubric="Judge the answer.",
            formats=formats,
            flip_rates=dict.fromkeys(formats),
            rows=pd.DataFrame(rows),
            pool=pd.DataFrame(candidate_table(prompts)),
        )

    return run
