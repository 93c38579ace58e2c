import math
from statistics import fmean

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.image import imread

from judgelab.reporting.figures import confusion_figure, loss_figure, running_mean, save_figure

COUNTS = [[30, 9, 1], [0, 0, 0]]
LABELS, VERDICTS = ("0: harmless", "1: criminal"), ("0", "1", "unparsed")


def joint_history(steps=100):
    rows = []
    for step in range(1, steps + 1):
        epoch = 1 + (step - 1) // (steps // 2)
        row = {"step": step, "epoch": epoch, "train/loss": 3 / step, "train/pointwise_loss": 2 / step}
        if step % 2:
            row["train/pairwise_loss"] = 4 / step
        rows.append(row)
        if step % (steps // 2) == 0:
            validation = {"validation/pointwise_loss": 0.5, "validation/pairwise_loss": 0.7}
            rows.append({"step": step, "epoch": epoch, **validation})
    return rows


def named_lines(figure):
    return {line.get_label(): line for line in figure.axes[0].lines if not line.get_label().startswith("_")}


def test_loss_figure_draws_each_series_of_a_joint_run():
    lines = named_lines(loss_figure(joint_history()))
    assert set(lines) == {
        "train, all formats (mean of last 10)",
        "train, pointwise (mean of last 10)",
        "train, pairwise (mean of last 10)",
        "validation, pointwise",
        "validation, pairwise",
    }
    assert list(lines["train, pairwise (mean of last 10)"].get_xdata()) == list(range(1, 101, 2))
    assert lines["validation, pairwise"].get_xydata().tolist() == [[50, 0.7], [100, 0.7]]
    assert lines["validation, pairwise"].get_linestyle() == "None"
    assert lines["validation, pairwise"].get_marker() != lines["validation, pointwise"].get_marker()


def test_loss_figure_keeps_the_raw_values_beside_the_mean():
    history = joint_history()
    raw = [row["train/loss"] for row in history if "train/loss" in row]
    drawn = [list(line.get_ydata()) for line in loss_figure(history).axes[0].lines]
    assert raw in drawn
    assert running_mean(raw, 10) in drawn


def test_loss_figure_has_only_the_series_that_exist():
    history = [{"step": step, "epoch": 1, "train/loss": 1.0} for step in range(1, 4)]
    assert set(named_lines(loss_figure(history))) == {"train, all formats"}


def test_loss_figure_of_one_step_shows_a_point():
    (line,) = loss_figure([{"step": 1, "epoch": 1, "train/loss": 1.0}]).axes[0].lines
    assert line.get_marker() not in ("", "None")


def test_loss_figure_marks_the_end_of_each_epoch_but_the_last():
    rules = [line for line in loss_figure(joint_history()).axes[0].lines if list(line.get_ydata()) == [0, 1]]
    assert [list(rule.get_xdata()) for rule in rules] == [[50.5, 50.5]]


@pytest.mark.parametrize("history", [[], [{"step": 1, "epoch": 1, "validation/pointwise_verdict_accuracy": 0.5}]])
def test_history_without_loss_is_refused(history):
    with pytest.raises(ValueError, match="holds no loss"):
        loss_figure(history)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_loss_that_is_not_finite_is_refused(value):
    with pytest.raises(ValueError, match=r"validation/pairwise_loss at step 7 is (nan|inf)"):
        loss_figure([{"step": 7, "epoch": 1, "train/loss": 1.0, "validation/pairwise_loss": value}])


@given(st.lists(st.floats(0, 100), max_size=30), st.integers(1, 12))
def test_running_mean_is_the_mean_of_the_last_values(values, window):
    expected = [fmean(values[: end + 1][-window:]) for end in range(len(values))]
    assert running_mean(values, window) == pytest.approx(expected)


def test_confusion_figure_writes_counts_shares_and_names():
    axes = confusion_figure(COUNTS, LABELS, VERDICTS, "trained judge").axes[0]
    cells = [text.get_text() for text in axes.texts]
    assert cells == ["30", "75%", "9", "22%", "1", "2%", "0", "–", "0", "–", "0", "–"]
    assert [label.get_text() for label in axes.get_xticklabels()] == list(VERDICTS)
    assert [label.get_text() for label in axes.get_yticklabels()] == list(LABELS)
    np.testing.assert_allclose(axes.images[0].get_array(), [[0.75, 0.225, 0.025], [0, 0, 0]])


def test_confusion_figure_refuses_names_that_do_not_fit():
    with pytest.raises(ValueError, match=r"trained judge: matrix of shape \(2, 3\) for 2 row labels and 2 column"):
        confusion_figure(COUNTS, LABELS, VERDICTS[:2], "trained judge")


@pytest.mark.parametrize(
    "draw", [lambda: loss_figure(joint_history()), lambda: confusion_figure(COUNTS, LABELS, VERDICTS, "t")]
)
def test_equal_data_gives_equal_bytes_and_no_global_state(draw, tmp_path):
    before = dict(matplotlib.rcParams)
    first = save_figure(draw(), tmp_path / "a", "drawn")
    second = save_figure(draw(), tmp_path / "b", "drawn")
    assert first == tmp_path / "a" / "figures" / "drawn.png"
    assert first.read_bytes() == second.read_bytes()
    assert imread(first).std() > 0.01  # something is drawn
    assert dict(matplotlib.rcParams) == before
