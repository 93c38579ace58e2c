import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab.synthesis.metrics import correctness, macro_f1, normalised_span, span_f1, squared_error

spans = st.lists(st.text(alphabet="aB, .é\n", max_size=4), max_size=5)


def key(shared, missed, wrong):
    """Gold and found spans with this many true positives, false negatives and false positives."""
    common = [f"s{n}" for n in range(shared)]
    return common + [f"m{n}" for n in range(missed)], common + [f"w{n}" for n in range(wrong)]


def test_the_papers_pico_example():
    # Seed 004, appendix A.1: TP, FN and FP per key of candidates A and B, which differ in I.
    shared = {"P": key(1, 6, 2), "C": key(0, 0, 3), "O": key(8, 3, 6)}
    scores = []
    for intervention in (key(1, 6, 2), key(0, 7, 3)):
        both = shared | {"I": intervention}
        scores.append(macro_f1({k: both[k][0] for k in "PICO"}, {k: both[k][1] for k in "PICO"}))
    assert [round(score, 2) for score in scores] == [0.26, 0.21]
    assert scores[0] - scores[1] == pytest.approx(0.05, abs=1e-12)


@given(spans, spans, st.sampled_from([0.0, 1.0]))
def test_f1_is_the_harmonic_mean_of_precision_and_recall(gold, found, both_empty):
    def plain(texts):
        kept = ("".join(c for c in text.lower() if c not in string.punctuation) for text in texts)
        return {" ".join(text.split()) for text in kept} - {""}

    expected, candidate = plain(gold), plain(found)
    hits = len(expected & candidate)
    if not expected and not candidate:
        assert span_f1(gold, found, both_empty) == both_empty
    elif not hits:
        assert span_f1(gold, found, both_empty) == 0
    else:
        precision, recall = hits / len(candidate), hits / len(expected)
        assert span_f1(gold, found, both_empty) == pytest.approx(2 * precision * recall / (precision + recall))


def test_case_punctuation_and_repetition_do_not_count():
    assert span_f1(["Women, aged 40-50"], ["women aged 4050.", "WOMEN  aged 40-50"], 1.0) == 1
    assert normalised_span(" ( Aspirin ) ") == "aspirin"
    assert normalised_span("β-blocker’s") == "βblocker’s"  # only ASCII punctuation is deleted


def test_a_span_of_punctuation_is_no_span():
    assert span_f1(["."], [], 0.0) == 0
    assert span_f1(["."], [], 1.0) == 1


def test_squared_error_and_correctness():
    assert squared_error(3.0, 5.0) == squared_error(5.0, 3.0) == 4
    assert (correctness("A", "A"), correctness("B", "A")) == (1, 0)
