"""Expected scores are kept, resumed and asked once, as replies are."""

from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from judgelab.config.schema import Answer, CriterionConfig, DecodingConfig, FormatConfig, Schedule
from judgelab.data.candidates import Candidate, PoolPrompt
from judgelab.engines.base import Reply, Request, VerdictProbabilities
from judgelab.errors import ConfigError
from judgelab.judges.rendering import MessageRenderer, Renderer
from judgelab.models.tiny import tiny_tokenizer
from judgelab.scoring.requests import Asking, Judge, ScoreRequest
from judgelab.scoring.score import Progress, score
from judgelab.scoring.store import SCHEMA, ReplyStore

FORMAT = FormatConfig(
    "likert3", "{rubric}\n{query}\n{slots}{response}\n1, 2 or 3?", "verdict", {"1": 0.0, "2": 0.5, "3": 1.0}
)
EXPECTED = DecodingConfig("expected", 1.0, 1.0, 8, Answer.expected)
PROMPTS = [
    PoolPrompt(f"p{p}", f"question {p}", tuple(Candidate(f"p{p}c{c}", f"p{p}", f"answer {c}", None) for c in range(4)))
    for p in range(5)
]


class Silent:
    """An engine that gives text alone."""

    def generate(self, requests: Sequence[Request], decoding: DecodingConfig) -> Generator[Reply]:
        raise AssertionError("no reply is wanted")
        yield

    def note(self) -> str:
        return ""


class Oracle(Silent):
    """Probabilities by the request's id, none for a few; dies after so many."""

    def __init__(self, answers: int = 10**9) -> None:
        self.answers, self.asked = answers, 0

    def verdict_probabilities(self, requests: Sequence[Request]) -> Generator[VerdictProbabilities]:
        for request in requests:
            if self.asked == self.answers:
                raise RuntimeError("the engine died")
            self.asked += 1
            yield VerdictProbabilities(request.request_id, _shares(request.request_id))


def _shares(request_id: str) -> tuple[float, float, float]:
    kind = int(request_id, 16) % 4
    return ((0.5, 0.25, 0.125), (0.0, 0.0, 0.0), (0.0, 0.0, 1e-9), (0.25, 0.25, 0.5))[kind]


def _requests(decoding: DecodingConfig = EXPECTED) -> list[ScoreRequest]:
    criterion = CriterionConfig("quality", "Judge the answer.", [], {})
    asking = Asking(Judge("judge", "weights"), criterion, Renderer(tiny_tokenizer(), {}), decoding, 4096, 7)
    return list(asking.pool(PROMPTS, [FORMAT], Schedule.listing, [0]))


def _score(engine: Silent, folder: Path) -> list[dict]:
    requests = _requests()
    progress = Progress("scoring", len(requests), 0)
    return score(requests, engine, {FORMAT.name: FORMAT}, EXPECTED, ReplyStore(folder), progress)


def test_rows_hold_score_mass_and_the_most_likely_verdict(tmp_path: Path) -> None:
    rows = _score(Oracle(), tmp_path)
    assert len(rows) == 20
    assert all(set(row) == set(SCHEMA.names) for row in rows)
    wanted = {
        (0.5, 0.25, 0.125): ("ok", "1", (0.125 + 0.125) / 0.875, 0.875),
        (0.0, 0.0, 0.0): ("invalid", None, None, 0.0),
        (0.0, 0.0, 1e-9): ("ok", "3", 1.0, 1e-9),
        (0.25, 0.25, 0.5): ("ok", "3", 0.625, 1.0),
    }
    found = {_shares(row["request_id"]): (row["status"], row["verdict"], row["score"], row["mass"]) for row in rows}
    assert found == {shares: pytest.approx(row) for shares, row in wanted.items()}
    assert {row["completion_tokens"] for row in rows} == {0}
    assert rows[0]["text"].startswith('{"1": ')


def test_a_run_that_died_goes_on_where_it_stopped(tmp_path: Path) -> None:
    whole = _score(Oracle(), tmp_path / "whole")
    with pytest.raises(RuntimeError):
        _score(Oracle(answers=13), tmp_path / "died")
    second = Oracle()
    assert _score(second, tmp_path / "died") == whole
    assert second.asked == 20 - 13


def test_identity_covers_what_is_asked_and_nothing_that_draws() -> None:
    ids = {request.request.request_id for request in _requests()}
    assert len(ids) == 20
    warmer = replace(EXPECTED, temperature=0.3, top_p=0.5)
    assert {request.request.request_id for request in _requests(warmer)} == ids
    reply = replace(EXPECTED, answer=Answer.reply)
    assert not {request.request.request_id for request in _requests(reply)} & ids
    assert all(request.request.verdicts == () for request in _requests(reply))


def test_verdicts_are_what_the_judge_would_write(tmp_path: Path) -> None:
    renderer = Renderer(tiny_tokenizer(), {})
    verdicts = [renderer.decode(ids) for ids in _requests()[0].request.verdicts]
    assert verdicts == ["1", "2", "3"]
    completion = renderer.render_completion("2", "2")
    assert (*_requests()[0].request.verdicts[1], renderer.end_of_turn_id) == completion.ids


def test_an_engine_without_probabilities_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="engine=hf or engine=vllm"):
        _score(Silent(), tmp_path)
    with pytest.raises(ConfigError, match="engine=hf or engine=vllm"):
        MessageRenderer().render_verdict("1")


def test_a_verdict_that_has_no_room_is_named() -> None:
    with pytest.raises(ConfigError, match=r"decoding\.max_new_tokens=1: .*likert3.* 2 tokens"):
        _requests(replace(EXPECTED, max_new_tokens=1))


def test_verdicts_that_a_tokenizer_cannot_tell_apart_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Renderer, "render_verdict", lambda self, verdict: (1,))
    with pytest.raises(ConfigError, match="likert3 are the same tokens"):
        _requests()
