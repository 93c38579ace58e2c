"""Settings of the engine that asks an OpenAI-compatible URL."""

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from omegaconf import MISSING

from judgelab.engines.config import EngineConfig

if TYPE_CHECKING:
    from judgelab.config.schema import ScoreRoot
    from judgelab.engines.base import StartedJudge


class ServerApi(Enum):
    """What is sent: rendered token ids, or one user message that the server renders itself."""

    completions = "completions"  # vLLM and others that take token ids, so that a prompt is what training saw
    chat = "chat"  # hosted models


@dataclass
class ServerConfig(EngineConfig):
    """A vLLM server or a hosted API. The key is read from the environment variable that `key_variable` names.

    `body` adds fields to what is sent, and leaves out those that it sets to null. Prices are US dollars per million
    tokens.
    """

    url: str = MISSING  # without the API's own path: https://host/v1
    api: ServerApi = MISSING
    model: str = MISSING  # the name under which the server knows the model
    key_variable: str | None = None
    concurrency: int = 32
    timeout_s: float = 120.0  # of one attempt
    attempts: int = 8
    max_wait_s: float = 60.0  # between two attempts, whatever the server asks for
    price_per_million_prompt: float | None = None
    price_per_million_completion: float | None = None
    body: dict[str, Any] = field(default_factory=dict)

    def start(self, config: "ScoreRoot") -> "StartedJudge":
        """Check key and URL and load the tokenizer; the server is first asked when requests come."""
        from judgelab.engines.server_start import start_server

        return start_server(self, config)
