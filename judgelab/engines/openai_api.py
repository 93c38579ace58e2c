"""The OpenAI wire format: what is sent for a request, and what an HTTP response amounts to."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judgelab.config.schema import DecodingConfig
from judgelab.engines.base import Reply, Request
from judgelab.engines.retries import Transient, Unanswered
from judgelab.engines.server_config import ServerApi, ServerConfig
from judgelab.errors import ConfigError

PATHS = {ServerApi.completions: "completions", ServerApi.chat: "chat/completions"}

# vLLM reads these; without them it falls back on the model's own generation defaults, such as Qwen's top_k.
_PLAIN_SAMPLING = {"top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}
# Control tokens stay visible, as in the in-process engine: dropping one could join two digits into another verdict.
_PLAIN_TEXT = {"skip_special_tokens": False, "spaces_between_special_tokens": False}

MOST_QUOTED = 300

_FINISHED = {"stop", "eos", "length"}
_TRANSIENT = {408, 409, 425, 429}
_NOT_IMPLEMENTED = 501
_TOO_LARGE = 413
# Of one prompt only, however hosts word it: longer than the context, or withheld by a content filter.
_OF_ONE_PROMPT = re.compile(
    r"context[_ ](?:length|size|window)|maximum model length|too many tokens|(?:prompt|input) is too long"
    r"|input token count|content[_ ](?:filter|policy|management)|invalid_prompt",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Response:
    """An HTTP response, read to its end; `wait_s` is what its Retry-After asks for.

    `key` is the API key that was sent: servers quote it, messages must not.
    """

    status: int
    body: bytes
    wait_s: float = 0.0
    location: str = ""
    key: str | None = field(default=None, repr=False)

    def words(self) -> str:
        """What the server says of an error, fit for a message."""
        try:
            payload = json.loads(self.body)
        except (ValueError, RecursionError):
            return self.quoted(self.body.decode(errors="replace"))
        error = payload.get("error", payload) if isinstance(payload, dict) else payload
        if isinstance(error, dict):
            error = error.get("message") or error.get("detail") or error
        return self.quoted(str(error))

    def quoted(self, text: str) -> str:
        """A text of the server without the key, cut to a readable length."""
        if self.key:
            text = text.replace(self.key, "***")
        return _storable(" ".join(text.split())[:MOST_QUOTED]) or "no further word"


def request_body(
    request: Request, decoding: DecodingConfig, config: ServerConfig, stop_ids: Sequence[int]
) -> dict[str, Any]:
    """The JSON that asks one request; every sampling setting that the API knows is stated."""
    body: dict[str, Any] = {
        "model": config.model,
        "max_tokens": decoding.max_new_tokens,
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
    }
    if config.api is ServerApi.completions:
        body |= {"prompt": list(request.prompt_ids), "seed": request.seed, "stop_token_ids": list(stop_ids)}
        body |= _PLAIN_SAMPLING | _PLAIN_TEXT
    else:
        # Some hosts take a seed of 32 bits only.
        body |= {"messages": [{"role": "user", "content": request.message}], "seed": request.seed % 2**31}
    body |= config.body
    return {key: value for key, value in body.items() if value is not None}


def check_transient(response: Response) -> None:
    """Raise Transient where the server says that it could not answer now."""
    if response.status in _TRANSIENT or (response.status >= 500 and response.status != _NOT_IMPLEMENTED):
        raise Transient(f"HTTP {response.status}: {response.words()}", response.wait_s)


def read_reply(response: Response, request_id: str, config: ServerConfig) -> Reply:
    """The reply in a response.

    Raises Transient where another attempt may help, Unanswered where this one prompt is refused, and ConfigError
    where every prompt would be.
    """
    check_transient(response)
    if response.status != 200:
        raise _refusal(response, config)
    payload = read_json(response)
    try:
        choice, usage = payload["choices"][0], payload["usage"]
        reason = str(choice["finish_reason"])
        text = choice["text"] if config.api is ServerApi.completions else _message_text(choice["message"])
        tokens = usage["prompt_tokens"], usage["completion_tokens"]
        if not (isinstance(text, str) and all(type(count) is int and 0 <= count < 2**31 for count in tokens)):
            raise TypeError("text or token counts are none")
    except (LookupError, TypeError) as error:
        problem = f"{type(error).__name__}: {error}"
        raise Transient(f"an answer without what it should hold ({problem}): {response.words()}") from None
    if reason == "content_filter":
        raise Unanswered("the server's content filter withheld the answer")
    if reason not in _FINISHED:
        raise Transient(f"an answer that ended with finish_reason={response.quoted(reason)}")
    return Reply(request_id, _storable(text), reason == "length", tokens[1], prompt_tokens=tokens[0])


def read_json(response: Response) -> Any:
    """The JSON of a response; Transient where it is none."""
    try:
        return json.loads(response.body)
    except (ValueError, RecursionError):
        raise Transient(f"an answer that is not JSON: {response.words()}") from None


def _message_text(message: Mapping[str, Any]) -> Any:
    """What a chat model said; null content is a refusal in its own field, or nothing beside reasoning."""
    content = message["content"]
    return (message.get("refusal") or "") if content is None else content


def _storable(text: str) -> str:
    """JSON can hold halves of surrogate pairs, which no file can."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _refusal(response: Response, config: ServerConfig) -> Exception:
    status, words = response.status, response.words()
    of_one_prompt = status in (400, 422) and _OF_ONE_PROMPT.search(response.body.decode(errors="replace"))
    if status == _TOO_LARGE or of_one_prompt:
        return Unanswered(f"HTTP {status}: {words}")
    if 300 <= status < 400:
        words = f"it points to {response.quoted(response.location)}"
    return ConfigError(f"{_advice(status, config)} (HTTP {status}{'' if status == 401 else f': {words}'})")


def _advice(status: int, config: ServerConfig) -> str:
    """Which key to change, and how, after a status that every request would get."""
    url, model, key = f"engine.url={config.url}", f"engine.model={config.model}", config.key_variable
    if status == 401 and key is None:
        return "engine.key_variable=null: the server wants a key; export it, and name the environment variable here"
    if status == 401:
        return f"engine.key_variable={key}: the server refused the key in that environment variable; export a valid one"
    if status == 402:
        return f"{url}: the account has no credit; top it up, and run the same command again"
    if status == 403:
        return f"{model}, engine.key_variable={key}: that key may not use that model; change one of them"
    if status in (404, 405):
        path = PATHS[config.api]
        return f"{url}, {model}: nothing at /{path}; check the URL (mostly it ends in /v1), the model, and engine.api"
    if 300 <= status < 400:
        return f"{url}: the server has moved; set the address that it points to"
    return (
        f"engine.api={config.api.name}, {model}: the server does not take the request; where it names a field, "
        "set that in engine.body, or leave it out by null (+engine.body.seed=null)"
    )
