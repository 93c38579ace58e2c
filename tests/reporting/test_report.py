import base64
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from judgelab.reporting.figures import confusion_figure, loss_figure, save_figure
from judgelab.reporting.report import Report, write_report
from judgelab.reporting.tables import Table

HOSTILE = """<script>alert("x")</script>&amp;'{{ 7 * 7 }}"""
VOID = {"meta", "img", "br", "hr", "link", "input"}


class Page(HTMLParser):
    """Elements, their attributes and text of a page; fails where a tag is closed that is not open."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.text, self.open = [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        assert len(dict(attributes)) == len(attributes)
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.text.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture
def report(tmp_path):
    loss = loss_figure([{"step": step, "epoch": 1, "train/loss": 1 / step} for step in range(1, 9)])
    matrix = confusion_figure([[3, 1, 0], [0, 4, 1]], ("0", "1"), ("0", "1", "unparsed"), "after")
    return Report(
        title="cpa_criminality",
        question="Is the trained judge better?",
        command="python train.py experiment=cpa_criminality 'model.name=a b'",
        tables=(
            Table(
                "Test split",
                ("judge", "macro-F1 strict", "n"),
                (("before", None, 1200), ("after", "0.812 ± 0.021", 1200)),
                note="– means undefined.",
            ),
            Table("Nothing", ("epoch", "loss"), ()),
        ),
        figures=(
            ("Loss by step.", save_figure(loss, tmp_path, "loss")),
            ("Labels against verdicts.", save_figure(matrix, tmp_path, "confusion")),
        ),
        warnings=("3 rows were cut.",),
        facts=(("model", "tiny"), ("n", "48")),
        config_yaml="seed: 42\ntrainer:\n  epochs: 4\n",
        glossary=(("parse rate", "Share of replies with a verdict."),),
    )


def page(folder, report):
    path = write_report(folder, report)
    assert path == folder / "report.html"
    return Page(path.read_text(encoding="utf-8"))


def test_report_is_well_formed_and_shows_every_part(tmp_path, report):
    text = "".join(page(tmp_path, report).text)
    parts = (
        *(
            report.title,
            report.question,
            report.command,
            report.config_yaml,
            "3 rows were cut.",
            "tiny",
            "48",
        ),
        *("Test split", "0.812 ± 0.021", "1,200", "–", "– means undefined.", "no rows"),
        *("Loss by step.", "Labels against verdicts.", "parse rate", "Share of replies with a verdict."),
    )
    assert [part for part in parts if part not in text] == []


def test_report_needs_nothing_else(tmp_path, report):
    html = write_report(tmp_path, report).read_text(encoding="utf-8")
    parsed = Page(html)
    loading = {"src", "href", "srcset", "data", "poster", "action"}
    loaded = [value for _, attributes in parsed.elements for name, value in attributes.items() if name in loading]
    images = [path.read_bytes() for _, path in report.figures]
    assert [base64.b64decode(value.removeprefix("data:image/png;base64,")) for value in loaded] == images
    assert not {"script", "link", "iframe", "object", "embed"} & {tag for tag, _ in parsed.elements}
    assert "url(" not in html
    assert "@import" not in html


def test_report_is_readable_by_a_screen_reader(tmp_path, report):
    parsed = page(tmp_path, report)
    assert parsed.all("html") == [{"lang": "en"}]
    assert [image["alt"] for image in parsed.all("img")] == [caption for caption, _ in report.figures]
    assert len(parsed.all("caption")) == len(report.tables)
    assert [heading["scope"] for heading in parsed.all("th")] == [*["col"] * 3, *["row"] * 2, *["col"] * 2]
    ids = [attributes["id"] for _, attributes in parsed.elements if "id" in attributes]
    named = [attributes["aria-labelledby"] for _, attributes in parsed.elements if "aria-labelledby" in attributes]
    assert sorted(named) == sorted(set(ids))


def test_numeric_columns_are_marked(tmp_path, report):
    parsed = page(tmp_path, report)
    assert [heading.get("class") for heading in parsed.all("th")[:3]] == [None, "number", "number"]
    assert [cell.get("class") for cell in parsed.all("td")[:4]] == ["number"] * 4


def test_config_is_collapsed(tmp_path, report):
    assert page(tmp_path, report).all("details") == [{}]


def test_markup_in_data_stays_text(tmp_path, report):
    hostile = replace(
        report,
        title=HOSTILE,
        question=HOSTILE,
        command=HOSTILE,
        tables=(Table(HOSTILE, (HOSTILE, "n"), ((HOSTILE, 1),), note=HOSTILE),),
        figures=((HOSTILE, report.figures[0][1]),),
        warnings=(HOSTILE,),
        facts=((HOSTILE, HOSTILE),),
        config_yaml=HOSTILE,
        glossary=((HOSTILE, HOSTILE),),
    )
    parsed = page(tmp_path, hostile)
    assert parsed.all("script") == []
    assert parsed.all("img")[0]["alt"] == HOSTILE
    assert "".join(parsed.text).count(HOSTILE) == 15  # every field once; the title also in the browser's tab


def test_parts_without_content_are_absent(tmp_path, report):
    bare = replace(report, tables=(), figures=(), warnings=(), facts=(), glossary=())
    parsed = page(tmp_path, bare)
    assert {tag for tag, _ in parsed.elements} & {"aside", "table", "figure", "dl"} == set()


def test_missing_figure_is_named_and_the_old_report_stays(tmp_path, report):
    before = write_report(tmp_path, report).read_bytes()
    absent = tmp_path / "figures" / "absent.png"
    with pytest.raises(FileNotFoundError, match=r"absent\.png.*'Loss by step\.'"):
        write_report(tmp_path, replace(report, figures=(("Loss by step.", absent),)))
    assert (tmp_path / "report.html").read_bytes() == before


def test_figure_that_is_no_png_is_named(tmp_path, report):
    (tmp_path / "loss.png").write_text("<svg></svg>")
    with pytest.raises(ValueError, match=r"loss\.png.*is not a PNG"):
        write_report(tmp_path, replace(report, figures=(("Loss", tmp_path / "loss.png"),)))


def test_equal_reports_are_equal_bytes(tmp_path, report):
    (tmp_path / "again").mkdir()
    first, second = write_report(tmp_path, report), write_report(tmp_path / "again", report)
    assert first.read_bytes() == second.read_bytes()


def test_reporting_needs_no_torch():
    code = "import sys, judgelab.reporting.report as _; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
