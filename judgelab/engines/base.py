"""The protocol that every engine follows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from judgelab.config.schema import DecodingConfig


@dataclass(frozen=True)
class Request:
    """One prompt to answer; `seed` fixes its sampled reply."""

    request_id: str
    prompt_ids: tuple[int, ...]
    seed: int


@dataclass(frozen=True)
class Reply:
    """What came back: generated text only, without the prompt; `truncated` when the budget cut it."""

    request_id: str
    text: str
    truncated: bool
    completion_tokens: int


class Engine(Protocol):
    """Answers requests in any order, yielding each reply as it finishes."""

    def generate(self, requests: Sequence[Request], decoding: DecodingConfig) -> Iterator[Reply]:
        """Answer all requests."""
        ...
