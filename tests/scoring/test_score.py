"""Scoring asks each request once, keeps every reply, and a failed parse is never a number."""

from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from judgelab.config.compose import compose_config, typed
from judgelab.config.schema import Answer, DecodingConfig, TrainRoot
from judgelab.data.records import Item
from judgelab.engines.base import Reply, Request
from judgelab.judges.rendering import RenderedPrompt, Renderer
from judgelab.models.tiny import tiny_tokenizer
from judgelab.scoring.requests import Asking, Judge, ScoreRequest, request_identity
from judgelab.scoring.score import Progress, score
from judgelab.scoring.store import SCHEMA, ReplyStore

ITEMS = [Item(f"item-{i}", f"query {i}", f"response {i}", i % 2) for i in range(40)]


@pytest.fixture(scope="module")
def config() -> TrainRoot:
    return typed(compose_config("train", ["experiment=cpa_criminality", "debug=tiny", "hardware=cpu"]))


def _requests(config: TrainRoot, runs: int = 1, items: Sequence[Item] = ITEMS) -> list[ScoreRequest]:
    asking = Asking(
        Judge("base", "weights-1"), config.criterion, Renderer(tiny_tokenizer(), {}), config.decoding, 4096, 1
    )
    return asking.pointwise(items, config.format, runs)


class ScriptedEngine:
    """Answers by the request's id, a few in an error; dies after `answers` replies; remembers whether it was closed."""

    def __init__(self, answers: int = 10**9, errors: bool = False) -> None:
        self.answers, self.errors, self.asked, self.closed = answers, errors, 0, False

    def generate(self, requests: Sequence[Request], decoding: DecodingConfig) -> Generator[Reply]:
        texts = ['Fine.\n{"score": 1}', 'Bad.\n{"score": 0}', "No idea.", "I cannot judge th"]
        try:
            for request in requests:
                if self.asked == self.answers:
                    raise RuntimeError("the engine died")
                self.asked += 1
                index = int(request.request_id, 16) % 4
                error = "503 after 8 attempts" if self.errors and index == 1 else None
                yield Reply(request.request_id, "" if error else texts[index], index == 3, 5, error)
        finally:
            self.closed = True

    def note(self) -> str:
        return ""


def _score(config: TrainRoot, requests: Sequence[ScoreRequest], engine: ScriptedEngine, folder: Path) -> list[dict]:
    formats = {config.format.name: config.format}
    return score(requests, engine, formats, config.decoding, ReplyStore(folder), Progress("judging", len(requests), 0))


def test_rows_follow_the_contract(config: TrainRoot, tmp_path: Path) -> None:
    rows = _score(config, _requests(config), ScriptedEngine(), tmp_path)
    assert [row["candidate_id"] for row in rows] == [item.item_id for item in ITEMS]
    assert all(set(row) == set(SCHEMA.names) for row in rows)
    assert {row["status"] for row in rows} >= {"ok", "invalid", "truncated"}
    for row in rows:
        assert (row["score"] is None) == (row["status"] != "ok") == (row["verdict"] is None)


def test_a_run_that_died_loses_no_reply_and_asks_none_twice(config: TrainRoot, tmp_path: Path) -> None:
    requests = _requests(config)
    whole = _score(config, requests, ScriptedEngine(), tmp_path / "a")
    with pytest.raises(RuntimeError):
        _score(config, requests, ScriptedEngine(answers=35), tmp_path / "b")
    second = ScriptedEngine()
    assert _score(config, requests, second, tmp_path / "b") == whole
    assert second.asked == 40 - 35
    third = ScriptedEngine()
    assert _score(config, requests, third, tmp_path / "b") == whole
    assert third.asked == 0


def test_errors_are_rows_without_a_score_and_are_asked_again(config: TrainRoot, tmp_path: Path) -> None:
    requests = _requests(config)
    rows = _score(config, requests, ScriptedEngine(errors=True), tmp_path)
    failed = [row for row in rows if row["status"] == "error"]
    assert failed
    assert {(row["score"], row["verdict"], row["text"]) for row in failed} == {(None, None, "503 after 8 attempts")}
    second = ScriptedEngine()
    again = _score(config, requests, second, tmp_path)
    assert second.asked == len(failed)
    assert again == _score(config, requests, ScriptedEngine(), tmp_path / "undisturbed")


def test_an_engine_is_closed_when_keeping_its_replies_fails(
    config: TrainRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(self: ReplyStore, replies: Sequence[Reply]) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(ReplyStore, "append", full_disk)
    engine = ScriptedEngine()
    with pytest.raises(OSError, match="no space"):
        _score(config, _requests(config), engine, tmp_path)
    assert engine.closed


def test_a_request_that_an_engine_forgets_is_an_error_row(config: TrainRoot, tmp_path: Path) -> None:
    class Forgetful(ScriptedEngine):
        def generate(self, requests: Sequence[Request], decoding: DecodingConfig) -> Generator[Reply]:
            yield from super().generate(requests[1:], decoding)

    rows = _score(config, _requests(config), Forgetful(), tmp_path)
    assert [row["status"] == "error" for row in rows].count(True) == 1
    assert len(rows) == len(ITEMS)


def test_items_with_one_prompt_are_asked_once_and_both_scored(config: TrainRoot, tmp_path: Path) -> None:
    twins = [ITEMS[0], replace(ITEMS[0], item_id="twin")]
    engine = ScriptedEngine()
    rows = _score(config, _requests(config, items=twins), engine, tmp_path)
    assert engine.asked == 1
    assert [row["candidate_id"] for row in rows] == ["item-0", "twin"]


def test_identity_covers_weights_prompt_decoding_and_repeat(config: TrainRoot) -> None:
    judge, ids, decoding = Judge("a", "w1"), RenderedPrompt((1, 2, 3), 0), config.decoding
    expected = replace(decoding, answer=Answer.expected)
    same = request_identity(judge, ids, decoding, (), 0)
    assert same == request_identity(Judge("other label", "w1"), ids, decoding, (), 0)
    others = {
        request_identity(Judge("a", "w2"), ids, decoding, (), 0),
        request_identity(judge, RenderedPrompt((1, 23), 0), decoding, (), 0),
        request_identity(judge, ids, replace(decoding, temperature=0.5), (), 0),
        request_identity(judge, ids, replace(decoding, max_new_tokens=9), (), 0),
        request_identity(judge, ids, decoding, (), 1),
        request_identity(judge, ids, expected, ((1,), (2,)), 0),
        request_identity(judge, ids, expected, ((1, 2),), 0),
    }
    assert len(others) == 7
    assert same not in others


def test_every_repeat_is_a_request_of_its_own(config: TrainRoot) -> None:
    requests = _requests(config, runs=3)
    assert len({r.request.request_id for r in requests}) == 120
    assert len({r.request.seed for r in requests}) == 120
