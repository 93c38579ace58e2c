"""Replies on disk: durable shards while scoring, resumed by request id; and the columns of score rows."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from judgelab.engines.base import Reply
from judgelab.run.folder import write_parquet

SCHEMA = pa.schema(
    [
        ("request_id", pa.string()),
        ("prompt_id", pa.string()),
        ("candidate_id", pa.string()),
        ("other_id", pa.string()),
        ("criterion", pa.string()),
        ("format", pa.string()),
        ("judge", pa.string()),
        ("decoding", pa.string()),
        ("order", pa.string()),
        ("repeat", pa.int32()),
        ("status", pa.string()),
        ("verdict", pa.string()),
        ("score", pa.float64()),
        ("mass", pa.float64()),  # probability of all legal verdicts together, where the score is their mean
        ("text", pa.string()),
        ("truncated", pa.bool_()),
        ("prompt_sha", pa.string()),
        ("prompt_tokens", pa.int32()),
        ("completion_tokens", pa.int32()),
    ]
)

REPLIES = pa.schema(
    [
        ("request_id", pa.string()),
        ("text", pa.string()),
        ("truncated", pa.bool_()),
        ("completion_tokens", pa.int32()),
        ("error", pa.string()),
        ("prompt_tokens", pa.int32()),
    ]
)


class ReplyStore:
    """A folder of parquet shards of replies; a shard appears whole or not at all.

    Replies are kept as text, so that a better parser never costs a second answer.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def replies(self) -> dict[str, Reply]:
        """The reply of every request so far; an answer given later replaces an error."""
        shards = [pq.read_table(path, schema=REPLIES) for path in self._shards()]
        rows = pa.concat_tables(shards).to_pylist() if shards else []
        return {row["request_id"]: Reply(**row) for row in rows}

    def append(self, replies: Sequence[Reply]) -> None:
        """Write replies as the next shard."""
        write_parquet(self.folder / f"{len(self._shards()):06d}.parquet", [asdict(reply) for reply in replies], REPLIES)

    def _shards(self) -> list[Path]:
        return sorted(self.folder.glob("*.parquet"))
