"""Prompts and completions as token ids, the same for training and generation; chat templates are applied here only.

A chat template is applied to text in which sentinels stand for the data; the pieces around them are tokenised with
control tokens parsed, the data without, and the ids are concatenated. So text that comes from data never turns into
control tokens, a cut is exact, and a prompt is a prefix of prompt and completion by construction.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import TemplateError
from transformers import PreTrainedTokenizerBase

from judgelab.errors import ConfigError
from judgelab.judges.prompts import Prompt
from judgelab.run.randomness import sha256_text

_FIRST_SENTINEL = 0xF0000  # a private-use plane: no text that anyone writes


@dataclass(frozen=True)
class RenderedPrompt:
    """A prompt up to the start of the reply, and how many tokens of data were cut to fit.

    Token ids for a model whose tokenizer is at hand; for a hosted chat model the plain user message instead.
    """

    ids: tuple[int, ...]
    cut_tokens: int
    message: str = ""


@dataclass(frozen=True)
class Completion:
    """Token ids of a reply, closed by the end of turn; `verdict_index` is where in them the verdict starts."""

    ids: tuple[int, ...]
    verdict_index: int


class MessageRenderer:
    """Prompts as the user message of a hosted chat model, whose tokenizer and template are its own."""

    def render_prompt(self, prompt: Prompt, max_tokens: int) -> RenderedPrompt:
        """The whole message; a host that finds it too long says so per request."""
        return RenderedPrompt((), 0, "".join(segment.text for segment in prompt))

    def render_verdict(self, verdict: str) -> tuple[int, ...]:
        """Raises ConfigError: the tokens of a hosted model are not to be seen."""
        raise ConfigError("decoding=expected needs the judge's tokenizer: use engine=hf or engine=vllm")


class Renderer:
    """One tokenizer with its chat template and the template's arguments; raises ConfigError where they do not fit."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase, chat_template_kwargs: dict[str, Any]) -> None:
        self.tokenizer, self.chat_template_kwargs = tokenizer, dict(chat_template_kwargs)
        if not isinstance(tokenizer.chat_template, str):
            raise ConfigError(f"model.name={tokenizer.name_or_path}: its tokenizer has no single chat template")
        self.fingerprint = sha256_text(json.dumps([tokenizer.chat_template, self.chat_template_kwargs], sort_keys=True))
        self.end_of_turn_id = self._find_end_of_turn()
        self.stop_ids = frozenset({self.end_of_turn_id, tokenizer.eos_token_id} - {None})
        self._pieces: dict[str, list[list[int]]] = {}

    def render_prompt(self, prompt: Prompt, max_tokens: int) -> RenderedPrompt:
        """A user turn and the opening of the reply; where it is too long, the longest data loses its end first."""
        pieces = self._fixed_pieces(prompt)
        data = [self._literal(segment.text) for segment in prompt if segment.is_data]
        fixed = sum(map(len, pieces))
        if fixed + sum(map(bool, data)) > max_tokens:
            raise ConfigError(
                f"max_length leaves {max_tokens} tokens for a prompt, but its fixed text alone takes {fixed}, "
                f"so {len(data)} data texts have no room: raise trainer.max_length or shorten the rubric"
            )
        kept = _levelled([len(ids) for ids in data], max_tokens - fixed)
        ids = list(pieces[0])
        for text, length, piece in zip(data, kept, pieces[1:], strict=True):
            ids += text[:length] + piece
        return RenderedPrompt(tuple(ids), sum(map(len, data)) - sum(kept))

    def render_completion(self, text: str, verdict: str) -> Completion:
        """A reply as the model should write it; `verdict` is the last occurrence of that text in it."""
        start = text.rindex(verdict)
        encoded = self.tokenizer(text, split_special_tokens=True, add_special_tokens=False, return_offsets_mapping=True)
        index = next(i for i, (_, end) in enumerate(encoded["offset_mapping"]) if end > start)
        return Completion((*encoded["input_ids"], self.end_of_turn_id), index)

    def render_verdict(self, verdict: str) -> tuple[int, ...]:
        """Token ids of a reply that is nothing but this verdict, without the end of the turn."""
        return self.render_completion(verdict, verdict).ids[:-1]

    def decode(self, ids: Iterable[int]) -> str:
        """Text of a generated reply up to its first end of turn; nothing after that is read."""
        reply: list[int] = []
        for token in ids:
            if token in self.stop_ids:
                break
            reply.append(token)
        # Other control tokens stay visible: dropping one could join two digits into another verdict.
        return self.tokenizer.decode(reply, skip_special_tokens=False, clean_up_tokenization_spaces=False)

    def _fixed_pieces(self, prompt: Prompt) -> list[list[int]]:
        """Token ids of the text before, between and after the data, control tokens parsed."""
        sentinels = [chr(_FIRST_SENTINEL + i) for i in range(sum(segment.is_data for segment in prompt))]
        waiting = iter(sentinels)
        message = "".join(next(waiting) if segment.is_data else segment.text for segment in prompt)
        if message not in self._pieces:
            text = self._apply([{"role": "user", "content": message}], add_generation_prompt=True)
            pieces = [self._parsed(piece) for piece in _split_at(text, sentinels)]
            self._check_start(pieces[0])
            self._pieces[message] = pieces
        return self._pieces[message]

    def _find_end_of_turn(self) -> int:
        """The first control token that the template writes after an assistant's words."""
        user, assistant = chr(_FIRST_SENTINEL), chr(_FIRST_SENTINEL + 1)
        chat = [{"role": "user", "content": user}, {"role": "assistant", "content": assistant}]
        tail = _split_at(self._apply(chat, add_generation_prompt=False), [user, assistant])[-1]
        control = {i for i, token in self.tokenizer.added_tokens_decoder.items() if token.special}
        for token in self._parsed(tail):
            if token in control:
                return token
        raise ConfigError(
            f"model.name={self.tokenizer.name_or_path}: its chat template writes no control token after a reply, "
            "so that a judge could not learn to stop; choose an instruction-tuned model"
        )

    def _apply(self, chat: Sequence[dict[str, str]], add_generation_prompt: bool) -> str:
        try:
            text = self.tokenizer.apply_chat_template(
                list(chat),
                tokenize=False,
                add_generation_prompt=add_generation_prompt,
                **self.chat_template_kwargs,
            )
        except TemplateError as error:
            raise ConfigError(
                f"model.chat_template_kwargs={self.chat_template_kwargs}: the chat template refused a user message "
                f"({error})"
            ) from error
        return str(text)

    def _check_start(self, ids: Sequence[int]) -> None:
        bos = self.tokenizer.bos_token_id
        if bos is not None and list(ids[:2]) == [bos, bos]:
            raise ConfigError(f"model.name={self.tokenizer.name_or_path}: its chat template writes two BOS tokens")

    def _parsed(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def _literal(self, text: str) -> list[int]:
        return list(self.tokenizer(text, split_special_tokens=True, add_special_tokens=False)["input_ids"])


def _split_at(text: str, sentinels: Sequence[str]) -> list[str]:
    """The text around the sentinels, each of which must occur exactly once and in order."""
    pieces = []
    for sentinel in sentinels:
        piece, found, text = text.partition(sentinel)
        if not found:
            raise ConfigError("the chat template drops, repeats or reorders parts of a message")
        pieces.append(piece)
    pieces.append(text)
    if any(sentinel in piece for piece in pieces for sentinel in sentinels):
        raise ConfigError("the chat template drops, repeats or reorders parts of a message")
    return pieces


def _levelled(lengths: Sequence[int], budget: int) -> list[int]:
    """Lengths cut to one common level so that they sum to at most the budget; shorter ones stay whole."""
    kept = list(lengths)
    order = sorted(range(len(lengths)), key=lambda index: (lengths[index], -index))
    for position, index in enumerate(order):
        kept[index] = min(lengths[index], budget // (len(order) - position))
        budget -= kept[index]
    return kept
