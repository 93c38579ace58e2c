import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab.data.references import as_reference
from judgelab.errors import DataError


@pytest.mark.parametrize("none", [None, float("nan"), "N/A"], ids=repr)
def test_null_nan_and_the_text_n_a_say_that_there_is_no_reference(none):
    assert as_reference(none, "score", "f, row 1") is None


@pytest.mark.parametrize(
    ("value", "expected"), [(7, 7.0), (8.5, 8.5), ("8.5", 8.5), ("-1", -1.0), ("10", 10.0), (0, 0.0)]
)
def test_numbers_and_plain_decimal_texts_are_read(value, expected):
    read = as_reference(value, "score", "f, row 1")
    assert (read, type(read)) == (expected, float)


REFUSED = [float("inf"), -float("inf"), "inf", "7,5", "8/10", "", " 8", "1e3", "1_0", "٧", "nan", "n/a", "9" * 400]
REFUSED += [True, 10**400, [7], {"score": 7}]


@pytest.mark.parametrize("value", REFUSED, ids=lambda value: repr(value)[:12])
def test_everything_else_is_refused_with_place_and_column(value):
    with pytest.raises(DataError, match=r"f.jsonl, row 3: 'score' is .*, expected a finite number, null or 'N/A'"):
        as_reference(value, "score", "f.jsonl, row 3")


@given(st.floats(allow_nan=True, allow_infinity=True) | st.integers() | st.text(max_size=6) | st.none() | st.booleans())
def test_what_comes_out_is_finite_or_nothing(value):
    try:
        read = as_reference(value, "score", "f, row 1")
    except DataError:
        return
    assert read is None or (isinstance(read, float) and math.isfinite(read) and read == float(value))
