"""An HTTP session with a server, and what it takes to open one: an address, and a key from the environment."""

import os
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from judgelab.engines.openai_api import Response
from judgelab.engines.retries import Transient, Unreachable, retry_after_s
from judgelab.engines.server_config import ServerConfig
from judgelab.errors import ConfigError


class Connection:
    """An HTTP session whose responses are read whole; whatever breaks on the way is Transient."""

    def __init__(self, config: ServerConfig, key: str | None) -> None:
        self._config, self._key = config, key

    async def __aenter__(self) -> "Connection":
        self._session = aiohttp.ClientSession(
            headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
            timeout=aiohttp.ClientTimeout(total=self._config.timeout_s),
            connector=aiohttp.TCPConnector(limit=self._config.concurrency),
            trust_env=True,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def send(self, method: str, path: str, body: dict[str, Any] | None) -> Response:
        """What the server responds; never follows a redirect, which would turn a POST into a GET."""
        url = f"{self._config.url.rstrip('/')}/{path}"
        try:
            async with self._session.request(method, url, json=body, allow_redirects=False) as response:
                headers = response.headers
                wait_s = retry_after_s(headers.get("Retry-After"), datetime.now(UTC))
                content = await response.read()
                return Response(response.status, content, wait_s, headers.get("Location", ""), self._key)
        except TimeoutError:
            raise Transient(f"no answer within {self._config.timeout_s:g} s") from None
        except aiohttp.ClientConnectorError as error:
            raise Unreachable(f"{type(error).__name__}: {error}") from None
        except (aiohttp.ClientError, OSError) as error:
            raise Transient(f"{type(error).__name__}: {error}") from None


def read_key(config: ServerConfig) -> str | None:
    """The API key in the environment; ConfigError where the variable is missing or cannot be a key."""
    if config.key_variable is None:
        return None
    key = os.environ.get(config.key_variable, "")
    if not key:
        raise ConfigError(
            f"engine.key_variable={config.key_variable}: there is no such environment variable; "
            "export the API key under that name, or name another (null where the server needs none)"
        )
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ConfigError(
            f"engine.key_variable={config.key_variable}: what it holds is no API key (it has spaces, line ends or "
            "characters beyond ASCII); export the key alone"
        )
    return key


def check_url(url: str) -> None:
    """Raise ConfigError for an address that is none, or that may hold a secret."""
    # Credentials are looked for by their sign, since a key with a slash ends the host part; they are not quoted.
    if set(url) & set("@?#"):
        raise ConfigError(
            "engine.url holds credentials, a query or a fragment; give the plain address, and the key through "
            "engine.key_variable"
        )
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        raise ConfigError(f"engine.url={url}: expected an address such as http://localhost:8000/v1")
