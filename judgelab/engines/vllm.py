"""vLLM in this process: LoRA at its own rank, automatic prefix caching, replies as they finish; its only importer.

Greedy replies can still differ between runs: batch composition changes the order of sums. The flip rate of a
re-scored sample says how much (`scoring.rescored`).
"""

import json
import os
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

from transformers import AutoConfig, AutoTokenizer
from vllm import LLM, SamplingParams
from vllm.inputs import TokensPrompt
from vllm.lora.request import LoRARequest
from vllm.outputs import RequestOutput
from vllm.sampling_params import RequestOutputKind

from judgelab.config.schema import DecodingConfig, Origin, ScoreRoot
from judgelab.engines.base import Reply, Request, StartedJudge
from judgelab.engines.config import VLLMConfig
from judgelab.errors import ConfigError
from judgelab.judges.rendering import Renderer
from judgelab.models.adapter import adapter_identity, check_base
from judgelab.models.base import check_context, model_folder, weights_identity

REQUESTS_PER_CALL = 2048
RANKS = (8, 16, 32, 64, 128, 256, 320, 512)  # what vLLM has LoRA kernels for


class VLLMEngine:
    """Answers by continuous batching; requests are taken in order, so that those of one item meet in the cache."""

    def __init__(self, llm: LLM, renderer: Renderer, adapter: LoRARequest | None) -> None:
        self.llm, self.renderer, self.adapter = llm, renderer, adapter
        self.prompt_tokens = self.cached_tokens = 0

    def generate(self, requests: Sequence[Request], decoding: DecodingConfig) -> Generator[Reply]:
        """Answer all requests, yielding each reply as it finishes."""
        prompts = [TokensPrompt(prompt_token_ids=list(request.prompt_ids)) for request in requests]
        settings = [self._sampling(request, decoding) for request in requests]
        ids = self.llm.enqueue(prompts, settings, lora_request=self.adapter, use_tqdm=False)
        waiting = dict(zip(map(_number, ids), requests, strict=True))
        engine = self.llm.llm_engine
        while engine.has_unfinished_requests():
            for output in engine.step():
                if isinstance(output, RequestOutput) and output.finished:
                    yield self._reply(waiting.pop(_number(output.request_id)), output)

    def note(self) -> str:
        """How much of the prompts came from the prefix cache."""
        return f"cached {self.cached_tokens / self.prompt_tokens:.0%}" if self.prompt_tokens else ""

    def _sampling(self, request: Request, decoding: DecodingConfig) -> SamplingParams:
        return SamplingParams(
            temperature=decoding.temperature,
            top_p=decoding.top_p,
            max_tokens=decoding.max_new_tokens,
            seed=request.seed % 2**63 if decoding.temperature else None,
            stop_token_ids=sorted(self.renderer.stop_ids),
            detokenize=False,  # the renderer decodes, so that every engine reads replies alike
            output_kind=RequestOutputKind.FINAL_ONLY,
        )

    def _reply(self, request: Request, output: RequestOutput) -> Reply:
        completion = output.outputs[0]
        self.prompt_tokens += len(request.prompt_ids)
        self.cached_tokens += output.num_cached_tokens or 0
        text = self.renderer.decode(completion.token_ids)
        return Reply(request.request_id, text, completion.finish_reason == "length", len(completion.token_ids))


def _number(request_id: str) -> str:
    """The running number that vLLM gives a request; inside the engine a random suffix follows it."""
    return request_id.partition("-")[0]


def start_vllm(config: ScoreRoot, settings: VLLMConfig) -> StartedJudge:
    """Load the model into vLLM; raises ConfigError for a model that vLLM cannot serve here."""
    if config.model.origin is Origin.tiny:
        raise ConfigError("engine=vllm: the tiny model lives in memory only; use engine=hf with debug=tiny")
    folder = model_folder(config.model)
    tokenizer = AutoTokenizer.from_pretrained(folder, revision=config.model.revision)
    renderer = Renderer(tokenizer, config.model.chat_template_kwargs)
    identity = weights_identity(config.model, folder)
    positions = AutoConfig.from_pretrained(folder, revision=config.model.revision).max_position_embeddings
    check_context(config.model.name, positions, config.scoring.max_length)
    adapter = None
    if config.adapter is not None:
        check_base(Path(config.adapter), identity)
        adapter = LoRARequest("judge", 1, str(Path(config.adapter).resolve()))
        identity = f"{identity}+{adapter_identity(Path(config.adapter))}"
    if config.hardware.accelerator == "cpu":
        os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", str(settings.cpu_cache_gib))
    llm = LLM(model=folder, **_options(config, settings))
    return StartedJudge(VLLMEngine(llm, renderer, adapter), renderer, identity, REQUESTS_PER_CALL)


def _options(config: ScoreRoot, settings: VLLMConfig) -> dict[str, Any]:
    options: dict[str, Any] = {
        "revision": config.model.revision,
        "dtype": config.hardware.dtype.value,
        "max_model_len": config.scoring.max_length,
        "seed": config.seed % 2**31,
        "tensor_parallel_size": config.hardware.devices,
        "enable_prefix_caching": True,
        "trust_remote_code": False,
        "disable_log_stats": True,
    }
    if config.hardware.accelerator == "cuda":
        options["gpu_memory_utilization"] = settings.gpu_memory_utilization
    if config.adapter is not None:
        rank = json.loads((Path(config.adapter) / "adapter_config.json").read_text(encoding="utf-8"))["r"]
        options |= {"enable_lora": True, "max_lora_rank": next(size for size in RANKS if size >= rank)}
    return options
