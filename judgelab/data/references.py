"""Reference ratings as files hold them: a number, or a stated "none"."""

import math
import re
import sys
from typing import Any

from judgelab.errors import DataError

NO_REFERENCE = "N/A"
DECIMAL = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def as_reference(value: Any, column: str, place: str) -> float | None:
    """The rating in a cell; NaN, null and "N/A" say that there is none.

    A text is read when it is a plain decimal number. DataError for everything else: infinity, "7,5", "8/10", true.
    """
    if value is None or value == NO_REFERENCE:
        return None
    if isinstance(value, str) and DECIMAL.fullmatch(value):
        value = float(value)
    if isinstance(value, float) and math.isnan(value):
        return None
    if type(value) in (int, float) and abs(value) <= sys.float_info.max:
        return float(value)
    raise DataError(f"{place}: {column!r} is {value!r}, expected a finite number, null or {NO_REFERENCE!r}")
