"""A role asks once, keeps every answer at once, and goes on where it stopped."""

from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

from judgelab.config.compose import compose_config, typed
from judgelab.config.schema import DecodingConfig, SynthesisRoot
from judgelab.engines.base import Reply, Request, StartedJudge
from judgelab.errors import ScoringError
from judgelab.judges.prompts import Segment
from judgelab.judges.rendering import MessageRenderer
from judgelab.synthesis.roles import Question, Role, start_roles

ROOT = typed(compose_config("score", ["experiment=cpa_synthesize", "hardware=cpu", "debug=tiny"]))
assert isinstance(ROOT, SynthesisRoot)


class Countdown:
    """An engine that breaks after so many replies, or gives errors."""

    def __init__(self, left: int, error: str | None = None) -> None:
        self.left, self.error = left, error
        self.answered: list[str] = []

    def generate(self, requests: Sequence[Request], decoding: DecodingConfig) -> Generator[Reply]:
        for request in requests:
            if not self.left:
                raise RuntimeError("killed")
            self.left -= 1
            self.answered.append(request.request_id)
            yield Reply(request.request_id, f"reply to {request.message}", False, 3, error=self.error)

    def note(self) -> str:
        return ""


def role(engine: Countdown, folder: Path) -> Role:
    return Role("auditor", StartedJudge(engine, MessageRenderer(), "model@1", 8), ROOT.auditor, ROOT, folder)


def questions(n: int) -> list[Question]:
    return [Question((Segment(f"question {i % 7}", True, "query"),), i // 7) for i in range(n)]


def test_a_killed_role_resumes_without_asking_twice(tmp_path: Path) -> None:
    asked: list[str] = []
    for _ in range(6):
        engine = Countdown(4)
        try:
            replies = role(engine, tmp_path).ask(questions(21))
        except RuntimeError:
            asked += engine.answered
            continue
        asked += engine.answered
        break
    assert len(asked) == len(set(asked)) == 21
    again = Countdown(0)
    assert role(again, tmp_path).ask(questions(21)) == replies
    assert [reply.text for reply in replies] == [f"reply to question {i % 7}" for i in range(21)]


def test_an_error_is_reported_kept_and_asked_again(tmp_path: Path) -> None:
    with pytest.raises(ScoringError, match=r"auditor: 3 requests got no reply \(the first: busy\); the same command"):
        role(Countdown(9, error="busy"), tmp_path).ask(questions(3))
    assert [reply.error for reply in role(Countdown(9), tmp_path).ask(questions(3))] == [None] * 3


def test_roles_that_one_model_plays_share_its_engine(tmp_path: Path) -> None:
    roles = start_roles(ROOT, tmp_path)
    assert len({id(each.started) for each in roles.values()}) == 1
    assert [each.decoding.name for each in roles.values()] == ["sampled", "greedy", "sampled"]
    prompt = (Segment("Say something.", False, "template"),)
    draws = roles["student"].ask([Question(prompt, n) for n in range(3)])
    assert len({reply.text for reply in draws}) == 3
    assert roles["student"].asked == 3
