"""Scoring: ask what was not answered yet, keep each reply at once, read its verdict."""

import time
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from tqdm import tqdm

from judgelab.config.schema import Answer, DecodingConfig, FormatConfig
from judgelab.engines.base import Engine, Reply
from judgelab.judges.expected import expected_score
from judgelab.judges.parsing import Parsed, parse_reply
from judgelab.scoring.expected import expected_replies
from judgelab.scoring.requests import ScoreRequest
from judgelab.scoring.store import ReplyStore

SECONDS_BETWEEN_SHARDS = 1.0
ERROR = "error"


class Progress:
    """A bar over all requests with rate, remaining time, parse rate and what the engine has to say (its cost)."""

    def __init__(self, description: str, total: int, done: int) -> None:
        self.bar = tqdm(total=total, initial=done, desc=description, unit="reply", disable=None)
        self.statuses: Counter[str] = Counter()

    def add(self, status: str, note: str) -> None:
        """Count a reply."""
        self.statuses[status] += 1
        parsed = self.statuses["ok"] / self.statuses.total()
        self.bar.set_postfix_str(f"parsed {parsed:.0%}{note and f', {note}'}", refresh=False)
        self.bar.update()


def score(
    requests: Sequence[ScoreRequest],
    engine: Engine,
    formats: Mapping[str, FormatConfig],
    decoding: DecodingConfig,
    store: ReplyStore,
    progress: Progress,
) -> list[dict[str, Any]]:
    """One score row per request, in request order; requests that the store has an answer to are not asked again."""
    replies = store.replies()
    answered = {request_id for request_id, reply in replies.items() if reply.error is None}
    # Two responses may render to one prompt; such a request is asked once and answers both.
    missing = {r.request.request_id: r for r in requests if r.request.request_id not in answered}
    # Closed at once if anything fails: an engine left open would go on asking, and a hosted one would cost.
    with closing(_asked(list(missing.values()), engine, formats, decoding)) as incoming:
        for reply in kept(incoming, store):
            replies[reply.request_id] = reply
            request = missing[reply.request_id]
            progress.add(_row(request, reply, formats[request.format], decoding)["status"], engine.note())
    return [_row(r, replies.get(r.request.request_id), formats[r.format], decoding) for r in requests]


def _asked(
    requests: Sequence[ScoreRequest], engine: Engine, formats: Mapping[str, FormatConfig], decoding: DecodingConfig
) -> Generator[Reply]:
    if decoding.answer is Answer.expected:
        return expected_replies(requests, engine, formats)
    return engine.generate([request.request for request in requests], decoding)


def kept(replies: Generator[Reply], store: ReplyStore) -> Iterator[Reply]:
    """Replies as they come, each on disk before it is passed on; shards are at least a second apart."""
    shard: list[Reply] = []
    written = time.monotonic()
    try:
        for reply in replies:
            shard.append(reply)
            if time.monotonic() - written >= SECONDS_BETWEEN_SHARDS:
                full, shard, written = shard, [], time.monotonic()
                store.append(full)
                yield from full
    finally:
        if shard:
            store.append(shard)
    yield from shard


def _row(request: ScoreRequest, reply: Reply | None, fmt: FormatConfig, decoding: DecodingConfig) -> dict[str, Any]:
    """The score row of one request; `score` is null unless the verdict parsed, `mass` unless the score is expected."""
    if reply is None:
        reply = Reply(request.request.request_id, "", False, 0, error="the engine gave no reply")
    parsed, mass = (None, None) if reply.error else read_reply(reply.text, reply.truncated, fmt, decoding)
    return {
        "request_id": request.request.request_id,
        "prompt_id": request.prompt_id,
        "candidate_id": request.candidate_id,
        "other_id": request.other_id,
        "criterion": request.criterion,
        "format": request.format,
        "judge": request.judge,
        "decoding": request.decoding,
        "order": request.order,
        "repeat": request.repeat,
        "status": parsed.status if parsed else ERROR,
        "verdict": parsed.verdict if parsed else None,
        "score": parsed.score if parsed else None,
        "mass": mass,
        "text": reply.text if parsed else reply.error,
        "truncated": reply.truncated,
        "prompt_sha": request.prompt_sha,
        "prompt_tokens": len(request.request.prompt_ids) or reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
    }


def read_reply(text: str, truncated: bool, fmt: FormatConfig, decoding: DecodingConfig) -> tuple[Parsed, float | None]:
    """What the text of a reply amounts to, and the captured mass where it names the probability of every verdict."""
    if decoding.answer is Answer.expected:
        expected = expected_score(text, fmt)
        return expected.parsed, expected.mass
    return parse_reply(text, fmt, truncated), None
