"""Score rows on disk: durable shards while scoring, resumed by request id."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from judgelab.run.folder import write_parquet

SCHEMA = pa.schema(
    [
        *[
            (name, pa.string())
            for name in (
                "request_id",
                "prompt_id",
                "candidate_id",
                "other_id",
                "criterion",
                "format",
                "judge",
            )
        ],
        ("decoding", pa.string()),
        ("order", pa.string()),
        ("repeat", pa.int32()),
        ("status", pa.string()),
        ("verdict", pa.string()),
        ("score", pa.float64()),
        ("text", pa.string()),
        ("prompt_sha", pa.string()),
        ("prompt_tokens", pa.int32()),
        ("completion_tokens", pa.int32()),
    ]
)


class ScoreStore:
    """A folder of parquet shards; a shard appears whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def rows(self) -> list[dict[str, Any]]:
        """All rows so far, in the order in which they were appended."""
        shards = [pq.read_table(path, schema=SCHEMA) for path in self._shards()]
        return pa.concat_tables(shards).to_pylist() if shards else []

    def append(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write rows as the next shard."""
        write_parquet(self.folder / f"{len(self._shards()):06d}.parquet", list(rows), SCHEMA)

    def _shards(self) -> list[Path]:
        return sorted(self.folder.glob("*.parquet"))
