"""The protocol that every engine follows."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from judgelab.config.schema import DecodingConfig

if TYPE_CHECKING:
    from judgelab.judges.prompts import Prompt
    from judgelab.judges.rendering import RenderedPrompt


Verdicts = tuple[tuple[int, ...], ...]
"""Token ids of every legal verdict of a format, as a judge would write it and nothing else."""


@dataclass(frozen=True)
class Request:
    """One prompt to answer, as token ids and, for hosted chat models, as the plain user message.

    `seed` fixes its sampled reply. `verdicts` are there where the probability of each is asked.
    """

    request_id: str
    prompt_ids: tuple[int, ...]
    seed: int
    message: str = ""
    verdicts: Verdicts = ()


@dataclass(frozen=True)
class Reply:
    """What came back: generated text only, without the prompt; `truncated` when the budget cut it.

    `error` says why an answer could not be had; `prompt_tokens` is what a remote engine counted.
    """

    request_id: str
    text: str
    truncated: bool
    completion_tokens: int
    error: str | None = None
    prompt_tokens: int | None = None


@dataclass(frozen=True)
class VerdictProbabilities:
    """How likely the model is to reply with each verdict of a request and nothing else, in the request's order.

    Of the model as it is, untempered: the product over the verdict's tokens, times that of an end of the turn.
    """

    request_id: str
    values: tuple[float, ...]


class Engine(Protocol):
    """Answers requests in any order, yielding each reply as it finishes."""

    def generate(self, requests: Sequence[Request], decoding: DecodingConfig) -> Generator[Reply]:
        """Answer all requests; closing the generator stops asking."""
        ...

    def note(self) -> str:
        """What a progress bar should say beside the rate, such as the cost so far; may be empty."""
        ...


@runtime_checkable
class VerdictEngine(Engine, Protocol):
    """An engine that sees its model's probabilities."""

    def verdict_probabilities(self, requests: Sequence[Request]) -> Generator[VerdictProbabilities]:
        """The probability of every verdict of every request, as they finish; closing the generator stops asking."""
        ...


class PromptRenderer(Protocol):
    """Turns a prompt into what the engine's model reads, and a verdict into what it would write."""

    def render_prompt(self, prompt: "Prompt", max_tokens: int) -> "RenderedPrompt":
        """Token ids and message of a prompt, cut to fit."""
        ...

    def render_verdict(self, verdict: str) -> tuple[int, ...]:
        """Token ids of a reply that is nothing but this verdict, without the end of the turn."""
        ...


@dataclass(frozen=True)
class StartedJudge:
    """An engine ready to answer, how its prompts are rendered, and the identity of its weights.

    `requests_per_call` is how many requests it is best given at once.
    """

    engine: Engine
    renderer: PromptRenderer
    identity: str
    requests_per_call: int
