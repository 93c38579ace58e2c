"""Which engine answers, and how it is started; each engine is a subclass beside its settings."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omegaconf import MISSING

from judgelab.errors import ConfigError

if TYPE_CHECKING:
    from judgelab.config.schema import ScoreRoot
    from judgelab.engines.base import StartedJudge


@dataclass
class EngineConfig:
    """Configuration of an engine and its start."""

    name: str = MISSING

    def start(self, config: "ScoreRoot") -> "StartedJudge":
        """Load the judge of a scoring run; raises ConfigError where it cannot be had."""
        raise TypeError("choose an engine: engine=hf|vllm|server")


@dataclass
class HFConfig(EngineConfig):
    """transformers' generate in this process."""

    def start(self, config: "ScoreRoot") -> "StartedJudge":
        """Load model, tokenizer and adapter."""
        from judgelab.engines.hf import start_hf

        return start_hf(config)


@dataclass
class VLLMConfig(EngineConfig):
    """vLLM in this process; the share of GPU memory it may take, or the GiB of its cache on a CPU."""

    gpu_memory_utilization: float = 0.9
    cpu_cache_gib: int = 4

    def start(self, config: "ScoreRoot") -> "StartedJudge":
        """Load model and adapter into vLLM."""
        try:
            from judgelab.engines.vllm import start_vllm
        except ImportError as error:
            raise ConfigError(f'engine=vllm: {error}; pip install -e ".[vllm]", or use engine=hf') from error
        return start_vllm(config, self)
