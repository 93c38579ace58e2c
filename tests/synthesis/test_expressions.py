import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab.synthesis.medcalc.catalogue import CALCULATORS
from judgelab.synthesis.medcalc.expressions import evaluate, names, substituted

NAMESPACE = {"sqrt": math.sqrt, "min": min, "max": max}
WORDS = {"sex": st.sampled_from(["male", "female"]), "race": st.sampled_from(["black", "other"])}


def inputs(formula):
    numbers = st.floats(0.5, 200).map(lambda value: round(value, 5))
    return st.fixed_dictionaries({name: WORDS.get(name, numbers) for name in names(formula)})


@given(st.data(), st.sampled_from(list(CALCULATORS.values())))
def test_formulas_give_what_python_gives_before_and_after_substitution(data, calculator):
    values = data.draw(inputs(calculator.formula))
    try:
        expected = eval(calculator.formula, dict(NAMESPACE), dict(values))
    except ZeroDivisionError:
        with pytest.raises(ArithmeticError):
            evaluate(calculator.formula, values)
        return
    assert evaluate(calculator.formula, values) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    text = substituted(calculator.formula, values)
    assert "if" not in text.split() and not set(names(text))
    assert eval(text, dict(NAMESPACE)) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert evaluate(text, {}) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_negative_value_keeps_its_place_under_a_power():
    assert eval(substituted("x ** 2", {"x": -3.0})) == 9 == evaluate("x ** 2", {"x": -3.0})


@pytest.mark.parametrize("formula", ["1 / x", "sqrt(0 - 1 - x)", "(0 - 2) ** 0.5", "10 ** 400", "9 ** 9 ** 9"])
def test_undefined_values_are_arithmetic_errors(formula):
    with pytest.raises(ArithmeticError):
        evaluate(formula, {"x": 0.0})


@pytest.mark.parametrize("formula", ["__import__('os')", "x.real", "[1][0]", "x if x else 1", "'a' + 1", "y", "True"])
def test_anything_but_a_formula_is_refused(formula):
    with pytest.raises(SyntaxError):
        evaluate(formula, {"x": 1.0})
