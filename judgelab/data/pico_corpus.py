"""PICO-Corpus: breast-cancer abstracts with BRAT annotations, controls included."""

import hashlib
from pathlib import Path

from judgelab.data.biomedical import PICO_KEYS, Examples, Source, SpanExample
from judgelab.data.reading import decoded, read_bytes
from judgelab.errors import DataError

PARTICIPANTS = ["total-participants", "intervention-participants", "control-participants"]
PARTICIPANTS += ["age", "eligibility", "ethinicity", "condition", "location"]  # as the corpus spells them
KEY_OF_LABEL = {
    **dict.fromkeys(PARTICIPANTS, "P"),
    "intervention": "I",
    "control": "C",
    "outcome": "O",
    "outcome-Measure": "O",
}
# Results of an arm (iv-) or of the control (cv-) are numbers, not elements of the question.
RESULTS = {
    f"{arm}-{kind}"
    for arm in ("iv", "cv")
    for kind in ["bin-abs", "bin-percent", "cont-mean", "cont-median", "cont-sd", "cont-q1", "cont-q3"]
}


def load_pico_corpus(folder: str, setting: str) -> Examples[SpanExample]:
    """The abstracts `<PMID>.txt` of a folder with their spans in `<PMID>.ann`; a row is a line of the latter.

    P joins the participant labels of the corpus, O its outcomes and outcome measures; numeric results are counted and
    unused, like BRAT lines that mark no text. DataError names file and row of a span that is not in the text, an
    unknown label, and an abstract without any span.
    """
    names = sorted(path.name for path in Path(folder).expanduser().glob("*.ann"))
    if not names:
        raise DataError(f"{folder}: no .ann file; set {setting}")
    counts = {"result_values_unused": 0, "annotations_without_text": 0}
    inputs: dict[str, str] = {}
    examples = []
    for name in names:
        contents = {}
        for file in (f"{folder}/{name.removesuffix('.ann')}.txt", f"{folder}/{name}"):
            contents[file] = read_bytes(Path(file), setting)
            inputs[file] = hashlib.sha256(contents[file]).hexdigest()
        examples.append(_example(contents, name.removesuffix(".ann"), counts))
    return Examples(tuple(examples), counts, inputs)


def _example(contents: dict[str, bytes], pmid: str, counts: dict[str, int]) -> SpanExample:
    (_, text), (file, annotations) = ((name, decoded(name, content)) for name, content in contents.items())
    found: dict[str, list[str]] = {key: [] for key in PICO_KEYS}
    for number, line in enumerate(annotations.split("\n"), start=1):
        place = f"{file}, row {number}"
        if line.startswith("T"):
            label, span = _annotation(place, line.rstrip("\r"), text)
            if label in KEY_OF_LABEL:
                found[KEY_OF_LABEL[label]].append(span)
            else:
                counts["result_values_unused"] += 1
        elif line.strip():
            counts["annotations_without_text"] += 1
    if not any(found.values()):
        raise DataError(f"{file}, row 1: abstract {pmid} has no spans; remove it or label it")
    spans = {key: tuple(values) for key, values in found.items()}
    return SpanExample(Source(pmid, f"pmid:{pmid}", f"{file}, row 1"), text, spans)


def _annotation(place: str, line: str, text: str) -> tuple[str, str]:
    try:
        _, mark, span = line.split("\t")
        label, _, offsets = mark.partition(" ")
        pieces = [tuple(map(int, piece.split())) for piece in offsets.split(";")]
        covered = " ".join(text[start:end] for start, end in pieces)
    except ValueError as error:
        raise DataError(f"{place}: {line!r} is no BRAT span (id, label with offsets, text; tabs between)") from error
    if label not in KEY_OF_LABEL and label not in RESULTS:
        raise DataError(f"{place}: unknown label {label!r}, expected one of {', '.join([*KEY_OF_LABEL, *RESULTS])}")
    if not span.strip() or covered != span:
        raise DataError(f"{place}: the span {span!r} is not the text at its offsets, {covered!r}")
    return label, span
