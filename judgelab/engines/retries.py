"""When a failed attempt is made again, and after how long."""

import asyncio
import math
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

T = TypeVar("T")

FIRST_WAIT_S = 1.0


class Transient(Exception):
    """An attempt that may succeed when made again; `wait_s` is how long the server asks to wait at least."""

    def __init__(self, reason: str, wait_s: float = 0.0) -> None:
        super().__init__(reason)
        self.wait_s = wait_s


class Unreachable(Transient):
    """Nobody listens at the address, or there is no such host."""


class Unanswered(Exception):
    """No answer can be had: it was refused for good, or all attempts failed."""


class NobodyThere(Unanswered):
    """All attempts failed, the last because the server could not be reached."""


@dataclass(frozen=True)
class Retries:
    """At most `attempts` in all; waits grow twofold from a second, with full jitter, and never exceed `max_wait_s`."""

    attempts: int
    max_wait_s: float

    async def run(self, attempt: Callable[[], Awaitable[T]], failed: Callable[[], None]) -> T:
        """What the first successful attempt returns; `failed` is called before each further one."""
        failures = 0
        while True:
            try:
                return await attempt()
            except Transient as failure:
                failures += 1
                if failures >= self.attempts:
                    kind = NobodyThere if isinstance(failure, Unreachable) else Unanswered
                    raise kind(f"{failure} (attempt {failures} of {self.attempts})") from None
                failed()
                await asyncio.sleep(self.wait_s(failures, failure.wait_s))

    def wait_s(self, failures: int, asked_s: float) -> float:
        """Seconds to wait after so many failures, where the server asks for `asked_s`."""
        # The jitter comes on top: all who were told the same time would else come back together.
        backoff = random.uniform(0, min(self.max_wait_s, FIRST_WAIT_S * 2.0 ** min(failures - 1, 30)))
        return min(self.max_wait_s, asked_s + backoff)


def retry_after_s(header: str | None, now: datetime) -> float:
    """Seconds that a Retry-After header asks to wait (a number or an HTTP date); 0 where it says nothing readable."""
    if header is None:
        return 0.0
    try:
        seconds = float(header)
    except ValueError:
        try:
            date = parsedate_to_datetime(header)
        except ValueError:
            return 0.0
        seconds = (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0
