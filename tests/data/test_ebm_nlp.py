import re
from pathlib import Path

import pytest

from judgelab.data.ebm_nlp import load_ebm_nlp
from judgelab.errors import DataError

PUBLIC = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "ebm_nlp"
needs_public = pytest.mark.skipif(not PUBLIC.is_dir(), reason="no shared/data/ebm_nlp beside the repository")


def write(tmp_path, text, name="test.txt"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_runs_end_at_sentences_and_at_begin_labels(tmp_path):
    lines = ["-DOCSTART- (7)", "", "Old NN O I-PAR", "men NN O I-PAR", "", "men NN O I-PAR", "took NN O O"]
    lines += ["aspirin NN O B-INT", "zinc NN O B-INT", "salts NN O I-INT", "pain NN O I-OUT"]
    (example,) = load_ebm_nlp((write(tmp_path, "\n".join(lines)),), "path").examples
    assert example.spans == {"P": ("Old men", "men"), "I": ("aspirin", "zinc salts"), "C": (), "O": ("pain",)}
    assert example.passage == "Old men\nmen took aspirin zinc salts pain"
    assert (example.source.source_id, example.source.official_split) == ("7", "test")


@needs_public
def test_public_files_lose_no_abstract_and_no_labelled_token():
    paths = tuple(str(PUBLIC / name) for name in ("dev.txt", "test.txt"))
    examples = load_ebm_nlp(paths, "path").examples
    text = "".join(Path(path).read_text(encoding="utf-8") for path in paths)
    assert [example.source.source_id for example in examples] == re.findall(r"-DOCSTART- \((\d+)\)", text)
    for key, name in {"P": "PAR", "I": "INT", "O": "OUT"}.items():
        tokens = sum(len(span.split()) for example in examples for span in example.spans[key])
        assert tokens == len(re.findall(rf" I-{name}$", text, re.MULTILINE))
    assert all(span in example.passage for example in examples for spans in example.spans.values() for span in spans)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("-DOCSTART- (7)\n\nmen NN O O\n", "row 1: abstract 7 has no spans"),
        ("-DOCSTART- (7)\n\nmen NN O I-AGE\n", "row 3: the label is 'I-AGE'"),
        ("men NN O I-PAR\n", "row 1: a token before the first"),
        ("-DOCSTART- (7)\nx N O I-PAR\n-DOCSTART- (7)\ny N O I-PAR\n", "row 3: abstract 7 is already .*row 1"),
        ("\n", "no -DOCSTART- line"),
    ],
)
def test_bad_files_are_refused_with_their_row(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        load_ebm_nlp((write(tmp_path, text),), "path")
