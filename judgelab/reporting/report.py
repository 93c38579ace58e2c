"""The report of a run: one HTML file that needs no other file, no script and no network."""

import base64
import shlex
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from omegaconf import OmegaConf

from judgelab.config.schema import StudyRoot
from judgelab.reporting.figures import PIXELS_PER_INCH
from judgelab.reporting.tables import Table, format_cell, print_table
from judgelab.run.folder import write_atomic
from judgelab.run.run import plain_config

CSS_PIXELS_PER_INCH = 96
HALF_ROW = 500  # CSS pixels
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class Report:
    """What a reader of a run should see; figures are (caption, PNG file), facts and glossary (name, text).

    `texts` are (heading, text to copy).
    """

    title: str
    question: str
    command: str
    tables: tuple[Table, ...]
    figures: tuple[tuple[str, Path], ...]
    warnings: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    config_yaml: str
    glossary: tuple[tuple[str, str], ...] = ()
    texts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class InlineImage:
    """A figure as the template shows it: its data URI, and its size in CSS pixels."""

    caption: str
    uri: str
    width: int
    height: int

    @property
    def wide(self) -> bool:
        """Whether it takes a row of its own; two others share one."""
        return self.width > HALF_ROW


def write_report(folder: Path, report: Report) -> Path:
    """Write folder/report.html; FileNotFoundError or ValueError names a figure that is missing or no PNG."""
    environment = Environment(
        loader=PackageLoader("judgelab", "reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["cell"] = format_cell
    images = [inline_image(caption, path) for caption, path in report.figures]
    path = folder / "report.html"
    write_atomic(path, environment.get_template("report.html").render(report=report, images=images))
    return path


def inline_image(caption: str, path: Path) -> InlineImage:
    """Read a PNG whole; its size stands in the first 24 bytes."""
    if not path.is_file():
        raise FileNotFoundError(f"{path}: the report's figure {caption!r} does not exist")
    data = path.read_bytes()
    if len(data) < 24 or not data.startswith(PNG_SIGNATURE):
        raise ValueError(f"{path}: the report's figure {caption!r} is not a PNG file")
    width, height = (side * CSS_PIXELS_PER_INCH // PIXELS_PER_INCH for side in struct.unpack(">II", data[16:24]))
    return InlineImage(caption, f"data:image/png;base64,{base64.b64encode(data).decode()}", width, height)


def finish_report(
    folder: Path,
    config: StudyRoot,
    tables: Sequence[Table],
    figures: Sequence[tuple[str, Path]],
    warnings: Sequence[str],
    facts: Sequence[tuple[str, str]],
    glossary: Sequence[tuple[str, str]],
    texts: Sequence[tuple[str, str]] = (),
) -> None:
    """Write report.html and print the first table and the warnings."""
    report = Report(
        title=config.name,
        question=config.question,
        command=shlex.join(["python", Path(sys.argv[0]).name, *sys.argv[1:]]),
        tables=tuple(tables),
        figures=tuple(figures),
        warnings=tuple(warnings),
        facts=tuple(facts),
        config_yaml=OmegaConf.to_yaml(OmegaConf.create(plain_config(config))),
        glossary=tuple(glossary),
        texts=tuple(texts),
    )
    path = write_report(folder, report)
    print_table(tables[0])
    lines = [*(f"warning: {warning}" for warning in warnings), f"report: {path}"]
    sys.stdout.write("\n".join(lines) + "\n")
