"""Asking a sample of requests once more, to see how often the same judge changes its verdict."""

from typing import Any

from judgelab.data.candidates import CandidatePool
from judgelab.run.randomness import derived_seed
from judgelab.scoring.pool import PoolScoring
from judgelab.scoring.requests import ScoreRequest
from judgelab.scoring.score import Progress, score
from judgelab.scoring.store import ReplyStore


def rescored_rows(scoring: PoolScoring, pool: CandidatePool, count: int) -> list[dict[str, Any]]:
    """Score rows of a second answer to `count` requests of prompts drawn by seed; their repeat is one more."""
    seed, config = scoring.asking.seed, scoring.config
    drawn = sorted(pool.prompts, key=lambda prompt: derived_seed(seed, "rescored", prompt.prompt_id))
    formats = list(scoring.formats.values())
    requests: list[ScoreRequest] = []
    for prompt in drawn:
        if len(requests) >= count:
            break
        requests += scoring.asking.pool([prompt], formats, config.schedule, [config.repeats])
    requests = requests[:count]
    store, progress = ReplyStore(scoring.folder / "rescored.open"), Progress("rescoring", len(requests), 0)
    return score(requests, scoring.engine, scoring.formats, scoring.asking.decoding, store, progress)
