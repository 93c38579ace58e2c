"""Composes a stage's configuration from conf/ and the command line, checked and typed, without torch."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from hydra import compose, initialize_config_dir
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import DictConfig, OmegaConf

from judgelab.config.checks import checked
from judgelab.config.explain import explained
from judgelab.config.hardware import settled
from judgelab.config.prompt_files import text_of
from judgelab.config.schema import (
    ConditionsRoot,
    CurvatureRoot,
    EvaluateRoot,
    FormatsRoot,
    MergeRoot,
    PairsRoot,
    ScoreRoot,
    StudyRoot,
    SynthesisRoot,
    TrainRoot,
)
from judgelab.config.verdicts import logistic_scale, scale, signed_scale
from judgelab.data.aegis2 import Aegis2
from judgelab.data.bfcl import BFCL
from judgelab.data.candidates import CandidateSource
from judgelab.data.candidates_file import CandidatesFile
from judgelab.data.do_not_answer import DoNotAnswer
from judgelab.data.halueval import HaluEval
from judgelab.data.hc3 import HC3
from judgelab.data.mt_bench import MTBench
from judgelab.data.pool_sample import PoolSample
from judgelab.data.prometheus import Prometheus
from judgelab.data.sample import SampleSource
from judgelab.data.source import DataSource
from judgelab.data.tool_conversations import ToolConversations
from judgelab.data.truthfulqa import TruthfulQA
from judgelab.data.ultrafeedback import UltraFeedback
from judgelab.data.xstest import XSTest
from judgelab.engines.config import EngineConfig, HFConfig, VLLMConfig
from judgelab.engines.server_config import ServerConfig

ROOT = Path(__file__).resolve().parents[2]
CONF = ROOT / "conf"
SWEEPS = ROOT / "sweeps"
# The dataclass beside each conf/data/NAME.yaml and conf/engine/NAME.yaml.
DATA: dict[str, type[DataSource | CandidateSource]] = {
    "sample": SampleSource,
    "do_not_answer": DoNotAnswer,
    "aegis2": Aegis2,
    "truthfulqa": TruthfulQA,
    "halueval": HaluEval,
    "hc3": HC3,
    "xstest": XSTest,
    "bfcl": BFCL,
    "hermes": ToolConversations,
    "glaive_toolcall": ToolConversations,
    "pool_sample": PoolSample,
    "ultrafeedback": UltraFeedback,
    "prometheus": Prometheus,
    "mt_bench": MTBench,
    "candidates_file": CandidatesFile,
}
ENGINES: dict[str, type[EngineConfig]] = {"hf": HFConfig, "vllm": VLLMConfig, "server": ServerConfig}


class SweepsOnSearchPath(SearchPathPlugin):
    """Makes sweeps/sweep/*.yaml known as `+sweep=NAME`."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Append the folder, so that nothing in it can replace a file of conf/."""
        search_path.append(provider="sweeps", path=f"file://{SWEEPS}")


def prepare_hydra() -> None:
    """Register schemas, the `at` resolver and the sweeps folder; safe to call again."""
    store = ConfigStore.instance()
    store.store("train_schema", TrainRoot)
    store.store("evaluate_schema", EvaluateRoot)
    store.store("score_schema", ScoreRoot)
    store.store("pairs_schema", PairsRoot)
    store.store("synthesis_schema", SynthesisRoot)
    store.store("formats_schema", FormatsRoot)
    store.store("conditions_schema", ConditionsRoot)
    store.store("merge_schema", MergeRoot)
    store.store("curvature_schema", CurvatureRoot)
    for name, engine in ENGINES.items():
        store.store(f"{name}_schema", engine, group="engine")
    for name, source in DATA.items():
        store.store(f"{name}_schema", source, group="data")
    OmegaConf.register_new_resolver("at", _option_at, replace=True)
    for resolver in (scale, signed_scale, logistic_scale, text_of):
        OmegaConf.register_new_resolver(resolver.__name__, resolver, replace=True)
    if SweepsOnSearchPath not in Plugins.instance().discover(SearchPathPlugin):
        Plugins.instance().register(SweepsOnSearchPath)


def compose_config(stage: str, overrides: Sequence[str]) -> DictConfig:
    """The resolved configuration of a stage; ConfigError names what does not fit, wherever it was typed."""
    prepare_hydra()
    named, _ = settled(overrides)
    try:
        with initialize_config_dir(str(CONF), version_base="1.3"):
            composed = compose(stage, named)
    except Exception as error:
        raise explained(error, named) from error
    return checked(composed, named)


def typed(config: DictConfig) -> StudyRoot:
    """The dataclasses of a resolved configuration; the root is that of the stage."""
    return cast("StudyRoot", OmegaConf.to_object(config))


def _option_at(hardware: str, debug: str, paper: str, laptop: str, tiny: str) -> str:
    """The option of a group that belongs to a scale: `${at:${hardware},${debug},paper,laptop,tiny}`."""
    if debug == "tiny":
        return tiny
    return laptop if hardware == "cpu" else paper
