"""A pool is scored in chunks: whatever kills a run, the rows are those of an undisturbed one and nothing is lost."""

import os
import random
import signal
import time
from collections.abc import Generator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from judgelab.config.schema import (
    Comparison,
    CriterionConfig,
    DecodingConfig,
    FormatConfig,
    Schedule,
    ScoringConfig,
)
from judgelab.data.candidates import Candidate, CandidatePool, PoolPrompt
from judgelab.engines.base import Reply, Request
from judgelab.judges.rendering import Renderer
from judgelab.models.tiny import tiny_tokenizer
from judgelab.scoring import score as score_module
from judgelab.scoring.pool import PoolScoring
from judgelab.scoring.requests import Asking, Judge
from judgelab.scoring.rescoring import rescored_rows
from judgelab.scoring.store import ReplyStore

TEMPLATE = "{rubric}\n{query}\n{slots}{response}\n"
FORMATS = {
    "binary": FormatConfig("binary", TEMPLATE + "ACCEPT or REJECT?", "verdict", {"ACCEPT": 1.0, "REJECT": 0.0}),
    "tournament": FormatConfig(
        "tournament",
        TEMPLATE + "{other}\nA or B?",
        "verdict",
        {"+1": 0.75, "0": 0.5, "-1": 0.25},
        Comparison.all_pairs,
    ),
}
REPLIES = ("ACCEPT", "REJECT", "+1", "-1", "0", "no idea")
DECODING = DecodingConfig("greedy", 0.0, 1.0, 8)


def _pool(prompts: int) -> CandidatePool:
    made = tuple(
        PoolPrompt(
            f"p{p}",
            f"question {p}",
            tuple(Candidate(f"p{p}-c{c}", f"p{p}", f"answer {c} to {p}", float(c)) for c in range(3)),
        )
        for p in range(prompts)
    )
    return CandidatePool(made, (), {}, {})


class LoggingEngine:
    """A reply that depends on the request alone; every question is logged to a file before it is answered."""

    def __init__(self, log: Path, pause_s: float = 0.0, dead: frozenset[str] = frozenset()) -> None:
        self.log, self.pause_s, self.dead = log, pause_s, dead

    def generate(self, requests: Sequence[Request], decoding: DecodingConfig) -> Generator[Reply]:
        for request in requests:
            with self.log.open("a") as log:
                log.write(request.request_id + "\n")
            time.sleep(self.pause_s)
            text = REPLIES[int(request.request_id, 16) % len(REPLIES)]
            error = "connection refused" if request.request_id in self.dead else None
            yield Reply(request.request_id, "" if error else text, False, 2, error)

    def note(self) -> str:
        return ""


def _scoring(folder: Path, engine: LoggingEngine, config: ScoringConfig | None = None) -> PoolScoring:
    criterion = CriterionConfig("quality", "Judge the answer.", [], {})
    asking = Asking(Judge("judge", "weights"), criterion, Renderer(tiny_tokenizer(), {}), DECODING, 4096, 7)
    return PoolScoring(asking, engine, FORMATS, config or ScoringConfig(max_length=4096), folder)


def _rows(scoring: PoolScoring, pool: CandidatePool, path: Path) -> list[dict]:
    scoring.run(pool, requests_per_call=20)
    scoring.combine(path)
    return pq.read_table(path).to_pylist()


def test_every_judgment_has_one_row_in_pool_order(tmp_path: Path) -> None:
    rows = _rows(_scoring(tmp_path / "scores", LoggingEngine(tmp_path / "log")), _pool(9), tmp_path / "s.parquet")
    assert len(rows) == 9 * (3 + 3)
    assert [row["prompt_id"] for row in rows] == [f"p{p}" for p in range(9) for _ in range(6)]
    pairs = [(row["candidate_id"], row["other_id"], row["order"]) for row in rows if row["format"] == "tournament"]
    assert pairs[:2] == [("p0-c0", "p0-c1", "listing"), ("p0-c0", "p0-c2", "listing")]
    assert len(set((tmp_path / "log").read_text().split())) == len(rows)


def test_chunks_depend_on_the_configuration_alone_and_finished_ones_are_not_opened_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    scoring = _scoring(tmp_path / "scores", LoggingEngine(log))
    rows = _rows(scoring, _pool(9), tmp_path / "s.parquet")
    asked = log.read_text().split()
    assert _rows(scoring, _pool(9), tmp_path / "s.parquet") == rows
    assert log.read_text().split() == asked
    assert not list((tmp_path / "scores").glob("*.open"))


def test_a_chunk_with_errors_is_opened_again_and_asks_only_those(tmp_path: Path) -> None:
    log, pool = tmp_path / "log", _pool(6)
    whole = _rows(_scoring(tmp_path / "whole", LoggingEngine(tmp_path / "other")), pool, tmp_path / "w.parquet")
    dead = frozenset(row["request_id"] for row in whole[::7])
    broken = _rows(_scoring(tmp_path / "scores", LoggingEngine(log, dead=dead)), pool, tmp_path / "s.parquet")
    assert {row["request_id"] for row in broken if row["status"] == "error"} == dead
    log.unlink()
    assert _rows(_scoring(tmp_path / "scores", LoggingEngine(log)), pool, tmp_path / "s.parquet") == whole
    assert set(log.read_text().split()) == dead


def test_kill_9_at_twenty_moments_loses_nothing_and_asks_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool, log = _pool(12), tmp_path / "log"
    whole = _rows(_scoring(tmp_path / "whole", LoggingEngine(tmp_path / "other")), pool, tmp_path / "w.parquet")
    monkeypatch.setattr(score_module, "SECONDS_BETWEEN_SHARDS", 0.02)
    moments = random.Random(1)
    for _ in range(20):
        kept = _kept(tmp_path / "scores")
        log.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            try:
                _rows(_scoring(tmp_path / "scores", LoggingEngine(log, pause_s=0.01)), pool, tmp_path / "s.parquet")
            finally:
                os._exit(0)
        time.sleep(moments.uniform(0.02, 0.25))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        asked = log.read_text().split() if log.exists() else []
        assert not kept & set(asked)
        assert len(asked) == len(set(asked))
    assert _rows(_scoring(tmp_path / "scores", LoggingEngine(log)), pool, tmp_path / "s.parquet") == whole


def _kept(folder: Path) -> set[str]:
    """Request ids that a killed run left an answer to, in finished chunks or in the shards of an open one."""
    finished = [pq.read_table(path, columns=["request_id"]) for path in folder.glob("*.parquet")]
    rows = {name for table in finished for name in table["request_id"].to_pylist()}
    return rows | {name for store in folder.glob("*.open") for name in ReplyStore(store).replies()}


def test_rescored_requests_are_asked_anew(tmp_path: Path) -> None:
    log, pool = tmp_path / "log", _pool(9)
    scoring = _scoring(tmp_path / "scores", LoggingEngine(log))
    rows = _rows(scoring, pool, tmp_path / "s.parquet")
    again = rescored_rows(scoring, pool, 10)
    assert len(again) == 10
    assert {row["repeat"] for row in again} == {1}
    assert not {row["request_id"] for row in again} & {row["request_id"] for row in rows}
    keys = ("prompt_id", "candidate_id", "other_id", "format", "order")
    assert {tuple(row[key] for key in keys) for row in again} <= {tuple(row[key] for key in keys) for row in rows}


def test_both_orders_double_the_comparisons(tmp_path: Path) -> None:
    config = ScoringConfig(schedule=Schedule.both, max_length=4096)
    rows = _rows(
        _scoring(tmp_path / "scores", LoggingEngine(tmp_path / "log"), config), _pool(2), tmp_path / "s.parquet"
    )
    assert len(rows) == 2 * (3 + 2 * 3)
    assert {row["order"] for row in rows} == {None, "listing", "reverse"}


def test_a_mended_parser_reads_old_replies_without_asking_again(tmp_path: Path) -> None:
    scoring = _scoring(tmp_path / "scores", LoggingEngine(tmp_path / "log"))
    scoring.run(_pool(3), 10)
    scoring.combine(tmp_path / "scores.parquet")
    rows = pq.read_table(tmp_path / "scores.parquet")
    for chunk in (tmp_path / "scores").glob("*.parquet"):
        table = pq.read_table(chunk)
        blind = table.set_column(table.schema.get_field_index("status"), "status", pa.array(["invalid"] * len(table)))
        pq.write_table(blind, chunk)
    asked = (tmp_path / "log").read_text()
    scoring.run(_pool(3), 10)
    scoring.combine(tmp_path / "scores.parquet")
    assert pq.read_table(tmp_path / "scores.parquet").equals(rows)
    assert set(rows["status"].to_pylist()) == {"ok", "invalid"}
    assert (tmp_path / "log").read_text() == asked
