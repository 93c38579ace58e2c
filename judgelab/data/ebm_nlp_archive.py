"""EBM-NLP 2.0 as its authors release it: a folder of documents and one of aggregated annotations."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from judgelab.data.biomedical import PICO_KEYS, Examples, Source, SpanExample
from judgelab.data.reading import decoded, read_bytes
from judgelab.errors import DataError

SPLITS = {"train": "train", "test": "test/gold"}
CONTROL = 7  # hierarchical label of interventions


@dataclass(frozen=True)
class Layer:
    """One layer of labels, how many it has, and the key that a label belongs to."""

    folder: str
    labels: int
    key: Callable[[int], str]


LAYERS = (
    Layer("starting_spans/participants", 1, lambda _: "P"),
    Layer("hierarchical_labels/interventions", CONTROL, lambda label: "C" if label == CONTROL else "I"),
    Layer("starting_spans/outcomes", 1, lambda _: "O"),
)


@dataclass
class _Reader:
    """Reads files below the root and keeps their hashes."""

    root: Path
    setting: str
    inputs: dict[str, str] = field(default_factory=dict)

    def words(self, file: str) -> list[str]:
        path = self.root / file
        content = read_bytes(path, self.setting)
        self.inputs[str(path)] = hashlib.sha256(content).hexdigest()
        return decoded(str(path), content).split()


def load_ebm_nlp_archive(folder: str, setting: str) -> Examples[SpanExample]:
    """The abstracts of a folder with `documents/` and `annotations/aggregated/`, train and gold test split.

    A span is a maximal run of one label, its text the tokens joined by a space. C holds the interventions that the
    hierarchical labels call controls. An abstract that lacks one of the layers is counted. DataError names the file
    and the row (the label's number) of an unknown label, labels that do not match the tokens, and no spans at all.
    """
    reader = _Reader(Path(folder).expanduser(), setting)
    examples, incomplete = [], 0
    for split, place in SPLITS.items():
        annotated = [_annotated(reader, layer, place) for layer in LAYERS]
        complete = set.intersection(*map(set, annotated))
        incomplete += len(set.union(*map(set, annotated)) - complete)
        examples += [_example(reader, pmid, split) for pmid in sorted(complete)]
    if not examples:
        raise DataError(
            f"{folder}: no abstract has all of {', '.join(layer.folder for layer in LAYERS)}; set {setting}"
        )
    return Examples(tuple(examples), {"dropped_without_a_layer": incomplete}, reader.inputs)


def _annotated(reader: _Reader, layer: Layer, place: str) -> list[str]:
    files = (reader.root / "annotations/aggregated" / layer.folder / place).glob("*.ann")
    return [file.name.partition(".")[0] for file in files]


def _example(reader: _Reader, pmid: str, split: str) -> SpanExample:
    tokens = reader.words(f"documents/{pmid}.tokens")
    found: dict[str, list[str]] = {key: [] for key in PICO_KEYS}
    for layer in LAYERS:
        file = f"annotations/aggregated/{layer.folder}/{SPLITS[split]}/{pmid}.AGGREGATED.ann"
        labels = _labels(str(reader.root / file), reader.words(file), layer, len(tokens))
        for label, span in _runs(tokens, labels):
            found[layer.key(label)].append(span)
    place = f"{reader.root}/documents/{pmid}.tokens, row 1"
    if not any(found.values()):
        raise DataError(f"{place}: abstract {pmid} has no spans; remove it or label it")
    spans = {key: tuple(values) for key, values in found.items()}
    return SpanExample(Source(pmid, f"pmid:{pmid}", place, split), " ".join(tokens), spans)


def _labels(file: str, words: list[str], layer: Layer, tokens: int) -> list[int]:
    known = {str(label): label for label in range(layer.labels + 1)}
    for number, word in enumerate(words, start=1):
        if word not in known:
            raise DataError(f"{file}, row {number}: the label is {word!r}, expected 0 to {layer.labels}")
    if len(words) != tokens:
        raise DataError(f"{file}, row {len(words)}: {len(words)} labels for {tokens} tokens")
    return [known[word] for word in words]


def _runs(tokens: list[str], labels: list[int]) -> Iterator[tuple[int, str]]:
    for label, run in groupby(zip(labels, tokens, strict=True), key=lambda pair: pair[0]):
        if label:
            yield label, " ".join(token for _, token in run)
