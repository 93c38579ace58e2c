"""Scoring a whole pool: chunk by chunk, so that memory stays flat and a killed run goes on where it stopped."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from judgelab.config.schema import DecodingConfig, FormatConfig, ScoringConfig
from judgelab.data.candidates import CandidatePool, PoolPrompt
from judgelab.engines.base import Engine
from judgelab.errors import ScoringError
from judgelab.judges.parsing import Parsed
from judgelab.run.folder import write_parquet
from judgelab.scoring.requests import Asking
from judgelab.scoring.schedule import judgments
from judgelab.scoring.score import ERROR, Progress, read_reply, score
from judgelab.scoring.store import SCHEMA, ReplyStore

CUT_REQUESTS = b"cut_requests"
"""Key in a chunk's file metadata: the count outlives the process that rendered the chunk."""


@dataclass(frozen=True)
class PoolScoring:
    """One judge over one pool under some formats; `folder` holds a file of rows per finished chunk."""

    asking: Asking
    engine: Engine
    formats: Mapping[str, FormatConfig]
    config: ScoringConfig
    folder: Path

    def run(self, pool: CandidatePool, requests_per_call: int) -> None:
        """Score what is not scored yet; a chunk whose rows hold errors is opened again and only those are asked."""
        chunks = list(self._chunks(pool.prompts, requests_per_call))
        done = [self._finished(index) for index in range(len(chunks))]
        counts = [sum(map(self._requests_of, chunk)) for chunk in chunks]
        progress = Progress("scoring", sum(counts), sum(n for n, is_done in zip(counts, done, strict=True) if is_done))
        for index, chunk in enumerate(chunks):
            if not done[index]:
                self._score_chunk(index, chunk, progress)
        progress.bar.close()

    def combine(self, path: Path) -> int:
        """Write the rows of all chunks as one file; returns how many requests had to be cut to fit.

        Every verdict is read from its reply's text once more, so that a mended parser needs no new answers.
        """
        temporary = path.with_suffix(".partial")
        cut = 0
        with pq.ParquetWriter(temporary, SCHEMA) as writer:
            for chunk in sorted(self.folder.glob("*.parquet")):
                cut += int(pq.read_schema(chunk).metadata[CUT_REQUESTS])
                writer.write_table(read_again(pq.read_table(chunk, schema=SCHEMA), self.formats, self.asking.decoding))
        temporary.replace(path)
        return cut

    def _score_chunk(self, index: int, prompts: Sequence[PoolPrompt], progress: Progress) -> None:
        config = self.config
        requests = list(self.asking.pool(prompts, list(self.formats.values()), config.schedule, range(config.repeats)))
        store = ReplyStore(self.folder / f"{index:06d}.open")
        rows = score(requests, self.engine, self.formats, self.asking.decoding, store, progress)
        cut = sum(request.cut_tokens > 0 for request in requests)
        write_parquet(self._file(index), rows, SCHEMA.with_metadata({CUT_REQUESTS: str(cut)}))
        if not any(row["status"] == ERROR for row in rows):
            shutil.rmtree(store.folder)

    def _finished(self, index: int) -> bool:
        if not self._file(index).exists():
            return False
        statuses = pq.read_table(self._file(index), columns=["status"])["status"]
        return not pc.any(pc.equal(statuses, ERROR)).as_py()

    def _file(self, index: int) -> Path:
        return self.folder / f"{index:06d}.parquet"

    def _requests_of(self, prompt: PoolPrompt) -> int:
        asked = [judgments(prompt, f.comparison, self.config.schedule, self.asking.seed) for f in self.formats.values()]
        return self.config.repeats * sum(1 for each in asked for _ in each)

    def _chunks(self, prompts: Sequence[PoolPrompt], requests_per_call: int) -> Iterator[list[PoolPrompt]]:
        """Runs of prompts with at least so many requests; they depend on the configuration alone."""
        chunk: list[PoolPrompt] = []
        size = 0
        for prompt in prompts:
            chunk.append(prompt)
            size += self._requests_of(prompt)
            if size >= requests_per_call:
                yield chunk
                chunk, size = [], 0
        if chunk:
            yield chunk


def read_again(rows: pa.Table, formats: Mapping[str, FormatConfig], decoding: DecodingConfig) -> pa.Table:
    """Score rows with what stands in their text read anew; rows of status `error` have no reply and stay."""
    replies = list(zip(*(rows[name].to_pylist() for name in ("format", "text", "truncated", "status")), strict=True))
    read = {
        (name, text, truncated): read_reply(text, truncated, formats[name], decoding)
        for name, text, truncated, status in set(replies)
        if status != ERROR
    }
    anew = [(Parsed(ERROR), None) if reply[3] == ERROR else read[reply[:3]] for reply in replies]
    columns = {
        "status": [parsed.status for parsed, _ in anew],
        "verdict": [parsed.verdict for parsed, _ in anew],
        "score": [parsed.score for parsed, _ in anew],
        "mass": [mass for _, mass in anew],
    }
    for name, values in columns.items():
        column = pa.array(values, SCHEMA.field(name).type)
        rows = rows.set_column(rows.schema.get_field_index(name), name, column)
    return rows


def check_answered(path: Path) -> None:
    """Raise ScoringError where a file of score rows holds requests without a reply."""
    failed = pq.read_table(path, columns=["text"], filters=[("status", "=", ERROR)])["text"].to_pylist()
    if failed:
        raise ScoringError(
            f"{len(failed)} requests got no reply (the first: {failed[0]}); {path} holds the rest, "
            "and the same command asks only those again"
        )
