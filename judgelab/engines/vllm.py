"""vLLM in this process: LoRA at its own rank, automatic prefix caching, replies as they finish; its only importer.

Greedy replies can still differ between runs: batch composition changes the order of sums. The flip rate of a
re-scored sample says how much (`scoring.rescored`).
"""

import json
import math
import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from transformers import AutoConfig, AutoTokenizer
from vllm import LLM, SamplingParams
from vllm.inputs import TokensPrompt
from vllm.lora.request import LoRARequest
from vllm.outputs import RequestOutput
from vllm.sampling_params import MAX_LOGPROB_TOKEN_IDS, RequestOutputKind

from judgelab.config.schema import DecodingConfig, Origin, ScoreRoot
from judgelab.engines.base import Reply, Request, StartedJudge, VerdictProbabilities
from judgelab.engines.config import VLLMConfig
from judgelab.engines.verdict_tree import VerdictTree, verdict_tree
from judgelab.errors import ConfigError
from judgelab.judges.rendering import Renderer
from judgelab.models.adapter import adapter_identity, check_base
from judgelab.models.base import check_context, model_folder, weights_identity

REQUESTS_PER_CALL = 2048
TREES_AT_ONCE = 64  # up to a hundred prompts each, which wait in memory
RANKS = (8, 16, 32, 64, 128, 256, 320, 512)  # what vLLM has LoRA kernels for


class VLLMEngine:
    """Answers by continuous batching; requests are taken in order, so that those of one item meet in the cache."""

    def __init__(self, llm: LLM, renderer: Renderer, adapter: LoRARequest | None) -> None:
        self.llm, self.renderer, self.adapter = llm, renderer, adapter
        self.prompt_tokens = self.cached_tokens = 0

    def generate(self, requests: Sequence[Request], decoding: DecodingConfig) -> Generator[Reply]:
        """Answer all requests, yielding each reply as it finishes."""
        settings = [self._sampling(request, decoding) for request in requests]
        for index, output in self._outputs([request.prompt_ids for request in requests], settings):
            yield self._reply(requests[index], output)

    def verdict_probabilities(self, requests: Sequence[Request]) -> Generator[VerdictProbabilities]:
        """The probability of every verdict of every request.

        What may follow each node of a verdict tree is asked as one token; the cache holds the prompt they share.
        Raises ConfigError where more tokens may follow a node than vLLM tells probabilities of.
        """
        for start in range(0, len(requests), TREES_AT_ONCE):
            yield from self._trees(requests[start : start + TREES_AT_ONCE])

    def _trees(self, requests: Sequence[Request]) -> Iterator[VerdictProbabilities]:
        trees = [verdict_tree(request.verdicts) for request in requests]
        asked = [(number, node) for number, tree in enumerate(trees) for node in range(len(tree.paths))]
        prompts = [(*requests[number].prompt_ids, *trees[number].paths[node]) for number, node in asked]
        settings = [self._next_token(trees[number], node) for number, node in asked]
        told: list[dict[int, Mapping[int, Any]]] = [{} for _ in requests]
        for index, output in self._outputs(prompts, settings):
            number, node = asked[index]
            told[number][node] = output.outputs[0].logprobs[0]
            if len(told[number]) == len(trees[number].paths):
                logs = self._verdict_logs(trees[number], told[number])
                yield VerdictProbabilities(requests[number].request_id, tuple(map(math.exp, logs)))

    def _verdict_logs(self, tree: VerdictTree, told: Mapping[int, Mapping[int, Any]]) -> list[float]:
        """Verdict log-probabilities from what vLLM told of the tokens behind each node."""
        pairs = zip(tree.parents, tree.tokens, strict=True)
        steps = [told[parent][token].logprob for parent, token in pairs]
        ends = [[told[node][token].logprob for token in self.renderer.stop_ids] for node in range(len(tree.paths))]
        return tree.log_probabilities(steps, [float(np.logaddexp.reduce(each)) for each in ends])

    def _next_token(self, tree: VerdictTree, node: int) -> SamplingParams:
        tokens = {tree.paths[child][-1] for child in tree.children[node]} | self.renderer.stop_ids
        if len(tokens) > MAX_LOGPROB_TOKEN_IDS:
            raise ConfigError(
                f"decoding=expected: {len(tokens)} tokens may follow one another in the verdicts of a format, and "
                f"vLLM tells the probabilities of {MAX_LOGPROB_TOKEN_IDS}; use engine=hf"
            )
        return SamplingParams(
            temperature=0.0,
            max_tokens=1,
            logprob_token_ids=sorted(tokens),  # of the model as it is, whatever the temperature
            detokenize=False,
            output_kind=RequestOutputKind.FINAL_ONLY,
        )

    def _outputs(
        self, prompts: Sequence[Sequence[int]], settings: Sequence[SamplingParams]
    ) -> Iterator[tuple[int, RequestOutput]]:
        """The finished output of every prompt with its index, as they come."""
        if not prompts:
            return
        tokens = [TokensPrompt(prompt_token_ids=list(prompt)) for prompt in prompts]
        ids = self.llm.enqueue(tokens, list(settings), lora_request=self.adapter, use_tqdm=False)
        waiting = {_number(request_id): index for index, request_id in enumerate(ids)}
        engine = self.llm.llm_engine
        while engine.has_unfinished_requests():
            for output in engine.step():
                if isinstance(output, RequestOutput) and output.finished:
                    index = waiting.pop(_number(output.request_id))
                    self.prompt_tokens += len(prompts[index])
                    self.cached_tokens += output.num_cached_tokens or 0
                    yield index, output

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
    text_config = AutoConfig.from_pretrained(folder, revision=config.model.revision).get_text_config()
    check_context(config.model.name, text_config.max_position_embeddings, config.scoring.max_length)
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
