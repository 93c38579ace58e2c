"""The server engine against a real HTTP server that fails in every way a server can."""

import gc
import json
import logging
import re
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab.config.schema import DecodingConfig
from judgelab.engines.base import Reply, Request
from judgelab.engines.connection import Connection
from judgelab.engines.openai_api import Response, read_reply
from judgelab.engines.retries import Retries, Transient, Unanswered, Unreachable, retry_after_s
from judgelab.engines.server import ServerEngine
from judgelab.engines.server_config import ServerApi, ServerConfig
from judgelab.errors import ConfigError

DECODING = DecodingConfig(name="sampled", temperature=0.7, top_p=0.9, max_new_tokens=16)
KEY, VARIABLE = "sk-test/0123456789+abcdefghij", "JUDGELAB_TEST_KEY"
USAGE = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}
FIELDS = ["choices", "usage", "message", "content", "text", "finish_reason", "error", "detail", "refusal"]


class Handler(BaseHTTPRequestHandler):
    """Answers each prompt by its script, act by act, and by success when that is over."""

    protocol_version = "HTTP/1.1"
    server: "Host"

    def do_GET(self) -> None:
        self.server.gets += 1
        act = self.server.listing
        act(self)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["messages"][0]["content"] if "messages" in body else repr(body["prompt"])
        host = self.server
        with host.lock:
            host.arrivals[prompt].append(time.monotonic())
            host.bodies[prompt], host.keys[prompt] = body, self.headers["Authorization"]
            host.active += 1
            host.most_active = max(host.most_active, host.active)
            script = host.scripts[prompt]
            act = script.pop(0) if script else host.success
        try:
            act(self)
        finally:
            with host.lock:
                host.active -= 1

    def send(self, status: int, content: Any, length: int | None = None, **headers: Any) -> None:
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data) if length is None else length))
        self.end_headers()
        self.wfile.write(data)
        if length is not None:
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        pass


Act = Callable[[Handler], None]


class Host(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock, self.released = threading.Lock(), threading.Event()
        self.scripts: defaultdict[str, list[Act]] = defaultdict(list)
        self.arrivals: defaultdict[str, list[float]] = defaultdict(list)
        self.bodies: dict[str, dict[str, Any]] = {}
        self.keys: dict[str, str | None] = {}
        self.gets = self.active = self.most_active = 0
        self.success: Act = chat("7")
        self.listing: Act = lambda handler: handler.send(200, {"data": []})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, *_: object) -> None:
        pass  # clients that go away are what is tested


def chat(text: str | None, reason: str | None = "stop", **message: Any) -> Act:
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": reason}
    return lambda handler: handler.send(200, {"choices": [choice], "usage": USAGE})


def status(code: int, message: str = "no", **headers: Any) -> Act:
    return lambda handler: handler.send(code, {"error": {"message": message}}, **headers)


def raw(data: bytes, length: int | None = None) -> Act:
    return lambda handler: handler.send(200, data, length)


def hang(handler: Handler) -> None:
    handler.server.released.wait(20)
    handler.close_connection = True


def hang_up(handler: Handler) -> None:
    handler.close_connection = True


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    host = Host()
    thread = threading.Thread(target=host.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield host
    host.released.set()
    host.shutdown()
    thread.join()
    host.server_close()


def _config(url: str, **changes: Any) -> ServerConfig:
    settings: dict[str, Any] = {
        "name": "server",
        "url": url,
        "api": ServerApi.chat,
        "model": "judge",
        "concurrency": 4,
        "timeout_s": 5.0,
        "attempts": 4,
        "max_wait_s": 0.02,
    }
    return ServerConfig(**settings | changes)


def _requests(*messages: str) -> list[Request]:
    return [Request(f"id {message}", (), seed=2**62 + n, message=message) for n, message in enumerate(messages)]


def _replies(engine: ServerEngine, *messages: str) -> dict[str, Reply]:
    replies = list(engine.generate(_requests(*messages), DECODING))
    assert Counter(reply.request_id for reply in replies) == Counter(f"id {message}" for message in messages)
    return {reply.request_id.removeprefix("id "): reply for reply in replies}


FAILURES: dict[str, Act] = {
    "too many requests": status(429, Retry_After="0"),
    "request timeout": status(408),
    "conflict": status(409),
    "too early": status(425),
    "server error": status(500),
    "bad gateway": lambda handler: handler.send(502, b"<html>Bad gateway</html>"),
    "half a body": raw(b'{"choices": [{"message": {"con', 400),
    "half of JSON": raw(b'{"choices": [{"message": {"con'),
    "garbage": raw(b"\xff\xfe\x00garbage"),
    "empty": raw(b""),
    "deep": raw(b"[" * 100_000),
    "hang up": hang_up,
    "list": raw(b"[]"),
    "null": raw(b"null"),
    "error in a success": lambda handler: handler.send(200, {"error": {"message": "overloaded"}}),
    "no choices": lambda handler: handler.send(200, {"choices": [], "usage": USAGE}),
    "no usage": lambda handler: handler.send(
        200, {"choices": [{"message": {"content": "7"}, "finish_reason": "stop"}]}
    ),
    "no content": lambda handler: handler.send(
        200, {"choices": [{"message": {}, "finish_reason": "stop"}], "usage": USAGE}
    ),
    "content of parts": lambda handler: handler.send(
        200, {"choices": [{"message": {"content": [{"text": "7"}]}, "finish_reason": "stop"}], "usage": USAGE}
    ),
    "unfinished": chat("7", None),
    "aborted": chat("7", "abort"),
}


def test_every_failure_is_tried_again_and_every_request_gets_one_reply(host: Host) -> None:
    for name, act in FAILURES.items():
        host.scripts[name] = [act, act]
    host.scripts["mixture"] = [status(503), raw(b"{"), hang_up]
    engine = ServerEngine(_config(host.url), ())
    replies = _replies(engine, *FAILURES, "mixture", "easy")
    assert {reply.error for reply in replies.values()} == {None}
    assert {
        (reply.text, reply.truncated, reply.completion_tokens, reply.prompt_tokens) for reply in replies.values()
    } == {("7", False, 7, 100)}
    assert {name: len(host.arrivals[name]) for name in FAILURES} == dict.fromkeys(FAILURES, 3)
    assert len(host.arrivals["mixture"]) == 4
    assert len(host.arrivals["easy"]) == 1
    assert engine.totals.retries == 2 * len(FAILURES) + 3
    assert (engine.totals.answered, engine.totals.failed) == (len(FAILURES) + 2, 0)
    assert host.gets == 1


@pytest.mark.parametrize("name", ["server error", "garbage", "hang up", "no usage"])
def test_a_request_without_an_answer_is_an_error_of_its_own(host: Host, name: str) -> None:
    host.scripts["hard"] = [FAILURES[name]] * 10
    engine = ServerEngine(_config(host.url, attempts=3), ())
    replies = _replies(engine, "hard", "easy")
    assert replies["easy"].error is None
    assert (replies["hard"].text, replies["hard"].completion_tokens) == ("", 0)
    assert "attempt 3 of 3" in str(replies["hard"].error)
    assert len(host.arrivals["hard"]) == 3
    assert (engine.totals.answered, engine.totals.failed, engine.totals.retries) == (1, 1, 2)
    # The probe is not repeated, and an answer later replaces the error.
    host.scripts.clear()
    assert _replies(engine, "hard")["hard"].error is None
    assert host.gets == 1


def test_silence_ends_at_the_timeout(host: Host) -> None:
    host.scripts["slow"], host.scripts["silent"] = [hang], [hang, hang]
    started = time.monotonic()
    replies = _replies(ServerEngine(_config(host.url, timeout_s=0.3, attempts=2), ()), "slow", "silent")
    assert replies["slow"].error is None
    assert replies["silent"].error == "no answer within 0.3 s (attempt 2 of 2)"
    assert 0.6 <= time.monotonic() - started < 3


def test_at_most_so_many_requests_run_at_once(host: Host) -> None:
    def slow(handler: Handler) -> None:
        time.sleep(0.03)
        chat("7")(handler)

    host.success = slow
    _replies(ServerEngine(_config(host.url, concurrency=3), ()), *map(str, range(24)))
    assert host.most_active == 3


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_waited_for(host: Host, form: str) -> None:
    def limited(handler: Handler) -> None:
        later = datetime.now(UTC) + timedelta(seconds=2)  # a date has whole seconds, so that one of them may be lost
        status(429, Retry_After="1" if form == "seconds" else format_datetime(later, usegmt=True))(handler)

    host.scripts["limited"] = [limited]
    _replies(ServerEngine(_config(host.url, max_wait_s=2.0), ()), "limited")
    first, second = host.arrivals["limited"]
    assert 0.95 <= second - first < 4


def test_a_long_retry_after_is_capped(host: Host) -> None:
    host.scripts["limited"] = [status(503, Retry_After="3600")] * 2
    _replies(ServerEngine(_config(host.url, max_wait_s=0.2), ()), "limited")
    first, second, third = host.arrivals["limited"]
    assert 0.2 <= second - first < 3 and 0.2 <= third - second < 3


@given(st.integers(1, 2000), st.floats(0, 1e6), st.floats(0, 100))
def test_waits_stay_between_what_is_asked_and_the_cap(failures: int, asked: float, cap: float) -> None:
    wait = Retries(8, cap).wait_s(failures, asked)
    assert min(asked, cap) <= wait <= min(cap, asked + 2.0 ** min(failures - 1, 30))


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, 0),
        ("7", 7),
        ("0.25", 0.25),
        ("-3", 0),
        ("nan", 0),
        ("inf", 0),
        ("soon", 0),
        ("Wed, 21 Oct 2026 07:28:30 GMT", 30),
        ("Wed, 21 Oct 2026 07:28:30 -0000", 30),
        ("Wed, 21 Oct 2026 07:27:00 GMT", 0),
    ],
)
def test_retry_after_headers(header: str | None, seconds: float) -> None:
    assert retry_after_s(header, datetime(2026, 10, 21, 7, 28, tzinfo=UTC)) == seconds


@pytest.mark.parametrize(
    ("code", "named"),
    [
        (400, "engine.body"),
        (401, f"engine.key_variable={VARIABLE}"),
        (402, "no credit"),
        (403, "engine.model=judge"),
        (404, "engine.model=judge"),
        (308, "it points to http://elsewhere/v1"),
        (501, "engine.api=chat"),
    ],
)
def test_what_no_retry_can_mend_ends_the_run_at_once(
    host: Host, monkeypatch: pytest.MonkeyPatch, code: int, named: str
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    host.success = status(code, f"no, {KEY}", Location="http://elsewhere/v1")
    engine = ServerEngine(_config(host.url, concurrency=2, key_variable=VARIABLE), ())
    with pytest.raises(ConfigError, match=re.escape(named)) as caught:
        list(engine.generate(_requests(*map(str, range(50))), DECODING))
    assert f"HTTP {code}" in str(caught.value)
    assert sum(map(len, host.arrivals.values())) <= 2
    assert engine.totals.retries == 0


def test_a_key_that_is_missing_though_wanted(host: Host) -> None:
    host.success = status(401)
    with pytest.raises(ConfigError, match=r"engine\.key_variable=null"):
        _replies(ServerEngine(_config(host.url), ()), "any")
    assert host.keys["any"] is None


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (400, "This model's maximum context length is 2048 tokens. However, you requested 3000 tokens."),
        (400, "The decoder prompt (length 8357) is longer than the maximum model length of 8192."),
        (400, "request (9412 tokens) exceeds the available context size (8192 tokens), try increasing it"),
        (400, "prompt is too long: 215000 tokens > 200000 maximum"),
        (422, "content_filter: the prompt was filtered"),
        (413, "Payload too large"),
    ],
)
def test_a_prompt_that_the_server_refuses_fails_alone(host: Host, code: int, message: str) -> None:
    host.scripts["refused"] = [status(code, message)]
    replies = _replies(ServerEngine(_config(host.url), ()), "refused", "easy")
    assert replies["refused"].error == f"HTTP {code}: {message}"
    assert replies["easy"].error is None
    assert len(host.arrivals["refused"]) == 1


@pytest.mark.parametrize("listing", [status(500), hang_up, raw(b"<html>")])
def test_no_server_behind_the_url_ends_the_run_before_any_request(host: Host, listing: Act) -> None:
    host.listing = listing
    with pytest.raises(ConfigError, match=rf"engine\.url={host.url}: no server to work with .*attempt 3 of 3"):
        _replies(ServerEngine(_config(host.url, attempts=3), ()), "any")
    # aiohttp itself asks a second time where a GET is cut off.
    assert (host.gets, dict(host.arrivals)) == (6 if listing is hang_up else 3, {})


@pytest.mark.parametrize("code", [401, 403, 404, 501])
def test_a_server_need_not_list_its_models(host: Host, code: int) -> None:
    host.listing = status(code)
    assert _replies(ServerEngine(_config(host.url), ()), "any")["any"].text == "7"
    assert host.gets == 1


def test_nobody_listens(host: Host) -> None:
    host.shutdown()
    host.server_close()
    with pytest.raises(ConfigError, match=r"no server to work with .*Cannot connect"):
        list(ServerEngine(_config(host.url, attempts=2), ()).generate(_requests("any"), DECODING))


def test_a_server_that_dies_ends_the_run_in_seconds(host: Host) -> None:
    def last(handler: Handler) -> None:
        chat("7")(handler)
        handler.close_connection = True
        host.server_close()

    host.scripts["9"] = [last]
    messages = [str(n) for n in range(1000)]
    engine = ServerEngine(_config(host.url, concurrency=1, attempts=3), ())
    replies = _replies(engine, *messages)
    errors = {name: reply.error for name, reply in replies.items() if reply.error}
    assert list(map(int, sorted(errors, key=int))) == list(range(10, 1000))
    assert {"attempt 3 of 3" in errors[name] for name in ("10", "11", "12")} == {True}
    not_asked = f"engine.url={host.url}: not asked, as 3 requests in a row reached nobody"
    assert {errors[str(n)] for n in range(13, 1000)} == {not_asked}
    assert (engine.totals.answered, engine.totals.failed) == (10, 990)
    # What is asked later of this engine is not even tried, whether once or twice.
    assert {reply.error for reply in _replies(engine, *messages, *messages).values()} == {not_asked}


def test_a_request_given_twice_is_answered_twice(host: Host) -> None:
    replies = _replies(ServerEngine(_config(host.url), ()), "one", "two", "one")
    assert not any(reply.error for reply in replies.values())


def test_a_server_that_comes_back_is_asked_on(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    send, down = Connection.send, iter([True] * 4 + [False, False] + [True] * 4 + [False] * 100)

    async def flaky(self: Connection, method: str, path: str, body: dict[str, Any] | None) -> Response:
        if method == "POST" and next(down):
            raise Unreachable("refused")
        return await send(self, method, path, body)

    monkeypatch.setattr(Connection, "send", flaky)
    replies = _replies(ServerEngine(_config(host.url, concurrency=1, attempts=2), ()), *map(str, range(20)))
    # Two requests fail with two attempts each, two are answered, two fail, and never three in a row.
    assert [name for name, reply in replies.items() if reply.error] == ["0", "1", "4", "5"]


def test_a_server_that_answers_badly_is_still_there(host: Host) -> None:
    host.success = status(503)
    replies = _replies(ServerEngine(_config(host.url, attempts=2), ()), *map(str, range(20)))
    assert all("attempt 2 of 2" in str(reply.error) for reply in replies.values())
    assert set(map(len, host.arrivals.values())) == {2}


def test_the_key_is_sent_and_never_shown(
    host: Host, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    caplog.set_level(logging.DEBUG)
    escaped = json.dumps({"error": {"message": f"{'x' * 290} {KEY}"}}).replace("/", "\\/").replace("+", "\\u002B")
    host.scripts |= {
        "text": [lambda handler: handler.send(500, f"key {KEY}".encode())] * 4,
        "escaped": [lambda handler: handler.send(500, escaped.encode())] * 4,
        "detail": [lambda handler: handler.send(500, {"detail": [{"sent": KEY}]})] * 4,
        "shape": [lambda handler: handler.send(200, {"echo": KEY})] * 4,
        "reason": [chat("7", KEY)] * 4,
        "too long": [status(400, f"context length, {KEY}")],
    }
    engine = ServerEngine(_config(host.url, key_variable=VARIABLE), ())
    replies = _replies(engine, *host.scripts)
    host.scripts["fatal"] = [status(400, KEY)]
    with pytest.raises(ConfigError) as caught:
        _replies(engine, "fatal")
    assert set(host.keys.values()) == {f"Bearer {KEY}"}
    assert all(reply.error and KEY not in reply.error for reply in replies.values())
    assert "***" in str(replies["text"].error) and "sk-test" not in str(replies["escaped"].error)
    shown = [caplog.text, *capfd.readouterr(), str(caught.value), repr(caught.value), engine.note()]
    shown += [repr(engine), repr(vars(engine)), repr(engine.config), repr(engine.totals)]
    shown += [repr(Response(500, b"", key=KEY))]
    assert not [text for text in shown if KEY in text]


@pytest.mark.parametrize("value", [None, "", "key\n", "two words", "schlüssel"])
def test_an_unusable_key_is_named_before_any_request(
    host: Host, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    if value is not None:
        monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(ConfigError, match=rf"engine\.key_variable={VARIABLE}") as caught:
        ServerEngine(_config(host.url, key_variable=VARIABLE), ())
    assert not value or value not in str(caught.value)
    assert host.gets == 0


@pytest.mark.parametrize(
    "url", ["localhost:8000/v1", "ftp://host/v1", "http://", "", "http://[::1/v1", "http://host:port/v1"]
)
def test_a_url_that_is_none(url: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"engine.url={url}: expected")):
        ServerEngine(_config(url), ())


@pytest.mark.parametrize("url", [f"https://user:{KEY}@host/v1", f"https://host/v1?key={KEY}"])
def test_a_url_with_a_secret_is_refused_unquoted(url: str) -> None:
    with pytest.raises(ConfigError, match=r"^engine\.url holds") as caught:
        ServerEngine(_config(url), ())
    assert KEY not in str(caught.value)


def test_chat_sends_one_user_message_and_the_decoding(host: Host) -> None:
    body = {"top_p": None, "max_tokens": None, "max_completion_tokens": 99, "stop": ["\n\n"]}
    _replies(ServerEngine(_config(f"{host.url}/", body=body), ()), "Wie gut? 🙂")
    assert host.bodies["Wie gut? 🙂"] == {
        "model": "judge",
        "messages": [{"role": "user", "content": "Wie gut? 🙂"}],
        "max_completion_tokens": 99,
        "temperature": 0.7,
        "seed": 2**62 % 2**31,
        "stop": ["\n\n"],
    }


def test_completions_send_token_ids_and_every_sampling_setting(host: Host) -> None:
    choice = {"text": "<|pad|>7", "finish_reason": "stop"}
    host.success = lambda handler: handler.send(200, {"choices": [choice], "usage": USAGE})
    engine = ServerEngine(_config(host.url, api=ServerApi.completions), [2, 5])
    replies = list(engine.generate([Request("r", (1, 2, 3), seed=2**62)], DECODING))
    assert replies == [Reply("r", "<|pad|>7", False, 7, prompt_tokens=100)]
    assert host.bodies["[1, 2, 3]"] == {
        "model": "judge",
        "prompt": [1, 2, 3],
        "max_tokens": 16,
        "temperature": 0.7,
        "top_p": 0.9,
        "top_k": 0,
        "min_p": 0.0,
        "repetition_penalty": 1.0,
        "seed": 2**62,
        "stop_token_ids": [2, 5],
        "skip_special_tokens": False,
        "spaces_between_special_tokens": False,
    }


def test_what_a_success_can_hold(host: Host) -> None:
    host.scripts |= {
        "cut": [chat("The ver", "length")],
        "only reasoning": [chat(None, "length", reasoning_content="The verdict is 3")],
        "reasoning": [chat("7", reasoning_content="The verdict is 3")],
        "declined": [chat(None, refusal="I'm sorry, I cannot.")],
        "withheld": [chat("", "content_filter")],
        "half a pair": [chat("7 \ud83d")],
        "a pair": [chat("7 🙂")],
    }
    replies = _replies(ServerEngine(_config(host.url), ()), *host.scripts)
    got = {name: (reply.text, reply.truncated) for name, reply in replies.items()}
    assert got == {
        "cut": ("The ver", True),
        "only reasoning": ("", True),
        "reasoning": ("7", False),
        "declined": ("I'm sorry, I cannot.", False),
        "withheld": ("", False),
        "half a pair": ("7 \ufffd", False),
        "a pair": ("7 🙂", False),
    }
    assert [name for name, reply in replies.items() if reply.error] == ["withheld"]
    assert len(host.arrivals["withheld"]) == 1


@given(
    st.binary()
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from([*USAGE, *FIELDS]),
                inner,
                max_size=5,
            )
        ),
    ).map(lambda value: json.dumps(value).encode()),
    st.sampled_from([200, 204, 301, 400, 401, 404, 413, 418, 429, 500, 501, 503]),
    st.sampled_from(ServerApi),
)
def test_no_response_breaks_the_reader(body: bytes, code: int, api: ServerApi) -> None:
    try:
        reply = read_reply(Response(code, body), "r", _config("http://host/v1", api=api))
    except (Transient, Unanswered, ConfigError) as failure:
        str(failure).encode()
    else:
        assert code == 200
        reply.text.encode()


def test_tokens_and_cost_add_up(host: Host) -> None:
    prices = {"price_per_million_prompt": 2.5, "price_per_million_completion": 10.0}
    engine = ServerEngine(_config(host.url, **prices), ())
    assert engine.note() == "0 tokens, $0.0000"
    host.scripts |= {"again": [status(500)], "never": [status(500)] * 4}
    _replies(engine, *map(str, range(20)), "again", "never")
    assert (engine.totals.prompt_tokens, engine.totals.completion_tokens) == (2100, 147)
    assert engine.cost == pytest.approx(2100 * 2.5e-6 + 147 * 10e-6)
    assert engine.note() == "2,247 tokens, $0.0067, 4 retries, 1 failed"


def test_without_prices_there_is_no_cost(host: Host) -> None:
    engine = ServerEngine(_config(host.url), ())
    _replies(engine, "any")
    assert (engine.cost, engine.note()) == (None, "107 tokens")
    with pytest.raises(ConfigError, match="price_per_million_completion"):
        ServerEngine(_config(host.url, price_per_million_prompt=1.0), ())


@pytest.mark.parametrize("how", ["closed", "forgotten"])
def test_a_stream_that_is_left_early_stops_asking(host: Host, how: str) -> None:
    messages = [str(n) for n in range(40)]
    for message in messages[2:]:
        host.scripts[message] = [hang]
    stream = ServerEngine(_config(host.url, concurrency=4), ()).generate(_requests(*messages), DECODING)
    assert {next(stream).request_id for _ in range(2)} == {"id 0", "id 1"}
    started = time.monotonic()
    if how == "closed":
        assert isinstance(stream, Generator)
        stream.close()
    del stream
    gc.collect()
    assert time.monotonic() - started < 1
    assert not [thread for thread in threading.enumerate() if thread.name == "judgelab-engine"]
    asked = len(host.arrivals)
    time.sleep(0.1)
    assert len(host.arrivals) == asked <= 6


def test_replies_come_as_they_finish(host: Host) -> None:
    host.scripts["slow"] = [hang]
    stream = ServerEngine(_config(host.url, concurrency=2), ()).generate(_requests("slow", "a", "b"), DECODING)
    assert [next(stream).request_id for _ in range(2)] == ["id a", "id b"]
    host.released.set()
    assert next(stream).request_id == "id slow"
    assert list(stream) == []


def test_nothing_is_asked_for_nothing(host: Host) -> None:
    assert list(ServerEngine(_config(host.url), ()).generate([], DECODING)) == []
    assert host.gets == 0
