"""`decoding=expected` composes where an engine sees probabilities, and is refused in words anywhere else."""

import pytest

from judgelab.config.compose import compose_config, typed
from judgelab.config.schema import Answer
from judgelab.errors import ConfigError

SCORE = ["experiment=formats_sample", "hardware=cpu", "decoding=expected"]


@pytest.mark.parametrize("engine", ["hf", "vllm"])
def test_engines_that_see_probabilities(engine: str) -> None:
    config = typed(compose_config("score", [*SCORE, f"engine={engine}"]))
    assert (config.decoding.name, config.decoding.answer) == ("expected", Answer.expected)
    assert (config.decoding.temperature, config.decoding.top_p) == (1.0, 1.0)


@pytest.mark.parametrize("decoding", ["greedy", "verdict", "sampled"])
def test_other_decodings_read_replies(decoding: str) -> None:
    config = typed(compose_config("score", [*SCORE[:2], f"decoding={decoding}"]))
    assert config.decoding.answer is Answer.reply


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("engine=server", "engine=hf or engine=vllm"),
        ("decoding.temperature=0.7", r"decoding\.temperature=0\.7"),
        ("decoding.top_p=0.9", r"decoding\.top_p=0\.9"),
        ("scoring.repeats=2", r"scoring\.repeats=2 repeats the same probabilities"),
    ],
)
def test_what_has_no_meaning_is_refused(word: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        compose_config("score", [*SCORE, word])


@pytest.mark.parametrize("stage", ["train", "evaluate"])
def test_stages_whose_judges_give_a_reason_first_refuse_it(stage: str) -> None:
    with pytest.raises(ConfigError, match=r"score\.py"):
        compose_config(stage, ["experiment=cpa_criminality", "hardware=cpu", "decoding=expected"])
