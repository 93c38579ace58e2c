"""The in-process engine on transformers' generate: for CPUs, tests and the model that was just trained."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from judgelab.config.schema import DecodingConfig
from judgelab.engines.base import Reply, Request
from judgelab.judges.rendering import Renderer
from judgelab.run.randomness import derived_seed


class HFEngine:
    """Batched generation; prompts of similar length share a batch, padded on the left."""

    def __init__(self, model: Any, renderer: Renderer, batch_size: int) -> None:
        self.model, self.renderer, self.batch_size = model, renderer, batch_size

    def generate(self, requests: Sequence[Request], decoding: DecodingConfig) -> Iterator[Reply]:
        """Answer all requests; greedy where the temperature is 0."""
        ordered = sorted(requests, key=lambda request: (len(request.prompt_ids), request.request_id))
        self.model.eval()
        for start in range(0, len(ordered), self.batch_size):
            yield from self._batch(ordered[start : start + self.batch_size], decoding)

    @torch.inference_mode()
    def _batch(self, requests: Sequence[Request], decoding: DecodingConfig) -> list[Reply]:
        longest = max(len(request.prompt_ids) for request in requests)
        pad = self.renderer.end_of_turn_id
        ids = [[pad] * (longest - len(r.prompt_ids)) + list(r.prompt_ids) for r in requests]
        attended = [[0] * (longest - len(r.prompt_ids)) + [1] * len(r.prompt_ids) for r in requests]
        with torch.random.fork_rng():
            torch.manual_seed(derived_seed(requests[0].seed, "batch", *(r.seed for r in requests)))
            generated = self.model.generate(
                input_ids=torch.tensor(ids, device=self.model.device),
                attention_mask=torch.tensor(attended, device=self.model.device),
                max_new_tokens=decoding.max_new_tokens,
                eos_token_id=sorted(self.renderer.stop_ids),
                pad_token_id=pad,
                **_sampling(decoding),
            )
        return [self._reply(request, row[longest:].tolist()) for request, row in zip(requests, generated, strict=True)]

    def _reply(self, request: Request, completion: list[int]) -> Reply:
        stops = [index for index, token in enumerate(completion) if token in self.renderer.stop_ids]
        length = stops[0] + 1 if stops else len(completion)
        return Reply(request.request_id, self.renderer.decode(completion), not stops, length)


def _sampling(decoding: DecodingConfig) -> dict[str, Any]:
    """Every sampling setting is stated, so that a model's own generation defaults never slip in."""
    if decoding.temperature == 0:
        return {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
    return {"do_sample": True, "temperature": decoding.temperature, "top_p": decoding.top_p, "top_k": 0}
