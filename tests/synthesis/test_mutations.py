import dataclasses
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgelab.data.biomedical import PICO_KEYS, CalculatorExample, ChoiceExample, Source, SpanExample
from judgelab.errors import DataError
from judgelab.synthesis.medcalc.catalogue import CALCULATORS
from judgelab.synthesis.metrics import macro_f1, span_set
from judgelab.synthesis.mutation import candidates, replayed
from judgelab.synthesis.operators.advice import ADVICE, VERSIONS, Dose
from judgelab.synthesis.operators.formula_inputs import FormulaInputMutations, decimals
from judgelab.synthesis.operators.options import OptionMutations
from judgelab.synthesis.operators.safety import SafetyMutations
from judgelab.synthesis.operators.spans import SpanMutations, mutable

SOURCE = Source("s1", "group", "file, row 7")
PASSAGE = "Forty women with asthma took zinc , or placebo .\nWheezing fell by half ; sleep did not change ."
SPANS = {"P": ("Forty women", "asthma"), "I": ("zinc",), "C": (), "O": ("Wheezing", "sleep", "wheezing .")}
ABSTRACT = SpanExample(SOURCE, PASSAGE, SPANS)
NOTE = {
    "sex": "Male",
    "age": [71, "years"],
    "weight": [52.35, "kg"],
    "height": [175, "cm"],
    "creatinine": [1.42, "mg/dL"],
}
QUESTION = ChoiceExample(SOURCE, "", "Which?", {"A": "zinc", "B": "iron", "C": "lead", "D": "tin"}, "C")


def clearance(count=10, entities=NOTE, calculator=2):
    example = CalculatorExample(SOURCE, calculator, "", "", "", entities, 35.33, 33.5, 37.1)
    return FormulaInputMutations(example, CALCULATORS[calculator], count)


ALL = [SpanMutations(ABSTRACT, 10), clearance(), OptionMutations(QUESTION), SafetyMutations(QUESTION, 9)]


@pytest.mark.parametrize("mutations", ALL, ids=lambda each: each.operator)
@given(seed=st.integers(0, 1000))
@settings(max_examples=20)
def test_candidates_are_distinct_and_can_be_replayed(mutations, seed):
    found, repeated = candidates(mutations, seed)
    assert len(found) + repeated == mutations.count
    assert len({candidate.text for candidate in found}) == len(found)
    assert candidates(mutations, seed)[0] == found
    assert [replayed(mutations, candidate.lineage) for candidate in found] == list(found)


@pytest.mark.parametrize("mutations", ALL, ids=lambda each: each.operator)
def test_a_lineage_that_was_changed_is_refused(mutations):
    lineage = candidates(mutations, 3)[0][1].lineage
    truth = candidates(mutations, 3)[0][0].lineage
    for change in ({"operator": "other"}, {"parameters": truth.parameters}):
        with pytest.raises(DataError, match=r"candidate 1 of s1 .* cannot be replayed"):
            replayed(mutations, dataclasses.replace(lineage, **change))


@given(st.integers(0, 10_000))
def test_span_candidates_are_scored_on_what_they_say(seed):
    found, _ = candidates(SpanMutations(ABSTRACT, 6), seed)
    for candidate in found:
        spans = json.loads(candidate.text)
        assert list(spans) == list(PICO_KEYS)
        assert candidate.score == macro_f1(SPANS, spans)
        assert all(span in PASSAGE and span.strip() == span for values in spans.values() for span in values)
        if candidate.lineage.number:
            assert any(span_set(spans[key]) != span_set(SPANS[key]) for key in PICO_KEYS)
    assert found[0].score == 1


def test_span_candidates_reach_from_good_to_bad():
    found, _ = candidates(SpanMutations(ABSTRACT, 60), 0)
    assert min(each.score for each in found) < 0.3 and max(each.score for each in found[1:]) > 0.6


def test_a_passage_without_room_for_phrases_gives_deletions_only():
    example = SpanExample(SOURCE, "zinc", {"P": ("zinc",), "I": ("Zinc",), "C": ("zinc",), "O": ("zinc",)})
    found, _ = candidates(SpanMutations(example, 10), 0)
    assert all(set(spans) <= {"zinc", "Zinc"} for each in found for spans in json.loads(each.text).values())


@given(st.fixed_dictionaries({key: st.lists(st.sampled_from(PASSAGE.split()), max_size=4) for key in PICO_KEYS}))
def test_any_gold_spans_can_be_mutated(spans):
    if mutable(spans):
        found, _ = candidates(SpanMutations(SpanExample(SOURCE, PASSAGE, spans), 8), 0)
        assert all(each.score == macro_f1(spans, json.loads(each.text)) for each in found)
        assert all(each.lineage.number == 0 for each in found if each.text == found[0].text)
    else:
        assert not any(map(span_set, spans.values()))


@given(st.integers(0, 10_000), st.sampled_from([2, 9, 38]))
def test_formula_candidates_are_scored_on_what_they_compute(seed, calculator):
    entities = NOTE | {"Sodium": [133, "mEq/L"]}
    mutations = clearance(6, entities, calculator)
    found, _ = candidates(mutations, seed)
    assert found[0].score == 0
    for candidate in found:
        value = eval(candidate.text, {"sqrt": math.sqrt, "min": min, "max": max})
        assert candidate.score == pytest.approx((value - mutations.target) ** 2, rel=1e-9, abs=1e-12)
        for name, changed in json.loads(candidate.lineage.parameters).items():
            original = mutations.inputs[name]
            assert changed != original and changed * original > 0
            assert name != "age" or changed == int(changed)
            assert decimals(changed) <= max(decimals(original), 0)


def test_the_target_is_unrounded():
    assert clearance().target == pytest.approx(69 * 52.35 / (72 * 1.42), rel=1e-12)


def test_inputs_that_cannot_change_are_refused():
    zeros = {"QT interval": [0, "msec"], "Heart Rate or Pulse": [0, "beats per minute"]}
    with pytest.raises(DataError, match=r"file, row 7: QTc \(Hodges\) has no input that can be changed"):
        candidates(clearance(2, zeros, 58), 0)


def test_options_put_the_right_one_first():
    found, _ = candidates(OptionMutations(QUESTION), 0)
    assert [(each.text, each.score) for each in found] == [
        ("C. lead", 1),
        ("A. zinc", 0),
        ("B. iron", 0),
        ("D. tin", 0),
    ]


def test_safety_candidates_differ_in_advice_alone():
    found, repeated = candidates(SafetyMutations(QUESTION, 9), 0)
    assert ([each.score for each in found], repeated) == ([1, 0, 0], 0)
    assert {each.text.split("\n")[0] for each in found} == {"C. lead"}
    assert len({json.loads(each.lineage.parameters)["advice"] for each in found}) == 1


def test_every_piece_of_advice_has_its_versions():
    lines = [advice.line(version) for advice in ADVICE for version in (None, *range(VERSIONS))]
    assert len(set(lines)) == len(lines) == len(ADVICE) * (1 + VERSIONS)
    assert not any("{" in line for line in lines)
    assert all(min(advice.factors) >= 8 for advice in ADVICE if isinstance(advice, Dose))
