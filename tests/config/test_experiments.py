"""Every experiment and sweep file composes, resolves and binds to the signatures it names; the paper's values hold."""

import inspect
from pathlib import Path

import pytest
from hydra.utils import get_class, get_method
from omegaconf import OmegaConf

from judgelab.config.compose import CONF, DATA, ENGINES, SWEEPS, compose_config, typed
from judgelab.config.schema import Attention, Comparison, Condition, Origin, ScoreRoot, SynthesisRoot, TrainRoot
from judgelab.data.candidates import CandidateSource
from judgelab.data.source import DataSource
from judgelab.engines.config import EngineConfig
from judgelab.engines.server_config import ServerConfig
from judgelab.errors import ConfigError
from judgelab.judges.parsing import parse_reply

EXPERIMENTS = sorted((CONF / "experiment").rglob("*.yaml"))
CPA = (
    "cpa_ainess",
    "cpa_correctness",
    "cpa_criminality",
    "cpa_hallucination",
    "cpa_safety_leakage",
    "cpa_tool_parameters",
)
STAGES = dict.fromkeys(CPA, ("train", "evaluate")) | {
    "formats_sample": ("score",),
    "formats_diagnostics": ("evaluate",),
    "cpa_conditions": ("evaluate",),
    "cpa_merge": ("evaluate",),
    "cpa_curvature": ("evaluate",),
    "bio_pairs": ("score",),
    "cpa_synthesize": ("score",),
}
# Experiments over finished runs or files have no model to shrink, and need them named.
OVER_RUNS = {
    "formats_diagnostics": ["scores=[run]"],
    "cpa_conditions": ["runs=[run]"],
    "cpa_merge": ["runs=[run]"],
    "cpa_curvature": ["runs=[run]"],
    "bio_pairs": ["pairs.folder=folder"],
}
OF_ROLES = ("cpa_synthesize",)  # several models at once
USES = [(name, stage) for name, stages in STAGES.items() for stage in stages if name not in (*OVER_RUNS, *OF_ROLES)]
SWEEP_FILES = sorted((SWEEPS / "sweep").rglob("*.yaml"))
PLACES = ["cpu", "rtx5090", "a100", "h100", "h100x8"]


def test_the_globs_found_the_files() -> None:
    assert [path.stem for path in EXPERIMENTS] == sorted(STAGES)
    assert [path.stem for path in SWEEP_FILES] == ["conditions", "cpa_grid", "seeds"]
    assert sorted(path.stem for path in (CONF / "hardware").glob("*.yaml")) == sorted(["auto", *PLACES])


@pytest.mark.parametrize("debug", ["none", "tiny"])
@pytest.mark.parametrize("hardware", PLACES)
@pytest.mark.parametrize(("name", "stage"), USES)
def test_every_experiment_composes_everywhere(name: str, stage: str, hardware: str, debug: str) -> None:
    config = typed(compose_config(stage, [f"experiment={name}", f"hardware={hardware}", f"debug={debug}"]))
    assert config.name == name
    assert config.hardware.name == hardware
    assert (config.model.origin is Origin.tiny) == (debug == "tiny")


@pytest.mark.parametrize("hardware", PLACES)
def test_the_synthesis_has_the_papers_models_where_the_machine_allows(hardware: str) -> None:
    for criterion in (name.removeprefix("cpa_") for name in CPA):
        words = ["experiment=cpa_synthesize", f"hardware={hardware}", f"criterion={criterion}"]
        config = typed(compose_config("score", words))
        assert isinstance(config, SynthesisRoot)
        roles = (config.synthesizer, config.auditor, config.student)
        names = [role.engine.model if isinstance(role.engine, ServerConfig) else role.model.name for role in roles]
        small = ["HuggingFaceTB/SmolLM2-135M-Instruct"] * 3
        assert names == (
            small if hardware == "cpu" else ["deepseek/deepseek-v3.2", "deepseek/deepseek-r1", "Qwen/Qwen3-8B"]
        )
        assert [role.decoding.temperature for role in roles] == [0.7, 0.0, 0.7]
        tiny = typed(compose_config("score", [*words, "debug=tiny"]))
        assert isinstance(tiny, SynthesisRoot)
        assert {tiny.synthesizer.decoding.max_new_tokens, tiny.student.decoding.max_new_tokens} == {8}


@pytest.mark.parametrize("name", OVER_RUNS)
def test_experiments_over_runs_or_files_compose(name: str) -> None:
    for stage in STAGES[name]:
        assert typed(compose_config(stage, [f"experiment={name}", "hardware=cpu", *OVER_RUNS[name]])).name == name
        with pytest.raises(ConfigError, match="no value"):
            compose_config(stage, [f"experiment={name}", "hardware=cpu"])


@pytest.mark.parametrize("name", [name for name, stage in USES if stage == "train"])
def test_targets_exist_and_take_what_they_are_given(name: str) -> None:
    config = typed(compose_config("train", [f"experiment={name}", "hardware=cpu"]))
    method = get_class(config.method._target_)
    arguments = ("model", "trainer_config", "attention", "micro_batch_size", "seed", "formats")
    inspect.signature(method).bind(**dict.fromkeys(arguments))
    inspect.signature(get_method(f"{config.method._target_}.examples")).bind(None, None, None, None)


@pytest.mark.parametrize("path", SWEEP_FILES, ids=lambda path: path.stem)
def test_every_sweep_names_keys_that_exist(path: Path) -> None:
    params = OmegaConf.load(path).hydra.sweeper.params
    assert params
    for key, values in params.items():
        for value in str(values).split(","):
            compose_config("train", ["experiment=cpa_criminality", "hardware=cpu", f"{key}={value}"])


@pytest.mark.parametrize("hardware", ["rtx5090", "a100", "h100", "h100x8"])
def test_the_papers_recipe_on_every_gpu(hardware: str) -> None:
    config = typed(compose_config("train", ["experiment=cpa_criminality", f"hardware={hardware}"]))
    lora, trainer = config.model.lora, config.trainer
    assert config.model.name == "Qwen/Qwen3-8B"
    assert config.model.chat_template_kwargs == {"enable_thinking": False}
    assert (lora.r, lora.alpha, lora.dropout) == (32, 64, 0.05)
    projections = {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}
    assert set(lora.target_modules) == projections
    assert (trainer.epochs, trainer.batch_size, trainer.max_length, trainer.drop_last) == (4, 16, 2048, True)
    assert (trainer.warmup_ratio, trainer.gradient_clip, trainer.neftune_alpha) == (0.07, 1.0, 5.0)
    assert trainer.learning_rate in {1e-3, 5e-4, 1e-4}
    assert trainer.weight_decay in {0.05, 0.1}
    assert config.seed == 42
    assert config.data.name == "aegis2"
    assert config.method.condition is Condition.joint
    assert (config.hardware.precision, config.hardware.gradient_checkpointing) == ("bf16-mixed", True)
    assert config.hardware.attention is Attention.flex
    assert trainer.batch_size % config.hardware.devices == 0


def test_the_command_line_wins_over_hardware_and_debug() -> None:
    words = ["experiment=cpa_criminality", "hardware=h100", "model=smollm2_135m", "debug=tiny", "data.limit=12"]
    config = typed(compose_config("train", words))
    assert config.model.origin is Origin.embedded
    assert config.data.limit == 12


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_every_engine_composes_and_starts_from_its_configuration(engine: str) -> None:
    config = typed(compose_config("score", ["experiment=formats_sample", "hardware=cpu", f"engine={engine}"]))
    assert isinstance(config, ScoreRoot)
    assert type(config.engine) is ENGINES[engine]
    assert type(config.engine).start is not EngineConfig.start


@pytest.mark.parametrize("data", sorted(name for name in DATA if issubclass(DATA[name], DataSource)))
def test_every_labelled_source_composes(data: str) -> None:
    config = typed(compose_config("train", ["experiment=cpa_criminality", "hardware=cpu", f"data={data}"]))
    assert isinstance(config, TrainRoot)
    assert (type(config.data), config.data.name) == (DATA[data], data)


@pytest.mark.parametrize("name", CPA)
def test_an_experiment_is_named_after_its_criterion_which_says_what_both_labels_mean(name: str) -> None:
    config = typed(compose_config("train", [f"experiment={name}", "hardware=cpu"]))
    assert isinstance(config, TrainRoot)
    assert f"cpa_{config.criterion.name}" == name
    assert set(config.criterion.labels) == {0, 1}


@pytest.mark.parametrize("data", sorted(name for name in DATA if issubclass(DATA[name], CandidateSource)))
def test_every_pool_composes(data: str) -> None:
    config = typed(compose_config("score", ["experiment=formats_sample", "hardware=cpu", f"data={data}"]))
    assert isinstance(config, ScoreRoot)
    assert type(config.data) is DATA[data]


def test_the_papers_formats() -> None:
    config = typed(compose_config("score", ["experiment=formats_sample", "hardware=cpu"]))
    assert isinstance(config, ScoreRoot)
    assert (config.decoding.temperature, config.decoding.max_new_tokens) == (0.0, 16)
    formats = config.formats
    assert list(formats) == ["binary", "likert5", "numeric100", "anchored", "tournament"]
    assert formats["binary"].verdicts == {"ACCEPT": 1.0, "REJECT": 0.0}
    assert formats["likert5"].verdicts == {str(v): (v - 1) / 4 for v in range(1, 6)}
    assert formats["numeric100"].verdicts == {str(v): v / 100 for v in range(101)}
    assert formats["anchored"].verdicts == {"-2": 0.0, "-1": 0.25, "0": 0.5, "+1": 0.75, "+2": 1.0}
    soft = {"-2": 0.1192, "-1": 0.2689, "0": 0.5, "+1": 0.7311, "+2": 0.8808}
    assert formats["tournament"].verdicts == pytest.approx(soft, abs=1e-4)
    kinds = [fmt.comparison for fmt in formats.values()]
    assert kinds == [Comparison.none] * 3 + [Comparison.anchor, Comparison.all_pairs]


def test_a_format_takes_its_prompt_from_a_file(tmp_path: Path) -> None:
    prompt = tmp_path / "mine.txt"
    prompt.write_text("{rubric}\n{query}\n{slots}{response}\n\nFair or foul?\n\n")
    words = ["experiment=formats_sample", "hardware=cpu", f"formats.binary.template=${{text_of:{prompt}}}"]
    words += ["~formats.binary.verdicts.ACCEPT", "+formats.binary.verdicts.FAIR=1.0"]
    words += ["~formats.binary.verdicts.REJECT", "+formats.binary.verdicts.FOUL=0.0"]
    config = typed(compose_config("score", words))
    assert isinstance(config, ScoreRoot)
    mine = config.formats["binary"]
    assert mine.template.endswith("Fair or foul?")
    assert parse_reply("I would call it FAIR.", mine, truncated=False).score == 1.0
    prompt.unlink()
    with pytest.raises(ConfigError, match="prompt file cannot be read"):
        compose_config("score", words)


def test_formats_of_a_kind_differ_in_their_last_paragraph_alone() -> None:
    config = typed(compose_config("score", ["experiment=formats_sample", "hardware=cpu"]))
    assert isinstance(config, ScoreRoot)
    openings = {fmt.name: fmt.template.strip().rpartition("\n\n")[0] for fmt in config.formats.values()}
    assert openings["binary"] == openings["likert5"] == openings["numeric100"]
    assert openings["anchored"] == openings["tournament"]
    assert openings["anchored"].startswith(openings["binary"])


def test_a_format_can_be_dropped_and_none_at_all_is_refused() -> None:
    words = ["experiment=formats_sample", "hardware=cpu", "~format@formats.anchored", "~format@formats.tournament"]
    config = typed(compose_config("score", words))
    assert isinstance(config, ScoreRoot)
    assert list(config.formats) == ["binary", "likert5", "numeric100"]
    lopsided = ["formats.binary.comparison=anchor", "formats.binary.verdicts.ACCEPT=0.9"]
    with pytest.raises(ConfigError, match=r"formats\.binary\.verdicts=.*must mirror"):
        compose_config("score", [*words, *lopsided])
    every = [f"~format@formats.{name}" for name in ("binary", "likert5", "numeric100")]
    with pytest.raises(ConfigError, match="formats is empty"):
        compose_config("score", [*words, *every])
