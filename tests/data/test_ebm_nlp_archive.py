import pytest

from judgelab.data.ebm_nlp_archive import load_ebm_nlp_archive
from judgelab.errors import DataError

LAYERS = {
    "starting_spans/participants": "1 1 0 0 0 0 0",
    "hierarchical_labels/interventions": "0 0 0 3 0 7 0",
    "starting_spans/outcomes": "0 0 0 0 0 0 1",
}


def archive(tmp_path, pmid="7", place="train", tokens="Forty women took zinc or placebo wheezing", **layers):
    (tmp_path / "documents").mkdir(exist_ok=True)
    (tmp_path / f"documents/{pmid}.tokens").write_text(tokens.replace(" ", "\n"), encoding="utf-8")
    for layer, labels in (LAYERS | layers).items():
        folder = tmp_path / "annotations/aggregated" / layer / place
        folder.mkdir(parents=True, exist_ok=True)
        if labels is not None:
            text = labels.replace(" ", "\n")
            (folder / f"{pmid}.AGGREGATED.ann").write_text(text, encoding="utf-8")
    return str(tmp_path)


def test_controls_come_from_the_hierarchy_and_splits_from_the_folders(tmp_path):
    archive(tmp_path)
    loaded = load_ebm_nlp_archive(archive(tmp_path, "8", "test/gold"), "path")
    spans = {"P": ("Forty women",), "I": ("zinc",), "C": ("placebo",), "O": ("wheezing",)}
    assert [each.spans for each in loaded.examples] == [spans, spans]
    assert [(each.source.source_id, each.source.official_split) for each in loaded.examples] == [
        ("7", "train"),
        ("8", "test"),
    ]
    assert loaded.examples[0].passage == "Forty women took zinc or placebo wheezing"
    assert len(loaded.inputs) == 8


def test_other_labels_side_by_side_are_spans_of_their_own(tmp_path):
    labels = {"hierarchical_labels/interventions": "0 0 0 3 5 7 7"}
    (example,) = load_ebm_nlp_archive(archive(tmp_path, **labels), "path").examples
    assert (example.spans["I"], example.spans["C"]) == (("zinc", "or"), ("placebo wheezing",))


def test_an_abstract_without_a_layer_is_counted(tmp_path):
    archive(tmp_path)
    loaded = load_ebm_nlp_archive(archive(tmp_path, "9", **{"starting_spans/outcomes": None}), "path")
    assert (len(loaded.examples), loaded.counts) == (1, {"dropped_without_a_layer": 1})


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ({"starting_spans/outcomes": "0 0 0 0 0 0 2"}, "outcomes.*row 7: the label is '2', expected 0 to 1"),
        ({"starting_spans/outcomes": "0 0 1"}, "row 3: 3 labels for 7 tokens"),
        (dict.fromkeys(LAYERS, "0 0 0 0 0 0 0"), "documents/7.tokens, row 1: abstract 7 has no spans"),
        (dict.fromkeys(LAYERS), "no abstract has all of"),
    ],
)
def test_bad_annotations_are_refused(tmp_path, layers, message):
    with pytest.raises(DataError, match=message):
        load_ebm_nlp_archive(archive(tmp_path, **layers), "path")
