"""Embeddings of texts: a pretrained encoder, mean over tokens, length 1."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModel, AutoTokenizer

from judgelab.config.schema import EncoderConfig, Origin
from judgelab.errors import ConfigError
from judgelab.models.embedded import encoder_folder, hub_is_reachable
from judgelab.models.tiny import tiny_model, tiny_tokenizer
from judgelab.run.randomness import derived_seed

Embeddings = NDArray[np.float32]


class SentenceEncoder:
    """An encoder in evaluation mode with its tokenizer; texts longer than `max_length` tokens are cut."""

    def __init__(self, model: Any, tokenizer: Any, max_length: int, batch_size: int) -> None:
        self.model, self.tokenizer = model.eval(), tokenizer
        self.max_length, self.batch_size = max_length, batch_size

    @torch.inference_mode()
    def embed(self, texts: Sequence[str]) -> Embeddings:
        """One row of length 1 per text: the mean of its token states (Reimers and Gurevych 2019)."""
        parts = []
        for start in range(0, len(texts), self.batch_size):
            encoded = self.tokenizer(
                list(texts[start : start + self.batch_size]),
                padding=True,
                truncation=True,
                max_length=self.max_length,
                return_tensors="pt",
            )
            states = self.model(
                input_ids=encoded["input_ids"], attention_mask=encoded["attention_mask"]
            ).last_hidden_state
            mask = encoded["attention_mask"].unsqueeze(-1).to(states.dtype)
            means = (states * mask).sum(dim=1) / mask.sum(dim=1)
            parts.append(torch.nn.functional.normalize(means, dim=1))
        return torch.cat(parts).numpy() if parts else np.zeros((0, self.model.config.hidden_size), np.float32)


def load_encoder(config: EncoderConfig, seed: int) -> SentenceEncoder:
    """The encoder of the configuration; raises ConfigError where it cannot be had."""
    if config.origin is Origin.tiny:
        model = tiny_model(derived_seed(seed, "tiny encoder")).model
        return SentenceEncoder(model, tiny_tokenizer(), config.max_length, config.batch_size)
    embedded = config.origin is Origin.embedded and not hub_is_reachable()
    name = str(encoder_folder()) if embedded else config.name
    try:
        model = AutoModel.from_pretrained(name, revision=config.revision, trust_remote_code=False)
        tokenizer = AutoTokenizer.from_pretrained(name, revision=config.revision, trust_remote_code=False)
    except OSError as error:
        raise ConfigError(
            f"encoder.name={config.name}: the encoder could not be loaded ({str(error).splitlines()[0]}); check the "
            "name and the network, set encoder.name to a local folder, or use encoder=minilm, which needs no hub"
        ) from error
    return SentenceEncoder(model, tokenizer, config.max_length, config.batch_size)
