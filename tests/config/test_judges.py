"""Every judge preset composes with every scoring experiment, and is the judge that its file names."""

from pathlib import Path

import pytest
from omegaconf import OmegaConf

from judgelab.config.compose import CONF, compose_config, typed
from judgelab.config.schema import Answer, Origin, ScoreRoot
from judgelab.engines.config import HFConfig, VLLMConfig
from judgelab.engines.server_config import ServerApi, ServerConfig
from judgelab.errors import ConfigError

# Names as the papers print them, in the spelling of their host or hub.
HOSTED = {
    # The Format is the Filter, section 2
    "deepseek_v4_flash": "deepseek/deepseek-v4-flash",
    "deepseek_v4_pro": "deepseek/deepseek-v4-pro",
    "gemini_3_5_flash_lite": "google/gemini-3.5-flash-lite",
    "grok_4_20": "x-ai/grok-4.20",
    # DS²
    "gpt_4o_mini": "openai/gpt-4o-mini",
    # CPA, Table 2 and section 4
    "gpt_5_6": "openai/gpt-5.6",
    "gemini_3_6_flash": "google/gemini-3.6-flash",
    "deepseek_v3_2": "deepseek/deepseek-v3.2",
    "deepseek_r1": "deepseek/deepseek-r1",
    # ELSPR
    "qwen_max": "qwen/qwen-max",
    # biomedical judges
    "claude_opus_4_6": "anthropic/claude-opus-4.6",
    "o4_mini": "openai/o4-mini",
    "gpt_5_chat": "openai/gpt-5-chat",
}
LOCAL = {
    "qwen3_5_9b": "Qwen/Qwen3.5-9B",
    "nemotron_3_nano_30b": "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
    "olmo_3_7b": "allenai/Olmo-3-7B-Instruct",
    "llama_3_1_8b": "meta-llama/Llama-3.1-8B-Instruct",
    "mistral_7b_v0_3": "mistralai/Mistral-7B-Instruct-v0.3",
    "qwen2_5_7b": "Qwen/Qwen2.5-7B-Instruct",
}
IN_PROCESS = {"qwen3_8b": "Qwen/Qwen3-8B", "smollm2_135m": "HuggingFaceTB/SmolLM2-135M-Instruct", "tiny": "tiny"}
REASONS_ALWAYS = {"deepseek_r1", "o4_mini"}
REASONS_UNLESS_TOLD = {"qwen3_5_9b", "nemotron_3_nano_30b", "qwen3_8b"}


def _scoring_experiments() -> list[str]:
    return [path.stem for path in sorted((CONF / "experiment").glob("*.yaml")) if _scores(path)]


def _scores(path: Path) -> bool:
    defaults = OmegaConf.load(path).get("defaults", [])
    return any("override /judge" in entry for entry in defaults)


EXPERIMENTS = _scoring_experiments()


def _config(*words: str) -> ScoreRoot:
    config = typed(compose_config("score", ["experiment=formats_sample", *words]))
    assert isinstance(config, ScoreRoot)
    return config


def test_every_preset_is_listed_here() -> None:
    assert {path.stem for path in (CONF / "judge").glob("*.yaml")} == {*HOSTED, *LOCAL, *IN_PROCESS}
    assert "formats_sample" in EXPERIMENTS


@pytest.mark.parametrize("experiment", EXPERIMENTS)
@pytest.mark.parametrize("name", sorted({**HOSTED, **LOCAL, **IN_PROCESS}))
def test_every_preset_composes_with_every_scoring_experiment(name: str, experiment: str) -> None:
    config = _config("hardware=h100", f"experiment={experiment}", f"judge={name}")
    assert config.model.name == {**HOSTED, **LOCAL, **IN_PROCESS}[name]
    kinds = {**dict.fromkeys(HOSTED, ServerConfig), **dict.fromkeys(LOCAL, VLLMConfig)}
    assert type(config.engine) is kinds.get(name, HFConfig)
    assert config.decoding.temperature == 0


@pytest.mark.parametrize("name", sorted(HOSTED))
def test_hosted_judges_take_their_key_from_the_environment_and_do_not_reason(name: str) -> None:
    engine = _config("hardware=h100", f"judge={name}").engine
    assert isinstance(engine, ServerConfig)
    assert (engine.api, engine.model) == (ServerApi.chat, HOSTED[name])
    assert engine.url.startswith("https://")
    assert engine.key_variable == "OPENROUTER_API_KEY"
    assert engine.body == {"reasoning": None if name in REASONS_ALWAYS else {"enabled": False}}


@pytest.mark.parametrize("name", sorted(HOSTED))
def test_only_judges_that_always_reason_get_room_for_it(name: str) -> None:
    room = _config("hardware=h100", f"judge={name}").decoding.max_new_tokens
    assert (room > 1000) == (name in REASONS_ALWAYS)


@pytest.mark.parametrize("name", sorted({**LOCAL, **IN_PROCESS}))
def test_judges_whose_template_can_reason_do_not(name: str) -> None:
    arguments = _config("hardware=h100", f"judge={name}").model.chat_template_kwargs
    assert arguments == ({"enable_thinking": False} if name in REASONS_UNLESS_TOLD else {})


def test_the_experiments_own_judge_follows_the_machine() -> None:
    assert _config("hardware=h100").model.name == "Qwen/Qwen3-8B"
    assert _config("hardware=cpu").model.origin is Origin.embedded
    assert _config("hardware=cpu", "debug=tiny").model.origin is Origin.tiny


def test_model_and_engine_of_a_judge_can_be_replaced() -> None:
    assert type(_config("hardware=cpu", "judge=olmo_3_7b", "engine=hf").engine) is HFConfig
    config = _config("hardware=h100", "judge=olmo_3_7b", "model=llama_3_1_8b", "decoding=expected")
    assert (config.model.name, type(config.engine)) == (LOCAL["llama_3_1_8b"], VLLMConfig)
    assert config.decoding.answer is Answer.expected
    moved = _config("hardware=cpu", "judge=gpt_5_6", "engine.url=http://localhost:1/v1", "engine.key_variable=null")
    assert isinstance(moved.engine, ServerConfig)
    assert (moved.engine.url, moved.engine.key_variable) == ("http://localhost:1/v1", None)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["judge=gpt_5_7"], "gpt_5_6"),
        (["jugde=gpt_5_6"], "judge"),
        (["judge=gpt_5_6", "decoding=expected"], "engine=hf or engine=vllm"),
    ],
)
def test_a_wrong_judge_is_named(words: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        _config("hardware=cpu", *words)


def test_no_file_holds_a_key() -> None:
    for path in [*(CONF / "judge").glob("*.yaml"), *(CONF / "engine").glob("*.yaml")]:
        assert "sk-" not in path.read_text(encoding="utf-8"), path
