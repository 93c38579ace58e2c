"""What the format diagnostics show: tables that hold, figures that draw, and a methods box that says what is asked."""

import random
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from judgelab.config.schema import FormatConfig, FormatsRoot
from judgelab.evaluation.format_diagnostics import Slots
from judgelab.evaluation.format_study import FormatStudy, study_formats
from judgelab.evaluation.scoring_runs import ScoringRun
from judgelab.evaluation.slots import Estimate, SlotModel, SlotShares
from judgelab.reporting import formats_tables as tables
from judgelab.reporting.figures import save_figure
from judgelab.reporting.formats_figures import heat_map, slot_figure, tie_figure
from judgelab.reporting.methods_box import methods_box
from judgelab.scoring.schedule import Judgment


def leaning(judgment: Judgment, fmt: FormatConfig, draw: random.Random) -> str | None:
    """Mostly the first verdict of the scale that favours slot A, now and then anything, now and then nothing."""
    if draw.random() < 0.1:
        return None
    best = max(fmt.verdicts, key=lambda verdict: fmt.verdicts[verdict])
    return best if draw.random() < 0.6 else draw.choice(list(fmt.verdicts))


@pytest.fixture(scope="module")
def found(asked: Callable[..., ScoringRun]) -> tuple[list[ScoringRun], FormatStudy]:
    runs = [asked("one", leaning), asked("two", leaning), asked("three", leaning)]
    return runs, study_formats(runs, FormatsRoot(name="t", question="t", scores=[]))


def test_every_table_has_its_rows(found: tuple[list[ScoringRun], FormatStudy]) -> None:
    _, study = found
    main = tables.main_table(study.cells)
    assert [row[:2] for row in main.rows[:7]] == [
        ("one", name)
        for name in (
            *("binary", "likert5", "numeric100", "anchored", "anchored (both orders)"),
            *("tournament", "tournament (both orders)"),
        )
    ]
    assert "Choosing blindly, top-1 is" in main.note
    assert len(tables.level_table(study.cells).rows) == len(tables.agreement_table(study.cells).rows) == 21
    assert len(tables.slot_table(study.slots).rows) == 6
    assert [row[2] for row in tables.slot_share_table(study.slots).rows[:3]] == [
        "two responses",
        "itself",
        "two responses",
    ]
    positions = tables.position_table(study.cells, study.position_effect)
    assert {row[2] for row in positions.rows} == {2, 3, 4, 5}
    for row in positions.rows:
        assert sum(rate for rate in row[5:] if rate is not None) == pytest.approx(1)
    assert len(tables.claim_table(study.claims).rows) == 8
    for row in tables.share_table(study.shares).rows:
        assert row[3] is None or sum(row[3:]) == pytest.approx(1)
    assert len(tables.curve_table(study.cells).rows) == 21 * 4


def test_the_methods_box_says_what_the_paper_asks_for(found: tuple[list[ScoringRun], FormatStudy]) -> None:
    runs, study = found
    text = methods_box(runs, study)
    assert len(re.findall("^Judge ", text, re.M)) == 3
    for run in runs:
        for fmt in run.formats.values():
            assert fmt.template.strip().splitlines()[-1] in text  # the format verbatim
    assert "Decoding: greedy, at most 16 tokens." in text
    assert len(re.findall(r"tie probability 0\.\d{3} \(D₂ = \d", text)) == 15
    assert re.search(r"\d+ distinct values among [\d,]+ scored of [\d,]+ responses", text)
    assert len(re.findall(r"each comparison in both orders; slot bias b = \+\d\.\d\d \[", text)) == 6
    assert len(re.findall(r"Parse rate \d+\.\d%", text)) == 15


def test_figures_draw_gaps_as_gaps(found: tuple[list[ScoringRun], FormatStudy], tmp_path: Path) -> None:
    _, study = found
    ties = {"one": {"binary": 0.5, "likert5": None}, "two": {"binary": 0.6}}
    heat = np.array([[0.5, np.nan], [0.25, 1.0]])
    drawn = (
        tie_figure(ties, {"binary": 0.5}),
        slot_figure(study.slots),
        heat_map(heat, ["binary", "likert5"], ["one", "two"], "ties"),
        heat_map(np.full((1, 1), np.nan), ["binary"], ["one"], "ties"),
    )
    for index, figure in enumerate(drawn):
        assert save_figure(figure, tmp_path, str(index)).stat().st_size > 5_000
    texts = [text.get_text() for text in drawn[2].axes[0].texts]
    assert texts == ["0.500", "–", "0.250", "1.000"]


def test_a_slot_plot_needs_an_estimate() -> None:
    shares = SlotShares(0, 0, None, None, None, None)
    with pytest.raises(ValueError, match="no slot bias to draw"):
        slot_figure([Slots("one", "anchored", SlotModel(None, None, 3), None, shares, shares)])
    single = Estimate(0.5, None, None, 1)
    slot_figure([Slots("one", "anchored", SlotModel(single, single, 0), None, shares, shares)])
