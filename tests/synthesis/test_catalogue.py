import csv
from pathlib import Path

import pytest

from judgelab.data.biomedical import CalculatorExample, Source
from judgelab.data.medcalc_bench import load_medcalc_bench
from judgelab.errors import DataError
from judgelab.synthesis.medcalc.catalogue import CALCULATORS, accepted, agreement, recomputed
from judgelab.synthesis.medcalc.expressions import evaluate, names

PUBLIC = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "medcalc_bench"
needs_public = pytest.mark.skipif(not PUBLIC.is_dir(), reason="no shared/data/medcalc_bench beside the repository")
# Rows of test_data.csv whose published answer the formula does not give. The file's own explanations show why: 11
# takes A = 0.7 for a man, 40 rounds 0.0801 g of calcium to 0.08; the corrected labels have our values for both. 158
# rounds millimoles to a digit before it converts them.
DISAGREEING = {11, 40, 158}


def example(calculator_id, entities):
    return CalculatorExample(Source("1", "note", "f.csv, row 3"), calculator_id, "", "", "", entities, 0.0, 0.0, 0.0)


def test_the_worked_examples_of_the_paper():
    values = {"age": 71.0, "sex": "male", "adjusted_weight": 52.7, "creatinine": 1.42}
    formula = CALCULATORS[2].formula
    higher, lower = evaluate(formula, values), evaluate(formula, values | {"adjusted_weight": 52.35})
    assert (round(higher, 3), round(lower, 3)) == (35.566, 35.330)  # algorithms.md 10.4
    assert round((higher - 35.33) ** 2, 4) == 0.0558


@pytest.mark.parametrize(
    ("number", "entities", "expected"),
    [
        # By hand: BMI 17.3, 20.2 and 31.2, so the weight itself, the lower one (ideal is 70.46), the adjusted one.
        (2, {"weight": [53, "kg"], "height": [175, "cm"], "age": [40, "years"]}, 100 * 53 / 72),
        (2, {"weight": [62, "kg"], "height": [175, "cm"], "age": [40, "years"]}, 100 * 62 / 72),
        (2, {"weight": [90, "kg"], "height": [66.9291, "in"], "age": [40, "years"]}, 100 * 75.56215 / 72),
        (22, {"weight": [8000, "g"]}, 32),
        (22, {"weight": [15, "kg"]}, 50),
        (22, {"weight": [30, "kg"]}, 70),
        (39, {"Sodium": [140, "mmol/L"], "Chloride": [100, "mEq/L"], "Bicarbonate": [24, "mEq/L"]}, 16),
        (10, {"height": [5, "ft", 6, "in"]}, 63.8),
        (38, {"age": [70, "years"], "weight": [100, "kg"], "Sodium": [154, "mEq/L"]}, 5),
        (58, {"QT interval": [400, "msec"], "heart rate or pulse": [100, "beats per minute"]}, 470),
    ],
)
def test_values_by_hand(number, entities, expected):
    given = {"sex": "Male", "creatinine": [1, "mg/dL"], **entities}
    assert recomputed(example(number, given)) == pytest.approx(expected, rel=1e-4)


def test_every_calculator_describes_its_inputs():
    assert len(CALCULATORS) >= 20
    for calculator in CALCULATORS.values():
        assert [name for name, _, _ in calculator.described()] == names(calculator.formula)
        assert all(definition for _, definition, _ in calculator.described())


@needs_public
@pytest.mark.parametrize(("name", "disagreeing"), [("test_data.csv", DISAGREEING), ("one_shot_data.csv", set())])
def test_answers_are_inside_the_limits_of_the_benchmark(name, disagreeing):
    examples = load_medcalc_bench(str(PUBLIC / name), "path").examples
    known = [each for each in examples if each.calculator_id in CALCULATORS]
    outside = {int(each.source.place.split()[-1]) for each in known if not accepted(each, recomputed(each))}
    assert outside == disagreeing
    figures = agreement(examples)
    assert sum(each.agreeing for each in figures.values()) == len(known) - len(disagreeing)


@needs_public
def test_the_corrected_labels_side_with_the_formula():
    with (PUBLIC / "corrected_labels.csv").open(encoding="utf-8", newline="") as file:
        corrected = {row["Unique ID"]: float(row["Ground Truth Answer"]) for row in csv.DictReader(file)
                     if row["Calculator Name"].startswith(("CKD-EPI", "Calcium"))}  # fmt: skip
    examples = load_medcalc_bench(str(PUBLIC / "test_data.csv"), "path").examples
    for each in examples:
        if each.source.place.endswith((" 11", " 40")) and each.calculator_id in (3, 7):
            assert recomputed(each) == pytest.approx(corrected[each.source.source_id], abs=0.006)


@pytest.mark.parametrize(
    ("entities", "message"),
    [
        ({"weight": [70, "kg"]}, r"f\.csv, row 3: Body Mass Index needs 'height', which 'Relevant Entities' lacks"),
        ({"weight": [70, "stone"], "height": [1.7, "m"]}, "row 3: 'weight' of Body Mass Index is .* in kg, g, lb"),
        ({"weight": 70, "height": [1.7, "m"]}, r"row 3: 'weight' .* expected \[number, unit\]"),
    ],
)
def test_inputs_that_cannot_be_used_are_refused(entities, message):
    with pytest.raises(DataError, match=message):
        recomputed(example(6, entities))


def test_a_word_outside_the_calculators_words_is_refused():
    with pytest.raises(DataError, match="'sex' of Ideal Body Weight is 'unknown', expected one of male, female"):
        recomputed(example(10, {"sex": "unknown", "height": [170, "cm"]}))
