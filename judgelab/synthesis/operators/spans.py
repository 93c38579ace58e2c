"""PICO: spans deleted from the gold sets, and other phrases of the passage added."""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from judgelab.data.biomedical import PICO_KEYS, SpanExample
from judgelab.run.randomness import generator
from judgelab.synthesis.metrics import macro_f1, normalised_span, span_set
from judgelab.synthesis.mutation import Parameters, Response

ADDED_PER_DELETED = 0.9  # on average; candidates are then about as long as the ground truth
IN_EMPTY_KEYS = (0, 0, 1, 2)  # phrases added where the gold set is empty, drawn once per example
ATTEMPTS = 20  # draws of a phrase before a short abstract goes without one
PIECE = re.compile(r"[^\n]+?(?:[.!?;](?=\s)|$|(?=\n))")
TOKEN = re.compile(r"\S+")


@dataclass(frozen=True)
class SpanMutations:
    """Deletes each gold span with a probability, and adds phrases of the passage in place of some of them.

    A candidate draws its deletion probability first, so that candidates run from nearly right to nearly all wrong,
    and how many phrases it adds per deleted span: about one on average, as long as the gold spans are, so that the
    length of a response says little about its score. A key without gold spans gets the same number of phrases in all
    mutated candidates: else an empty C alone would tell the better one in a corpus without comparators.

    Parameters: per key the indices of deleted spans, and the character offsets of added phrases in the passage. Score:
    macro-F1 (higher is better); the response lists the spans per key in the passage's order.
    """

    example: SpanExample
    count: int
    both_empty: float = 1.0
    operator = "pico_spans"

    @property
    def source_id(self) -> str:
        """The abstract's id."""
        return self.example.source.source_id

    @cached_property
    def pieces(self) -> tuple[list[tuple[int, int]], ...]:
        """Character offsets of the tokens of each sentence of the passage."""
        return tuple(_token_offsets(self.example.passage))

    @cached_property
    def lengths(self) -> list[int]:
        """Tokens of every gold span, from which added phrases take their lengths."""
        return [len(span.split()) for key in PICO_KEYS for span in distinct_spans(self.example.spans[key])]

    def draw(self, number: int, seed: int) -> Parameters:
        """Deletions and additions of one candidate, at least one of them."""
        deleted: dict[str, list[int]] = {key: [] for key in PICO_KEYS}
        added: dict[str, list[list[int]]] = {key: [] for key in PICO_KEYS}
        if number:
            self._edit(deleted, added, generator(seed, "candidate", number), generator(seed, "empty_keys"))
        return {"deleted": deleted, "added": added}

    def respond(self, parameters: Parameters) -> Response:
        """The span sets as JSON."""
        spans = {key: self._spans(key, parameters) for key in PICO_KEYS}
        score = macro_f1(self.example.spans, spans, self.both_empty)
        return Response(json.dumps(spans, ensure_ascii=False), score)

    def _spans(self, key: str, parameters: Parameters) -> list[str]:
        passage, gold = self.example.passage, distinct_spans(self.example.spans[key])
        kept = [(passage.find(span), span) for n, span in enumerate(gold) if n not in parameters["deleted"][key]]
        added = [(start, passage[start:end]) for start, end in parameters["added"][key]]
        return [span for _, span in sorted(kept + added)]

    def _edit(
        self,
        deleted: dict[str, list[int]],
        added: dict[str, list[list[int]]],
        rng: random.Random,
        shared: random.Random,
    ) -> None:
        deletion, ratio, in_empty = rng.random(), rng.uniform(0, 2 * ADDED_PER_DELETED), shared.choice(IN_EMPTY_KEYS)
        spans = {key: distinct_spans(self.example.spans[key]) for key in PICO_KEYS}
        for key in PICO_KEYS:
            deleted[key] = [index for index in range(len(spans[key])) if rng.random() < deletion]
            wanted = int(len(deleted[key]) * ratio + rng.random()) if spans[key] else in_empty
            added[key] = list(self._phrases(rng, key, wanted))
        if not any(deleted.values()) and not any(added.values()):
            key = rng.choice([key for key in PICO_KEYS if spans[key]])
            deleted[key] = [rng.randrange(len(spans[key]))]

    def _phrases(self, rng: random.Random, key: str, wanted: int) -> Iterator[list[int]]:
        taken = set(span_set(self.example.spans[key]))
        for _ in range(wanted):
            for _ in range(ATTEMPTS):
                start, end = _phrase(rng, self.pieces, rng.choice(self.lengths))
                phrase = normalised_span(self.example.passage[start:end])
                if phrase and phrase not in taken:
                    taken.add(phrase)
                    yield [start, end]
                    break


def distinct_spans(spans: Sequence[str]) -> list[str]:
    """The first of each group of spans that read the same, without those that are only punctuation."""
    first: dict[str, str] = {}
    for span in spans:
        first.setdefault(normalised_span(span), span)
    return [span for normalised, span in first.items() if normalised]


def mutable(spans: Mapping[str, Sequence[str]]) -> bool:
    """Whether any span says something once punctuation is gone."""
    return any(map(distinct_spans, spans.values()))


def _token_offsets(passage: str) -> Iterator[list[tuple[int, int]]]:
    for piece in PIECE.finditer(passage):
        tokens = [match.span() for match in TOKEN.finditer(passage, piece.start(), piece.end())]
        if tokens:
            yield tokens


def _phrase(rng: random.Random, pieces: Sequence[Sequence[tuple[int, int]]], length: int) -> tuple[int, int]:
    tokens = rng.choice(pieces)
    first = rng.randrange(max(1, len(tokens) - length + 1))
    last = min(first + length, len(tokens)) - 1
    return tokens[first][0], tokens[last][1]
