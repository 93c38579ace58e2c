"""Prompts read batch by batch with transformers, every shared token once."""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import Cache
from transformers.cache_utils import DynamicLayer

from judgelab.engines.base import Request
from judgelab.engines.prefixes import PrefixGroup, batches, prefix_groups, shared_length

SHORT = 64
"""Tokens of padding that cost less than a separate pass."""


@dataclass(frozen=True)
class ReadBatch:
    """Some requests whose shared prefixes have been read.

    Ids and mask [rows, tokens] of those prefixes (`lead`) and of what is left to read (`tail`); the cache has a row
    per group of requests that share a prefix, `row_groups` says which is whose.
    """

    requests: tuple[Request, ...]
    lead: Tensor
    lead_mask: Tensor
    tail: Tensor
    tail_mask: Tensor
    row_groups: Tensor
    cache: Cache | None

    def parts(self) -> list[Tensor]:
        """Rows with tails of similar length: a bare instruction does not wait for padding as long as a response."""
        lengths = self.tail_mask.sum(dim=1).tolist()
        parts: list[list[int]] = []
        for row in sorted(range(len(lengths)), key=lambda row: (lengths[row], row)):
            if parts and lengths[row] <= max(2 * lengths[parts[-1][0]], lengths[parts[-1][0]] + SHORT):
                parts[-1].append(row)
            else:
                parts.append([row])
        return [torch.tensor(part, device=self.tail.device) for part in parts]

    def cache_of(self, rows: Tensor, room: int = 0) -> Cache | None:
        """A cache of these rows' prefixes that may be written to, with room for so many tokens more."""
        if self.cache is None:
            return None
        own = own_cache(self.cache)
        own.batch_select_indices(self.row_groups[rows])
        own.layers = [RoomyLayer(layer, room) if type(layer) is DynamicLayer else layer for layer in own.layers]
        return own


class RoomyLayer(DynamicLayer):
    """Keys and values in buffers with room for a reply, so that a new token copies nothing of what was read."""

    def __init__(self, layer: DynamicLayer, room: int) -> None:
        super().__init__()
        self.dtype, self.device, self.is_initialized = layer.dtype, layer.device, True
        length = layer.keys.shape[-2]
        self._buffers = tuple(nn.functional.pad(states, (0, 0, 0, room)) for states in (layer.keys, layer.values))
        self.keys, self.values = (buffer[..., :length, :] for buffer in self._buffers)

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """Append states [rows, heads, tokens, d] and return all there are; a full buffer raises RuntimeError."""
        start = self.keys.shape[-2]
        stop = start + key_states.shape[-2]
        for buffer, states in zip(self._buffers, (key_states, value_states), strict=True):
            buffer[..., start:stop, :] = states
        self.keys, self.values = (buffer[..., :stop, :] for buffer in self._buffers)
        return self.keys, self.values


def own_cache(cache: Cache) -> Cache:
    """The same content, apart from what is appended or selected: the tensors are replaced then, never written to."""
    own = copy.copy(cache)
    own.layers = [copy.copy(layer) for layer in cache.layers]
    return own


class PrefixReader:
    """Reads what all prompts share (a rubric) once, and what a few share (one item in several formats) once a batch."""

    def __init__(self, model: Any, pad_id: int, batch_size: int) -> None:
        self.model, self.pad_id, self.batch_size = model, pad_id, batch_size

    def read(self, requests: Sequence[Request]) -> Iterator[ReadBatch]:
        """Every request in one batch, which is read when it is its turn."""
        if not requests:
            return
        self.model.eval()
        prompts = [request.prompt_ids for request in requests]
        base = shared_length(prompts)
        shared = self._read_shared(prompts[0][:base])
        for groups in batches(prefix_groups(prompts, self.batch_size), self.batch_size):
            yield self._read_batch(requests, groups, base, shared)

    @torch.inference_mode()
    def _read_shared(self, ids: Sequence[int]) -> Cache | None:
        if not ids:
            return None
        tokens = torch.tensor([ids], device=self.model.device)
        cache: Cache = self.model(input_ids=tokens, use_cache=True, logits_to_keep=1).past_key_values
        return cache

    @torch.inference_mode()
    def _read_batch(
        self, requests: Sequence[Request], groups: Sequence[PrefixGroup], base: int, shared: Cache | None
    ) -> ReadBatch:
        members = [(number, requests[index]) for number, group in enumerate(groups) for index in group.members]
        prefixes = [requests[group.members[0]].prompt_ids[: group.length] for group in groups]
        lead, lead_mask = self._left_padded(prefixes, base)
        cache = self._read_groups(lead, lead_mask, base, shared)
        tail, tail_mask = self._left_padded([r.prompt_ids[groups[number].length :] for number, r in members], 0)
        row_groups = torch.tensor([number for number, _ in members], device=lead.device)
        chosen = tuple(request for _, request in members)
        return ReadBatch(chosen, lead[row_groups], lead_mask[row_groups], tail, tail_mask, row_groups, cache)

    def _read_groups(self, lead: Tensor, mask: Tensor, base: int, shared: Cache | None) -> Cache | None:
        """The cache of every group's prefix, `base` of whose tokens the shared cache already holds."""
        cache = None if shared is None else own_cache(shared)
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
        ids = [[*row[:base], *[self.pad_id] * (longest - len(row)), *row[base:]] for row in rows]
        mask = [[1] * base + [0] * (longest - len(row)) + [1] * (len(row) - base) for row in rows]
        device = self.model.device
        return torch.tensor(ids, dtype=torch.long, device=device), torch.tensor(mask, dtype=torch.long, device=device)
