"""The engine that asks an OpenAI-compatible URL: many requests at once, patiently, with a running bill."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from judgelab.config.schema import DecodingConfig
from judgelab.engines.background import streamed
from judgelab.engines.base import Reply, Request
from judgelab.engines.connection import Connection, check_url, read_key
from judgelab.engines.openai_api import PATHS, check_transient, read_json, read_reply, request_body
from judgelab.engines.retries import NobodyThere, Retries, Unanswered
from judgelab.engines.server_config import ServerConfig
from judgelab.errors import ConfigError

UNREACHED_IN_A_ROW = 3
"""So many requests that each failed all their attempts mean that the server has gone for good."""


class _ServerGone(Exception):
    pass


@dataclass
class Totals:
    """What the requests so far came to; tokens as the server counted them, in answers that arrived whole."""

    answered: int = 0
    failed: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def add(self, reply: Reply) -> None:
        """Count a reply."""
        if reply.error is not None:
            self.failed += 1
            return
        self.answered += 1
        self.prompt_tokens += reply.prompt_tokens or 0
        self.completion_tokens += reply.completion_tokens


class ServerEngine:
    """Answers requests over HTTP; raises ConfigError where the server cannot be reached or wants other settings.

    `stop_ids` end a reply, besides what the server's own model ends on. The API key is read from the environment for
    every call and kept nowhere.
    """

    def __init__(self, config: ServerConfig, stop_ids: Sequence[int]) -> None:
        check_url(config.url)
        if (config.price_per_million_prompt is None) != (config.price_per_million_completion is None):
            raise ConfigError("engine.price_per_million_prompt, engine.price_per_million_completion: set both or none")
        self.config, self.stop_ids = config, tuple(stop_ids)
        self.totals = Totals()
        self._retries = Retries(config.attempts, config.max_wait_s)
        self._reached = False
        self._unreached = 0  # requests in a row that reached nobody
        read_key(config)  # a missing key is told before anything else is done

    def generate(self, requests: Sequence[Request], decoding: DecodingConfig) -> Generator[Reply]:
        """One reply per request, as they come; one that cannot be answered has its reason in `error`."""
        key = read_key(self.config)

        def work(put: Callable[[Reply], None]) -> Coroutine[Any, Any, None]:
            return self._answer_all(requests, decoding, key, put)

        if requests:
            yield from streamed(work)

    @property
    def cost(self) -> float | None:
        """US dollars so far; null where no prices are set."""
        prices = self.config.price_per_million_prompt, self.config.price_per_million_completion
        if prices[0] is None or prices[1] is None:
            return None
        return (self.totals.prompt_tokens * prices[0] + self.totals.completion_tokens * prices[1]) / 1e6

    def note(self) -> str:
        """Tokens and cost so far, and what went wrong."""
        totals = self.totals
        parts = [f"{totals.prompt_tokens + totals.completion_tokens:,} tokens"]
        if self.cost is not None:
            parts.append(f"${self.cost:,.4f}")
        parts += [f"{n} {what}" for n, what in ((totals.retries, "retries"), (totals.failed, "failed")) if n]
        return ", ".join(parts)

    async def _answer_all(
        self, requests: Sequence[Request], decoding: DecodingConfig, key: str | None, put: Callable[[Reply], None]
    ) -> None:
        """Workers that each take the next request; the first error that concerns all requests ends them.

        Where the server has gone, what is left fails at once, in this call and in later ones.
        """
        left = Counter(request.request_id for request in requests)  # one prompt may be asked under two names

        def answered(reply: Reply) -> None:
            left[reply.request_id] -= 1
            self.totals.add(reply)
            put(reply)

        async with Connection(self.config, key) as connection:
            if not self._reached:
                await self._reach(connection)
            try:
                async with asyncio.TaskGroup() as workers:
                    waiting = iter(requests)
                    for _ in range(min(self.config.concurrency, len(requests))):
                        workers.create_task(self._work(connection, waiting, decoding, answered))
            except BaseExceptionGroup as group:
                if not isinstance(group.exceptions[0], _ServerGone):
                    raise group.exceptions[0] from None
        gone = f"engine.url={self.config.url}: not asked, as {UNREACHED_IN_A_ROW} requests in a row reached nobody"
        for request_id in sorted(left.elements()):
            answered(Reply(request_id, "", False, 0, error=gone))

    async def _work(
        self,
        connection: Connection,
        waiting: Iterator[Request],
        decoding: DecodingConfig,
        answered: Callable[[Reply], None],
    ) -> None:
        for request in waiting:
            if self._unreached >= UNREACHED_IN_A_ROW:
                raise _ServerGone
            answered(await self._answer(connection, request, decoding))

    async def _answer(self, connection: Connection, request: Request, decoding: DecodingConfig) -> Reply:
        body = request_body(request, decoding, self.config, self.stop_ids)

        async def attempt() -> Reply:
            response = await connection.send("POST", PATHS[self.config.api], body)
            return read_reply(response, request.request_id, self.config)

        try:
            reply = await self._retries.run(attempt, self._count_retry)
        except Unanswered as reason:
            self._unreached = self._unreached + 1 if isinstance(reason, NobodyThere) else 0
            return Reply(request.request_id, "", False, 0, error=str(reason))
        self._unreached = 0
        return reply

    async def _reach(self, connection: Connection) -> None:
        """Ask for the list of models, which costs nothing: whatever is answered, somebody is there.

        A request could not tell an absent server from a prompt that it always fails on.
        """

        async def attempt() -> None:
            response = await connection.send("GET", "models", None)
            check_transient(response)
            if response.status == 200:
                read_json(response)

        try:
            await self._retries.run(attempt, self._count_retry)
        except Unanswered as reason:
            raise ConfigError(
                f"engine.url={self.config.url}: no server to work with ({reason}); "
                "check the URL, that the server has started, and engine.timeout_s"
            ) from None
        self._reached = True

    def _count_retry(self) -> None:
        self.totals.retries += 1
