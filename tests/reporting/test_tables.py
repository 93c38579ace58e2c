import io
import math
import re
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab.reporting.tables import Table, format_cell, print_table

JUDGES = Table(
    "Test split",
    ("judge", "macro-F1 strict", "n"),
    (("before, [bold]untrained[/bold]", None, 1200), ("after", 0.8125, 1200)),
    note="– means undefined.",
)


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (None, "–"),
        ("[b]text[/b]", "[b]text[/b]"),
        ("", ""),
        (0, "0"),
        (-1234567, "-1,234,567"),
        (0.0, "0.000"),
        (-0.0, "0.000"),
        (0.8126, "0.813"),
        (-0.5, "-0.500"),
        (1234.5, "1,234.500"),
        (0.0005, "0.001"),
        (0.00049, "4.9e-04"),
        (-0.00002, "-2.0e-05"),
        (np.float64(0.25), "0.250"),
    ],
)
def test_format_cell(cell, shown):
    assert format_cell(cell) == shown


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e9, max_value=1e9))
def test_shown_number_reads_back_and_only_zero_is_shown_as_zero(value):
    read = float(format_cell(value).replace(",", ""))
    assert math.isclose(read, value, rel_tol=0.051, abs_tol=0.00051)
    assert (read == 0) == (value == 0)


def test_row_of_wrong_length_is_refused():
    with pytest.raises(ValueError, match="'Scores', row 1: 1 cells for 2 columns"):
        Table("Scores", ("judge", "n"), (("a", 1), ("b",)))


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (math.nan, "nan is not a finite number"),
        (-math.inf, "-inf is not a finite number"),
        (np.float64("nan"), "nan is not a finite number"),
        (True, "True is a bool"),
        (np.int64(3), "is a int64"),
    ],
)
def test_cell_that_is_no_value_is_refused(cell, message):
    with pytest.raises(ValueError, match=f"'Scores', row 0, column 'f1': .*{message}"):
        Table("Scores", ("judge", "f1"), (("a", cell),))


@pytest.mark.parametrize(
    ("cells", "numeric"),
    [
        ((1, None, 0.5), True),
        (("0.812 ± 0.021", "1,204.500 ± 3.000", 0.6, None), True),
        (("0.812 ± 0.021", "missing"), False),
        (("1.0.3 beta", 2), False),
        ((None, None), False),
        ((), False),
    ],
)
def test_numeric_columns(cells, numeric):
    table = Table("t", ("name", "value"), tuple(("x", cell) for cell in cells))
    assert table.numeric(1) is numeric
    assert not table.numeric(0)


def test_print_without_terminal_is_plain_and_keeps_every_row_on_one_line(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    wide = Table("wide", ("judge", "verdict"), (("a" * 150, "b" * 150), ("c", "d")))
    print_table(wide)
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert any("a" * 150 in line and "b" * 150 in line for line in printed.splitlines())


def test_print_shows_title_numbers_note_and_brackets_as_they_are(capsys):
    print_table(JUDGES)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["Test", "split"] in lines
    assert ["before,", "[bold]untrained[/bold]", "–", "1,200"] in lines
    assert ["after", "0.812", "1,200"] in lines
    assert ["–", "means", "undefined."] in lines


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def test_terminal_gets_no_line_longer_than_it_is_wide_and_loses_no_text(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    print_table(Table("t", ("judge", "n"), (("abcdefghij" * 12, 7),)))
    printed = re.sub("\x1b\\[[0-9;]*m", "", stream.getvalue())
    assert max(map(len, printed.splitlines())) <= 40
    assert printed.count("j") == 12 + 1  # and the heading's


def test_stream_that_cannot_write_a_sign_does_not_raise(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    print_table(JUDGES)
    stream.flush()
    assert b"1,200" in stream.buffer.getvalue()


def test_table_without_rows_prints_its_columns(capsys):
    print_table(Table("empty", ("epoch", "loss"), ()))
    assert ["epoch", "loss"] in [line.split() for line in capsys.readouterr().out.splitlines()]
