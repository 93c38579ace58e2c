"""The models of the synthesis: each answers questions through any engine, every answer kept on disk at once."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from omegaconf import OmegaConf
from tqdm import tqdm

from judgelab.config.schema import RoleConfig, ScoreRoot, ScoringConfig, SynthesisRoot
from judgelab.engines.base import Reply, Request, StartedJudge
from judgelab.errors import ScoringError
from judgelab.judges.prompts import Prompt
from judgelab.run.randomness import derived_seed
from judgelab.scoring.requests import Judge, request_identity
from judgelab.scoring.score import kept
from judgelab.scoring.store import ReplyStore

NAMES = ("synthesizer", "auditor", "student")


class Question(NamedTuple):
    """A prompt, and which of its replies is wanted, from 0."""

    prompt: Prompt
    repeat: int = 0


class Role:
    """A started model with its settings; what it answered before is not asked again."""

    def __init__(self, name: str, started: StartedJudge, config: RoleConfig, root: SynthesisRoot, folder: Path) -> None:
        self.name, self.started, self.decoding = name, started, config.decoding
        self.judge = Judge(config.model.name, started.identity)
        self.max_length, self.seed = root.synthesis.max_length, root.seed
        self.store = ReplyStore(folder / name)
        self.replies = self.store.replies()
        self.asked = 0

    def ask(self, questions: Sequence[Question]) -> list[Reply]:
        """The replies in the order of the questions; raises ScoringError where one could not be had."""
        requests = [self._request(question) for question in questions]
        missing = {r.request_id: r for r in requests if self._unanswered(r.request_id)}
        self.asked += len(missing)
        bar = tqdm(total=len(missing), desc=self.name, unit="reply", disable=None if missing else True)
        with closing(self.started.engine.generate(list(missing.values()), self.decoding)) as incoming:
            for reply in kept(incoming, self.store):
                self.replies[reply.request_id] = reply
                bar.set_postfix_str(self.started.engine.note(), refresh=False)
                bar.update()
        bar.close()
        self._check(requests)
        return [self.replies[request.request_id] for request in requests]

    def _request(self, question: Question) -> Request:
        rendered = self.started.renderer.render_prompt(question.prompt, self.max_length - self.decoding.max_new_tokens)
        name = request_identity(self.judge, rendered, self.decoding, (), question.repeat)
        return Request(name, rendered.ids, derived_seed(self.seed, "reply", name), rendered.message)

    def _unanswered(self, request_id: str) -> bool:
        reply = self.replies.get(request_id)
        return reply is None or reply.error is not None

    def _check(self, requests: Sequence[Request]) -> None:
        failed = [request.request_id for request in requests if self._unanswered(request.request_id)]
        if failed:
            reply = self.replies.get(failed[0])
            raise ScoringError(
                f"{self.name}: {len(failed)} requests got no reply (the first: "
                f"{reply.error if reply else 'the engine gave none'}); the same command asks only those again"
            )


def start_roles(root: SynthesisRoot, folder: Path) -> Mapping[str, Role]:
    """The synthesizer, the auditor and the student; roles that one model plays share its engine."""
    started: dict[str, StartedJudge] = {}
    roles = {}
    for name in NAMES:
        config: RoleConfig = getattr(root, name)
        key = OmegaConf.to_yaml(OmegaConf.structured([config.model, config.adapter, config.engine]))
        if key not in started:
            started[key] = config.engine.start(_as_judge(root, config))
        roles[name] = Role(name, started[key], config, root, folder)
    return roles


def _as_judge(root: SynthesisRoot, role: RoleConfig) -> ScoreRoot:
    """What an engine needs to know to start."""
    return ScoreRoot(
        name=root.name,
        question=root.question,
        seed=root.seed,
        hardware=root.hardware,
        model=role.model,
        adapter=role.adapter,
        engine=role.engine,
        decoding=role.decoding,
        scoring=ScoringConfig(max_length=root.synthesis.max_length),
    )
