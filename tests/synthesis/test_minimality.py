from pathlib import Path

import numpy as np
import pytest

from judgelab.config.schema import EncoderConfig, Origin
from judgelab.models.sentence_encoder import SentenceEncoder, load_encoder
from judgelab.synthesis.minimality import minimality


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    return load_encoder(EncoderConfig("tiny", Origin.tiny, max_length=64, batch_size=2), 0)


def levenshtein(one: str, other: str) -> int:
    rows = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        previous, rows[0] = rows[0], i
        for j, b in enumerate(other, 1):
            previous, rows[j] = rows[j], min(rows[j] + 1, rows[j - 1] + 1, previous + (a != b))
    return rows[-1]


def test_measures_equal_their_definitions(encoder: SentenceEncoder) -> None:
    pairs = [("It is in Canberra.", "It is in Sydney."), ("no", "never"), ("same", "same")]
    for (one, other), found in zip(pairs, minimality(pairs, encoder), strict=True):
        assert found.length_ratio == len(other) / len(one)
        assert found.edit_distance == pytest.approx(levenshtein(one, other) / max(len(one), len(other)))
        a, b = encoder.embed([one])[0], encoder.embed([other])[0]
        assert found.embedding_distance == pytest.approx(1 - float(a @ b), abs=1e-5)
    assert minimality([], encoder) == []


def test_embeddings_have_length_one_and_do_not_depend_on_the_batch(encoder: SentenceEncoder) -> None:
    texts = ["short", "a text that is a good deal longer than the other", "mid size"]
    together = encoder.embed(texts)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-6)
    for row, text in zip(together, texts, strict=True):
        assert np.allclose(row, encoder.embed([text])[0], atol=1e-5)


def test_the_embedded_encoder_puts_a_paraphrase_nearer_than_another_topic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    encoder = load_encoder(EncoderConfig("all-MiniLM-L6-v2", Origin.embedded, max_length=256), 0)
    near, far = minimality(
        [
            ("The ship sails at noon.", "At twelve the boat departs."),
            ("The ship sails at noon.", "Onions make me cry."),
        ],
        encoder,
    )
    assert near.embedding_distance < 0.5 < far.embedding_distance
