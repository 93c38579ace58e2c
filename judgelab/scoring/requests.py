"""Requests of a judge, with an identity that covers everything the reply depends on."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judgelab.config.schema import Answer, CriterionConfig, DecodingConfig, FormatConfig, Schedule
from judgelab.data.candidates import PoolPrompt
from judgelab.data.records import Item
from judgelab.engines.base import PromptRenderer, Request, Verdicts
from judgelab.errors import ConfigError
from judgelab.judges.prompts import Prompt, build_prompt, prompt_sha
from judgelab.judges.rendering import RenderedPrompt
from judgelab.run.randomness import derived_seed, sha256_text
from judgelab.scoring.schedule import Judgment, judgments


@dataclass(frozen=True)
class Judge:
    """Who judges: a label for tables, and the identity of its weights."""

    label: str
    identity: str


@dataclass(frozen=True)
class ScoreRequest:
    """A request and what its score row says about it."""

    request: Request
    prompt_id: str
    candidate_id: str
    other_id: str | None
    criterion: str
    format: str
    judge: str
    decoding: str
    order: str | None
    repeat: int
    prompt_sha: str
    cut_tokens: int


@dataclass(frozen=True)
class Asking:
    """What all requests of a judge share: who judges, by which criterion, how replies are drawn, in what length."""

    judge: Judge
    criterion: CriterionConfig
    renderer: PromptRenderer
    decoding: DecodingConfig
    max_length: int
    seed: int

    def pointwise(self, items: Sequence[Item], fmt: FormatConfig, runs: int) -> list[ScoreRequest]:
        """One request per labelled item and run; prompt and reply together fit `max_length` tokens."""
        requests = []
        verdicts = self._verdicts(fmt)
        for item in items:
            prompt = build_prompt(self.criterion, fmt, item.query, item.response, item.slots, None)
            rendered = self._rendered(prompt)
            named = (sha256_text(item.query)[:16], item.item_id, None, None)
            requests += [self._request(rendered, fmt, verdicts, named, repeat) for repeat in range(runs)]
        return requests

    def pool(
        self, prompts: Sequence[PoolPrompt], formats: Sequence[FormatConfig], schedule: Schedule, repeats: Sequence[int]
    ) -> Iterator[ScoreRequest]:
        """Every judgment of every prompt, prompt by prompt, so that the formats of one response stand together."""
        verdicts = {fmt.name: self._verdicts(fmt) for fmt in formats}
        for prompt in prompts:
            for fmt in formats:
                for judgment in judgments(prompt, fmt.comparison, schedule, self.seed):
                    yield from self._of_judgment(prompt, fmt, verdicts[fmt.name], judgment, repeats)

    def _of_judgment(
        self, prompt: PoolPrompt, fmt: FormatConfig, verdicts: Verdicts, judgment: Judgment, repeats: Sequence[int]
    ) -> Iterator[ScoreRequest]:
        other = judgment.other.text if judgment.other else None
        rendered = self._rendered(build_prompt(self.criterion, fmt, prompt.text, judgment.response.text, {}, other))
        other_id = judgment.other.candidate_id if judgment.other else None
        named = (prompt.prompt_id, judgment.response.candidate_id, other_id, judgment.order)
        for repeat in repeats:
            yield self._request(rendered, fmt, verdicts, named, repeat)

    def _rendered(self, prompt: Prompt) -> RenderedPrompt:
        return self.renderer.render_prompt(prompt, self.max_length - self.decoding.max_new_tokens)

    def _verdicts(self, fmt: FormatConfig) -> Verdicts:
        """What the probabilities are asked of, if any; raises ConfigError for verdicts that have no room or no ids."""
        if self.decoding.answer is Answer.reply:
            return ()
        verdicts = tuple(map(self.renderer.render_verdict, fmt.verdicts))
        needed = 1 + max(map(len, verdicts))
        if needed > self.decoding.max_new_tokens:
            raise ConfigError(
                f"decoding.max_new_tokens={self.decoding.max_new_tokens}: a verdict of format {fmt.name} and its end "
                f"take {needed} tokens"
            )
        if () in verdicts or len(set(verdicts)) < len(verdicts):
            raise ConfigError(
                f"decoding=expected: two verdicts of format {fmt.name} are the same tokens for this judge"
            )
        return verdicts

    def _request(
        self,
        rendered: RenderedPrompt,
        fmt: FormatConfig,
        verdicts: Verdicts,
        named: tuple[str, str, str | None, str | None],
        repeat: int,
    ) -> ScoreRequest:
        prompt_id, candidate_id, other_id, order = named
        request_id = request_identity(self.judge, rendered, self.decoding, verdicts, repeat)
        # The draw belongs to the request, so that a request asked under two names has one reply.
        seed = derived_seed(self.seed, "reply", request_id)
        return ScoreRequest(
            request=Request(request_id, rendered.ids, seed, rendered.message, verdicts),
            prompt_id=prompt_id,
            candidate_id=candidate_id,
            other_id=other_id,
            criterion=self.criterion.name,
            format=fmt.name,
            judge=self.judge.label,
            decoding=self.decoding.name,
            order=order,
            repeat=repeat,
            prompt_sha=prompt_sha(self.criterion, fmt),
            cut_tokens=rendered.cut_tokens,
        )


def request_identity(
    judge: Judge, rendered: RenderedPrompt, decoding: DecodingConfig, verdicts: Verdicts, repeat: int
) -> str:
    """Hash of the judge's weights, the rendered prompt, what is read off the judge and how, and the repeat."""
    drawn = f"{decoding.temperature},{decoding.top_p},{decoding.max_new_tokens}"
    parts = (
        judge.identity,
        rendered.message or ",".join(map(str, rendered.ids)),
        drawn if decoding.answer is Answer.reply else f"{decoding.answer.name} {verdicts}",
        str(repeat),
    )
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:32]
