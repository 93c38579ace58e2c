from collections import Counter
from pathlib import Path

import pytest

from judgelab.data.pico_corpus import KEY_OF_LABEL, load_pico_corpus
from judgelab.errors import DataError

PUBLIC = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "pico_corpus" / "brat"
needs_public = pytest.mark.skipif(not PUBLIC.is_dir(), reason="no shared/data/pico_corpus beside the repository")


def folder(tmp_path, annotations, text="Women took zinc or placebo."):
    (tmp_path / "5.txt").write_text(text, encoding="utf-8")
    (tmp_path / "5.ann").write_text(annotations, encoding="utf-8")
    return str(tmp_path)


def test_labels_map_to_keys_and_results_are_counted(tmp_path):
    annotations = (
        "T1\teligibility 0 5\tWomen\nT2\tintervention 11 15\tzinc\nT3\tcontrol 19 26\tplacebo\n"
        "T4\tiv-bin-abs 6 10\ttook\n#1\tAnnotatorNotes T1\tsure\n"
    )
    loaded = load_pico_corpus(folder(tmp_path, annotations), "path")
    assert loaded.examples[0].spans == {"P": ("Women",), "I": ("zinc",), "C": ("placebo",), "O": ()}
    assert loaded.counts == {"result_values_unused": 1, "annotations_without_text": 1}


def test_a_span_in_pieces_is_joined(tmp_path):
    (example,) = load_pico_corpus(folder(tmp_path, "T1\tintervention 6 10;19 26\ttook placebo\n"), "path").examples
    assert example.spans["I"] == ("took placebo",)


@needs_public
def test_public_spans_are_all_there():
    loaded = load_pico_corpus(str(PUBLIC), "path")
    labels = Counter(
        line.split("\t")[1].split()[0]
        for path in PUBLIC.glob("*.ann")
        for line in path.read_text(encoding="utf-8").splitlines()
    )
    assert len(loaded.examples) == len(list(PUBLIC.glob("*.txt")))
    for key in "PICO":
        expected = sum(n for label, n in labels.items() if KEY_OF_LABEL.get(label) == key)
        assert sum(len(example.spans[key]) for example in loaded.examples) == expected
    assert loaded.counts["result_values_unused"] == sum(n for label, n in labels.items() if label not in KEY_OF_LABEL)


@pytest.mark.parametrize(
    ("annotations", "message"),
    [
        ("T1\tcontrol 0 4\tWomen\n", r"5\.ann, row 1: the span 'Women' is not the text at its offsets, 'Wome'"),
        ("\nT1\tdrug 0 5\tWomen\n", r"5\.ann, row 2: unknown label 'drug'"),
        ("T1 control 0 5 Women\n", "row 1: .* is no BRAT span"),
        ("T1\tiv-bin-abs 6 10\ttook\n", "abstract 5 has no spans"),
    ],
)
def test_bad_annotations_are_refused_with_their_row(tmp_path, annotations, message):
    with pytest.raises(DataError, match=message):
        load_pico_corpus(folder(tmp_path, annotations), "path")


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"no \.ann file; set data"):
        load_pico_corpus(str(tmp_path), "data.path")
