"""Scoring asks each request once, keeps every reply, and a failed parse is never a number."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from judgelab.config.compose import compose_config, typed
from judgelab.config.schema import DecodingConfig, TrainRoot
from judgelab.data.records import Item
from judgelab.engines.base import Reply, Request
from judgelab.judges.rendering import Renderer
from judgelab.models.tiny import tiny_tokenizer
from judgelab.scoring.requests import Judge, ScoreRequest, pointwise_requests, request_identity
from judgelab.scoring.score import score
from judgelab.scoring.store import SCHEMA, ScoreStore

ITEMS = [Item(f"item-{i}", f"query {i}", f"response {i}", i % 2) for i in range(40)]


@pytest.fixture(scope="module")
def config() -> TrainRoot:
    return typed(compose_config("train", ["experiment=cpa_criminality", "debug=tiny", "hardware=cpu"]))


def _requests(config: TrainRoot, runs: int = 1, items: Sequence[Item] = ITEMS) -> list[ScoreRequest]:
    renderer = Renderer(tiny_tokenizer(), {})
    judge = Judge("base", "weights-1")
    return pointwise_requests(
        items, judge, config.criterion, config.format, renderer, config.decoding, runs, 4096, seed=1
    )


class ScriptedEngine:
    """Answers by the prompt's length; dies after `answers` replies."""

    def __init__(self, answers: int = 10**9) -> None:
        self.answers, self.asked = answers, 0

    def generate(self, requests: Sequence[Request], decoding: DecodingConfig) -> Iterator[Reply]:
        texts = ['Fine.\n{"score": 1}', 'Bad.\n{"score": 0}', "No idea.", "I cannot judge th"]
        for request in requests:
            if self.asked == self.answers:
                raise RuntimeError("the engine died")
            self.asked += 1
            index = int(request.request_id, 16) % 4
            yield Reply(request.request_id, texts[index], index == 3, 5)


def test_rows_follow_the_contract(config: TrainRoot, tmp_path: Path) -> None:
    requests = _requests(config)
    rows = score(requests, ScriptedEngine(), config.format, config.decoding, ScoreStore(tmp_path), "judging")
    assert [row["candidate_id"] for row in rows] == [item.item_id for item in ITEMS]
    assert all(set(row) == set(SCHEMA.names) for row in rows)
    assert {row["status"] for row in rows} >= {"ok", "invalid", "truncated"}
    for row in rows:
        assert (row["score"] is None) == (row["status"] != "ok") == (row["verdict"] is None)


def test_a_run_that_died_asks_only_what_was_not_kept(config: TrainRoot, tmp_path: Path) -> None:
    requests = _requests(config)
    whole = score(requests, ScriptedEngine(), config.format, config.decoding, ScoreStore(tmp_path / "a"), "judging")
    store = ScoreStore(tmp_path / "b")
    with pytest.raises(RuntimeError):
        score(requests, ScriptedEngine(answers=35), config.format, config.decoding, store, "judging")
    second = ScriptedEngine()
    assert score(requests, second, config.format, config.decoding, store, "judging") == whole
    assert second.asked == 40 - 32  # two shards of 16 were kept
    third = ScriptedEngine()
    assert score(requests, third, config.format, config.decoding, store, "judging") == whole
    assert third.asked == 0


def test_items_with_one_prompt_are_asked_once_and_both_scored(config: TrainRoot, tmp_path: Path) -> None:
    twins = [ITEMS[0], replace(ITEMS[0], item_id="twin")]
    engine = ScriptedEngine()
    requests = _requests(config, items=twins)
    rows = score(requests, engine, config.format, config.decoding, ScoreStore(tmp_path), "judging")
    assert engine.asked == 1
    assert [row["candidate_id"] for row in rows] == ["item-0", "twin"]


def test_identity_covers_weights_prompt_decoding_and_repeat(config: TrainRoot) -> None:
    judge, ids, decoding = Judge("a", "w1"), (1, 2, 3), config.decoding
    same = request_identity(judge, ids, decoding, 0)
    assert same == request_identity(Judge("other label", "w1"), ids, decoding, 0)
    others = {
        request_identity(Judge("a", "w2"), ids, decoding, 0),
        request_identity(judge, (1, 23), decoding, 0),
        request_identity(judge, ids, replace(decoding, temperature=0.5), 0),
        request_identity(judge, ids, replace(decoding, max_new_tokens=9), 0),
        request_identity(judge, ids, decoding, 1),
    }
    assert len(others) == 5
    assert same not in others


def test_every_repeat_is_a_request_of_its_own(config: TrainRoot) -> None:
    requests = _requests(config, runs=3)
    assert len({r.request.request_id for r in requests}) == 120
    assert len({r.request.seed for r in requests}) == 120
