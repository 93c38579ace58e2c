"""Tables of results: one value type, one number format, printed to the screen or shown in a report."""

import math
import re
import sys
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

Cell = str | int | float | None

_MEAN_WITH_SD = re.compile(r"-?[\d.,]+ ± [\d.,]+")
UNLIMITED = 100_000
_ZERO_AT_THREE_DECIMALS = 0.0005


@dataclass(frozen=True)
class Table:
    """Rows under named columns; ValueError for a row of another length or a number that is not finite."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def __post_init__(self) -> None:
        for index, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise ValueError(f"table {self.title!r}, row {index}: {len(row)} cells for {len(self.columns)} columns")
            for column, cell in zip(self.columns, row, strict=True):
                _check_cell(cell, f"table {self.title!r}, row {index}, column {column!r}")

    def numeric(self, index: int) -> bool:
        """Whether a column holds figures only, and at least one: numbers, nulls, or texts "mean ± sd"."""
        cells = [row[index] for row in self.rows if row[index] is not None]
        return bool(cells) and all(not isinstance(cell, str) or _MEAN_WITH_SD.fullmatch(cell) for cell in cells)


def _check_cell(cell: Cell, where: str) -> None:
    if isinstance(cell, bool) or not isinstance(cell, str | int | float | None):
        raise ValueError(f"{where}: {cell!r} is a {type(cell).__name__}; expected str, int, float or None")
    if isinstance(cell, float) and not math.isfinite(cell):
        raise ValueError(f"{where}: {cell} is not a finite number; an undefined value is None")


def format_cell(cell: Cell) -> str:
    """A cell as text: 3 decimals, thousands separators, "–" for null.

    A float that 3 decimals would show as zero, and is not zero, is shown in scientific notation.
    """
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int):
        return f"{cell:,}"
    if 0 < abs(cell) < _ZERO_AT_THREE_DECIMALS:
        return f"{cell:.1e}"
    return f"{cell + 0.0:,.3f}"  # adding zero turns -0.0 into 0.0


def print_table(table: Table) -> None:
    """Print a table: fitted to a terminal by wrapping, elsewhere as plain text of whatever width it needs."""
    console = Console(file=sys.stdout, highlight=False)
    drawn = _drawn(table)
    if not console.is_terminal:
        unlimited = console.options.update(max_width=UNLIMITED)
        console.width = console.measure(drawn, options=unlimited).maximum
    with console.capture() as capture:
        console.print(drawn)
    encoding = sys.stdout.encoding or "utf-8"  # a stream that cannot write "±" must not end a finished run
    sys.stdout.write(capture.get().encode(encoding, "replace").decode(encoding))


def _drawn(table: Table) -> RichTable:
    """Cells go in as Text: square brackets in data are not markup."""
    drawn = RichTable(
        title=Text(table.title),
        caption=Text(table.note) if table.note else None,
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
    )
    for index, column in enumerate(table.columns):
        drawn.add_column(Text(column), justify="right" if table.numeric(index) else "left", overflow="fold")
    for row in table.rows:
        drawn.add_row(*(Text(format_cell(cell)) for cell in row))
    return drawn
