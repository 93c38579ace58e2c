"""How a served judge is started: renderer, identity, and what a server cannot do."""

from pathlib import Path
from typing import Any

import pytest

from judgelab.config.schema import ModelConfig, Origin, ScoreRoot
from judgelab.engines.server import ServerEngine
from judgelab.engines.server_config import ServerApi, ServerConfig
from judgelab.engines.server_start import server_identity
from judgelab.errors import ConfigError
from judgelab.judges.prompts import Segment
from judgelab.models.tiny import TURN_END, tiny_tokenizer

PROMPT = (Segment("Rate this: ", False, "template"), Segment("a reply", True, "response"))


def _settings(**changes: Any) -> ServerConfig:
    settings: dict[str, Any] = {
        "name": "server",
        "url": "http://localhost:1/v1/",
        "api": ServerApi.chat,
        "model": "judge",
    }
    return ServerConfig(**settings | changes)


def test_chat_sends_the_message_as_it_is() -> None:
    started = _settings(concurrency=3).start(ScoreRoot())
    rendered = started.renderer.render_prompt(PROMPT, 5)
    assert (rendered.ids, rendered.message, rendered.cut_tokens) == ((), "Rate this: a reply", 0)
    # Chunks of a run must not move when it is resumed with another concurrency.
    assert started.requests_per_call == _settings(concurrency=99).start(ScoreRoot()).requests_per_call


def test_completions_render_with_the_tokenizer_of_the_model(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.save_pretrained(tmp_path)
    config = ScoreRoot(model=ModelConfig(name=str(tmp_path), origin=Origin.hub))
    started = _settings(api=ServerApi.completions).start(config)
    rendered = started.renderer.render_prompt(PROMPT, 500)
    assert tokenizer.decode(rendered.ids).startswith("<|im_start|>user\nRate this: a reply<|im_end|>")
    assert isinstance(started.engine, ServerEngine)
    assert started.engine.stop_ids == (tokenizer.convert_tokens_to_ids(TURN_END),)


def test_the_identity_names_what_replies_depend_on() -> None:
    identities = [
        server_identity(_settings(**changes))
        for changes in (
            {},
            {"model": "other"},
            {"api": ServerApi.completions},
            {"body": {"reasoning_effort": "low"}},
        )
    ]
    assert len(set(identities)) == len(identities)
    assert identities[0] == "judge, chat"
    moved = _settings(url="http://elsewhere/v1", concurrency=1, timeout_s=1.0, key_variable="KEY")
    assert server_identity(moved) == identities[0]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (ScoreRoot(adapter="folder"), r"adapter=folder: a server loads adapters itself.*--lora-modules"),
        (ScoreRoot(model=ModelConfig(name="tiny", origin=Origin.tiny)), r"engine=server: no server has the tiny model"),
        (ScoreRoot(model=ModelConfig(name="/nowhere/at/all", origin=Origin.hub)), r"model\.name=/nowhere/at/all"),
    ],
)
def test_what_a_server_cannot_do(config: ScoreRoot, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        _settings(api=ServerApi.completions).start(config)
