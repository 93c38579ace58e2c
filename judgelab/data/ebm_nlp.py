"""EBM-NLP: abstracts whose tokens are labelled as participants, interventions and outcomes, in CoNLL form."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from judgelab.data.biomedical import PICO_KEYS, Examples, Source, SpanExample
from judgelab.data.reading import decoded, read_bytes
from judgelab.errors import DataError

KEYS = {"PAR": "P", "INT": "I", "OUT": "O"}
DOCUMENT = "-DOCSTART-"


@dataclass
class _Abstract:
    pmid: str
    line: int
    sentences: list[list[tuple[str, str]]] = field(default_factory=lambda: [[]])


def load_ebm_nlp(paths: tuple[str, ...], setting: str) -> Examples[SpanExample]:
    """The abstracts of one file per split, named by it (`test.txt`); a row is a line of the file.

    A span is a maximal run of one class inside a sentence, or begins where a label says B-; its text is its tokens
    joined by a space, and a sentence is a line of the passage. There is no comparator class, so C is empty. DataError
    names file and row of an unknown label, a repeated abstract, and an abstract without any span.
    """
    contents = {path: read_bytes(Path(path), setting) for path in paths}
    examples: dict[str, SpanExample] = {}
    for path, content in contents.items():
        for abstract in _abstracts(path, decoded(path, content).split("\n")):
            example = _example(path, abstract)
            earlier = examples.setdefault(abstract.pmid, example)
            if earlier is not example:
                raise DataError(f"{example.source.place}: abstract {abstract.pmid} is already {earlier.source.place}")
    hashes = {path: hashlib.sha256(content).hexdigest() for path, content in contents.items()}
    return Examples(tuple(examples.values()), {}, hashes)


def _abstracts(path: str, lines: Iterable[str]) -> Iterator[_Abstract]:
    abstract: _Abstract | None = None
    for number, line in enumerate(lines, start=1):
        columns = line.split()
        if columns and columns[0] == DOCUMENT:
            if abstract:
                yield abstract
            abstract = _Abstract(columns[-1].strip("()"), number)
        elif abstract and columns:
            abstract.sentences[-1].append(_token(f"{path}, row {number}", columns))
        elif abstract:
            abstract.sentences.append([])
        elif columns:
            raise DataError(f"{path}, row {number}: a token before the first {DOCUMENT} line")
    if abstract is None:
        raise DataError(f"{path}: no {DOCUMENT} line")
    yield abstract


def _token(place: str, columns: list[str]) -> tuple[str, str]:
    token, label = columns[0], columns[-1]
    known = {"O", *(f"{prefix}-{name}" for prefix in "BI" for name in KEYS)}
    if len(columns) < 2 or label not in known:
        raise DataError(f"{place}: the label is {label!r}, expected one of {', '.join(sorted(known))}")
    return token, label


def _example(path: str, abstract: _Abstract) -> SpanExample:
    sentences = [sentence for sentence in abstract.sentences if sentence]
    place = f"{path}, row {abstract.line}"
    found: dict[str, list[str]] = {key: [] for key in PICO_KEYS}
    for sentence in sentences:
        for key, span in _spans(sentence):
            found[key].append(span)
    if not any(found.values()):
        raise DataError(f"{place}: abstract {abstract.pmid} has no spans; remove it or label it")
    return SpanExample(
        Source(abstract.pmid, f"pmid:{abstract.pmid}", place, Path(path).stem),
        "\n".join(" ".join(token for token, _ in sentence) for sentence in sentences),
        {key: tuple(spans) for key, spans in found.items()},
    )


def _spans(sentence: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    runs: list[tuple[str, list[str]]] = []
    previous = "O"
    for token, label in sentence:
        name = label.partition("-")[2]
        if name and (label.startswith("B") or name != previous):
            runs.append((KEYS[name], []))
        if name:
            runs[-1][1].append(token)
        previous = name or "O"
    return ((key, " ".join(tokens)) for key, tokens in runs)
