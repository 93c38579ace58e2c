"""How little a counterfactual changes of the response that it was made from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz.distance import Levenshtein

from judgelab.models.sentence_encoder import SentenceEncoder


@dataclass(frozen=True)
class Minimality:
    """Characters of the counterfactual per character of the response; edits per character of the longer one (0 to
    1); 1 − cosine of the embeddings (0 to 2).
    """

    length_ratio: float
    edit_distance: float
    embedding_distance: float


def minimality(pairs: Sequence[tuple[str, str]], encoder: SentenceEncoder) -> list[Minimality]:
    """One entry per (response, counterfactual)."""
    first, second = (encoder.embed([pair[side] for pair in pairs]) for side in (0, 1))
    cosines = np.sum(first * second, axis=1)
    return [
        Minimality(
            len(counterfactual) / len(response),
            Levenshtein.normalized_distance(response, counterfactual),
            float(1 - cosine),
        )
        for (response, counterfactual), cosine in zip(pairs, cosines, strict=True)
    ]
