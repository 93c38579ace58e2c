"""Rows of an input file and the checks that every source makes on them."""

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgelab.errors import DataError


@dataclass(frozen=True)
class Row:
    """One row of a file; `number` counts from 1 (JSON lines: the line; CSV: the row below the header)."""

    file: str
    number: int
    values: Mapping[str, Any]

    @property
    def place(self) -> str:
        """File and row, as messages name them."""
        return f"{self.file}, row {self.number}"

    def value(self, column: str) -> Any:
        """The value in a column; DataError with the nearest existing column where there is none."""
        if column not in self.values:
            nearest = difflib.get_close_matches(column, list(self.values), n=1, cutoff=0.0)
            hint = f"the nearest existing column is {nearest[0]!r}" if nearest else "the row is empty"
            raise DataError(f"{self.place}: no column {column!r}; {hint}")
        return self.values[column]

    def text(self, column: str) -> str:
        """A text that says something: DataError where it is missing, empty, or not Unicode text."""
        value = self.value(column)
        if not isinstance(value, str):
            raise DataError(f"{self.place}: {column!r} is {value!r}, expected text")
        if not value.strip():
            raise DataError(f"{self.place}: empty {column!r}; remove the row or fill it")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            found = value[error.start]
            raise DataError(f"{self.place}: {column!r} holds half a surrogate pair, {found!r}") from error
        return value

    def texts(self, column: str) -> tuple[str, ...]:
        """A list of texts, which may be empty; DataError where it is no list or one of them says nothing."""
        value = self.value(column)
        if not isinstance(value, list):
            raise DataError(f"{self.place}: {column!r} is {value!r}, expected a list of texts")
        # Each text is checked as if it had a column to itself.
        named = {f"{column}[{n}]": text for n, text in enumerate(value)}
        return tuple(Row(self.file, self.number, named).text(name) for name in named)

    def choice(self, column: str, allowed: Mapping[Any, Any]) -> Any:
        """What the source's exact map says of the value; types count, so "1", 1 and true are three values."""
        value = self.value(column)
        for key, meaning in allowed.items():
            if type(key) is type(value) and key == value:
                return meaning
        expected = ", ".join(map(repr, allowed))
        raise DataError(f"{self.place}: {column!r} is {value!r}, outside {{{expected}}}")

    def identifier(self, column: str) -> str | int:
        """An id: a text or an integer."""
        value = self.value(column)
        if type(value) is int:
            return value
        return self.text(column)


@dataclass(frozen=True)
class Table:
    """The rows of one file, and the SHA-256 of the content they were read from."""

    file: str
    sha256: str
    rows: tuple[Row, ...]


def distinct(rows: Sequence[Row], identify: Callable[[Row], str | int]) -> tuple[tuple[Row, ...], int]:
    """Rows without exact repeats, and how many repeats were dropped.

    DataError names both rows where an id comes with other content, or once as text and once as a number.
    """
    first: dict[str, tuple[Row, str | int]] = {}
    for row in rows:
        identity = identify(row)
        earlier, known = first.setdefault(str(identity), (row, identity))
        if type(known) is not type(identity):
            raise DataError(f"{row.place}: id {identity!r} differs only in type from {known!r} in {earlier.place}")
        if earlier.values != row.values:
            raise DataError(f"{row.place}: id {identity!r} is already that of {earlier.place}, with other content")
    return tuple(row for row, _ in first.values()), len(rows) - len(first)
