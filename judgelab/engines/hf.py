"""The in-process engine on transformers' generate: for CPUs, tests and the model that was just trained."""

import copy
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel
from torch import Tensor
from transformers import Cache, LogitsProcessor, LogitsProcessorList, TopPLogitsWarper

from judgelab.config.schema import DecodingConfig, ScoreRoot
from judgelab.engines.base import Reply, Request, StartedJudge
from judgelab.engines.prefixes import PrefixGroup, batches, prefix_groups, shared_length
from judgelab.judges.rendering import Renderer
from judgelab.models.adapter import adapter_identity, check_base
from judgelab.models.base import check_context, load_base


class HFEngine:
    """Batched generation that reads shared prompt tokens once.

    What all prompts share (a rubric) is read once per call, what a few share (one item in several formats) once per
    batch; the rest follows. The replies are those of prompts read one by one, up to rounding.
    """

    def __init__(self, model: Any, renderer: Renderer, batch_size: int) -> None:
        self.model, self.renderer, self.batch_size = model, renderer, batch_size

    def generate(self, requests: Sequence[Request], decoding: DecodingConfig) -> Generator[Reply]:
        """Answer all requests; greedy where the temperature is 0."""
        if not requests:
            return
        self.model.eval()
        prompts = [request.prompt_ids for request in requests]
        base = shared_length(prompts)
        shared = self._read_shared(prompts[0][:base])
        for groups in batches(prefix_groups(prompts, self.batch_size), self.batch_size):
            yield from self._batch(requests, groups, base, shared, decoding)

    def note(self) -> str:
        """Nothing beside the rate."""
        return ""

    @torch.inference_mode()
    def _read_shared(self, ids: Sequence[int]) -> Cache | None:
        if not ids:
            return None
        tokens = torch.tensor([ids], device=self.model.device)
        cache: Cache = self.model(input_ids=tokens, use_cache=True, logits_to_keep=1).past_key_values
        return cache

    @torch.inference_mode()
    def _batch(
        self,
        requests: Sequence[Request],
        groups: Sequence[PrefixGroup],
        base: int,
        shared: Cache | None,
        decoding: DecodingConfig,
    ) -> list[Reply]:
        members = [index for group in groups for index in group.members]
        prefixes = [requests[group.members[0]].prompt_ids[: group.length] for group in groups]
        lead, lead_mask = self._left_padded(prefixes, base)
        cache = self._read_groups(lead, lead_mask, base, copy.deepcopy(shared))
        row_groups = torch.tensor([n for n, group in enumerate(groups) for _ in group.members], device=lead.device)
        if cache is not None:
            cache.batch_select_indices(row_groups)
        tails = [requests[index].prompt_ids[group.length :] for group in groups for index in group.members]
        tail, tail_mask = self._left_padded(tails, 0)
        prompt = torch.cat([lead[row_groups], tail], dim=1)
        chosen = [requests[index] for index in members]
        generated = self.model.generate(
            input_ids=prompt,
            attention_mask=torch.cat([lead_mask[row_groups], tail_mask], dim=1),
            past_key_values=cache,
            max_new_tokens=decoding.max_new_tokens,
            eos_token_id=sorted(self.renderer.stop_ids),
            pad_token_id=self.renderer.end_of_turn_id,
            logits_processor=_sampling(decoding, [request.seed for request in chosen]),
            # Every sampling setting is stated, so that a model's own generation defaults never slip in.
            do_sample=False,
            temperature=None,
            top_p=None,
            top_k=None,
        )
        replies = generated[:, prompt.shape[1] :].tolist()
        return [self._reply(request, row) for request, row in zip(chosen, replies, strict=True)]

    def _read_groups(self, lead: Tensor, mask: Tensor, base: int, cache: Cache | None) -> Cache | None:
        """The cache of every group's prefix, `base` of whose tokens the given cache already holds."""
        if cache is not None:
            cache.batch_repeat_interleave(len(lead))
        if lead.shape[1] == base:
            return cache
        positions = (mask.cumsum(dim=1) - 1).clamp(min=0)
        output = self.model(
            input_ids=lead[:, base:],
            attention_mask=mask,
            position_ids=positions[:, base:],
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        )
        read: Cache = output.past_key_values
        return read

    def _left_padded(self, rows: Sequence[Sequence[int]], base: int) -> tuple[Tensor, Tensor]:
        """Ids and mask [rows, longest]; the padding stands behind the first `base` tokens, which all rows share."""
        longest = max(map(len, rows))
        pad = self.renderer.end_of_turn_id
        ids = [[*row[:base], *[pad] * (longest - len(row)), *row[base:]] for row in rows]
        mask = [[1] * base + [0] * (longest - len(row)) + [1] * (len(row) - base) for row in rows]
        device = self.model.device
        return torch.tensor(ids, dtype=torch.long, device=device), torch.tensor(mask, dtype=torch.long, device=device)

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
