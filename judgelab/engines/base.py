"""The protocol that every engine follows."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from judgelab.config.schema import DecodingConfig

if TYPE_CHECKING:
    from judgelab.judges.prompts import Prompt
    from judgelab.judges.rendering import RenderedPrompt


@dataclass(frozen=True)
class Request:
    """One prompt to answer, as token ids and, for hosted chat models, as the plain user message.

    `seed` fixes its sampled reply.
    """

    request_id: str
    prompt_ids: tuple[int, ...]
    seed: int
    message: str = ""


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


class Engine(Protocol):
    """Answers requests in any order, yielding each reply as it finishes."""

    def generate(self, requests: Sequence[Request], decoding: DecodingConfig) -> Generator[Reply]:
        """Answer all requests; closing the generator stops asking."""
        ...

    def note(self) -> str:
        """What a progress bar should say beside the rate, such as the cost so far; may be empty."""
        ...


class PromptRenderer(Protocol):
    """Turns a prompt into what the engine's model reads."""

    def render_prompt(self, prompt: "Prompt", max_tokens: int) -> "RenderedPrompt":
        """Token ids and message of a prompt, cut to fit."""
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
