"""Scoring: ask what was not answered yet, parse each reply, keep it at once."""

from collections.abc import Sequence
from typing import Any

from tqdm import tqdm

from judgelab.config.schema import DecodingConfig, FormatConfig
from judgelab.engines.base import Engine, Reply
from judgelab.judges.parsing import parse_reply
from judgelab.scoring.requests import ScoreRequest
from judgelab.scoring.store import ScoreStore

SHARD_ROWS = 16


def score(
    requests: Sequence[ScoreRequest],
    engine: Engine,
    fmt: FormatConfig,
    decoding: DecodingConfig,
    store: ScoreStore,
    description: str,
) -> list[dict[str, Any]]:
    """One score row per request, in request order; rows that the store already has are not asked again."""
    answered = {row["request_id"]: row for row in store.rows()}
    # Two items may render to one prompt; such a request is asked once and answers both.
    open_requests = {r.request.request_id: r for r in requests if r.request.request_id not in answered}
    shard: list[dict[str, Any]] = []
    replies = engine.generate([r.request for r in open_requests.values()], decoding)
    for reply in tqdm(replies, total=len(open_requests), desc=description, unit="reply", disable=None):
        shard.append(score_row(open_requests[reply.request_id], reply, fmt))
        if len(shard) == SHARD_ROWS:
            store.append(shard)
            answered.update({row["request_id"]: row for row in shard})
            shard = []
    if shard:
        store.append(shard)
        answered.update({row["request_id"]: row for row in shard})
    return [
        {**answered[r.request.request_id], "candidate_id": r.candidate_id, "prompt_id": r.prompt_id} for r in requests
    ]


def score_row(request: ScoreRequest, reply: Reply, fmt: FormatConfig) -> dict[str, Any]:
    """The score row of one reply; `score` is null unless the verdict parsed."""
    parsed = parse_reply(reply.text, fmt, reply.truncated)
    return {
        "request_id": request.request.request_id,
        "prompt_id": request.prompt_id,
        "candidate_id": request.candidate_id,
        "other_id": None,
        "criterion": request.criterion,
        "format": request.format,
        "judge": request.judge,
        "decoding": request.decoding,
        "order": None,
        "repeat": request.repeat,
        "status": parsed.status,
        "verdict": parsed.verdict,
        "score": parsed.score,
        "text": reply.text,
        "prompt_sha": request.prompt_sha,
        "prompt_tokens": len(request.request.prompt_ids),
        "completion_tokens": reply.completion_tokens,
    }
