"""The in-process engine on transformers' generate: for CPUs, tests and the model that was just trained."""

import math
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel
from torch import Tensor
from transformers import LogitsProcessor, LogitsProcessorList, TopPLogitsWarper

from judgelab.config.schema import DecodingConfig, ScoreRoot
from judgelab.engines.base import Reply, Request, StartedJudge, VerdictProbabilities
from judgelab.engines.hf_prefixes import PrefixReader, ReadBatch
from judgelab.engines.hf_verdicts import check_attention, verdict_log_probabilities
from judgelab.engines.verdict_tree import verdict_tree
from judgelab.judges.rendering import Renderer
from judgelab.models.adapter import adapter_identity, check_base
from judgelab.models.base import check_context, load_base


class HFEngine:
    """Batched generation that reads shared prompt tokens once; replies are those of prompts read alone, up to rounding.

    A verdict's probability is read off one forward over the prompt and the tree of all verdicts.
    """

    def __init__(self, model: Any, renderer: Renderer, batch_size: int) -> None:
        self.model, self.renderer = model, renderer
        self.reader = PrefixReader(model, renderer.end_of_turn_id, batch_size)

    def generate(self, requests: Sequence[Request], decoding: DecodingConfig) -> Generator[Reply]:
        """Answer all requests; greedy where the temperature is 0."""
        for batch in self.reader.read(requests):
            for rows in batch.parts():
                yield from self._replies(batch, rows, decoding)

    def verdict_probabilities(self, requests: Sequence[Request]) -> Generator[VerdictProbabilities]:
        """The probability of every verdict of every request; requests with the same verdicts are read together.

        Raises ConfigError for a model whose layers do not all attend to the whole prompt.
        """
        check_attention(self.model)
        for batch in self.reader.read(requests):
            for verdicts in dict.fromkeys(request.verdicts for request in batch.requests):
                rows = [row for row, request in enumerate(batch.requests) if request.verdicts == verdicts]
                tree, stop_ids = verdict_tree(verdicts), sorted(self.renderer.stop_ids)
                found = verdict_log_probabilities(self.model, batch, rows, tree, stop_ids)
                for row, logs in zip(rows, found, strict=True):
                    yield VerdictProbabilities(batch.requests[row].request_id, tuple(map(math.exp, logs)))

    def note(self) -> str:
        """Nothing beside the rate."""
        return ""

    @torch.inference_mode()
    def _replies(self, batch: ReadBatch, rows: Tensor, decoding: DecodingConfig) -> list[Reply]:
        longest = int(batch.tail_mask[rows].sum(dim=1).max())
        prompt = torch.cat([batch.lead[rows], batch.tail[rows, -longest:]], dim=1)
        requests = [batch.requests[row] for row in rows.tolist()]
        generated = self.model.generate(
            input_ids=prompt,
            attention_mask=torch.cat([batch.lead_mask[rows], batch.tail_mask[rows, -longest:]], dim=1),
            past_key_values=batch.cache_of(rows, longest + decoding.max_new_tokens),
            max_new_tokens=decoding.max_new_tokens,
            eos_token_id=sorted(self.renderer.stop_ids),
            pad_token_id=self.renderer.end_of_turn_id,
            logits_processor=_sampling(decoding, [request.seed for request in requests]),
            # Every sampling setting is stated, so that a model's own generation defaults never slip in.
            do_sample=False,
            temperature=None,
            top_p=None,
            top_k=None,
        )
        replies = generated[:, prompt.shape[1] :].tolist()
        return [self._reply(request, row) for request, row in zip(requests, replies, strict=True)]

    def _reply(self, request: Request, completion: list[int]) -> Reply:
        stops = [index for index, token in enumerate(completion) if token in self.renderer.stop_ids]
        length = stops[0] + 1 if stops else len(completion)
        return Reply(request.request_id, self.renderer.decode(completion), not stops, length)


def start_hf(config: ScoreRoot) -> StartedJudge:
    """Model and tokenizer in memory, with the adapter on it where one is given."""
    base = load_base(config.model, config.hardware, config.seed)
    renderer = Renderer(base.tokenizer, config.model.chat_template_kwargs)
    check_context(config.model.name, base.model.config.max_position_embeddings, config.scoring.max_length)
    model, identity = base.model, base.identity
    if config.adapter is not None:
        folder = Path(config.adapter)
        check_base(folder, base.identity)
        model = PeftModel.from_pretrained(model, str(folder)).eval()
        identity = f"{identity}+{adapter_identity(folder)}"
    model = model.to("cuda" if config.hardware.accelerator == "cuda" else "cpu")
    batch_size = config.hardware.engine_batch_size
    return StartedJudge(HFEngine(model, renderer, batch_size), renderer, identity, 8 * batch_size)


class SeededSampling(LogitsProcessor):
    """Temperature and nucleus sampling by the Gumbel-max trick, so that argmax of the result is a draw.

    Each row draws from its own seed: a reply depends neither on the batch it was in nor on what was asked before.
    """

    def __init__(self, temperature: float, top_p: float, seeds: Sequence[int]) -> None:
        self.temperature = temperature
        self.nucleus = TopPLogitsWarper(top_p)
        self.generators = [torch.Generator().manual_seed(seed) for seed in seeds]

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Scores [rows, vocabulary] whose argmax is the drawn token."""
        kept = self.nucleus(input_ids, scores.float() / self.temperature)
        uniform = torch.stack([torch.rand(scores.shape[-1], generator=g, dtype=torch.float64) for g in self.generators])
        gumbel = -torch.log(-torch.log(uniform.clamp(min=torch.finfo(torch.float64).tiny)))
        return kept + gumbel.to(kept)


def _sampling(decoding: DecodingConfig, seeds: Sequence[int]) -> LogitsProcessorList:
    if decoding.temperature == 0:
        return LogitsProcessorList()
    return LogitsProcessorList([SeededSampling(decoding.temperature, decoding.top_p, seeds)])
