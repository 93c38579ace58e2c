"""Figures of a report, drawn without pyplot's global state; equal data gives equal bytes."""

import io
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from judgelab.run.folder import write_atomic

INK, MUTED, FAINT = "#1f2328", "#656d76", "#d8dde3"
PIXELS_PER_INCH = 200


@dataclass(frozen=True)
class Series:
    """How one kind of loss is drawn; colours that all common forms of colour blindness keep apart."""

    key: str
    label: str
    color: str
    marker: str


LOSSES = (
    Series("loss", "all formats", "#4d4d4d", "D"),
    Series("pointwise_loss", "pointwise", "#0072b2", "o"),
    Series("pairwise_loss", "pairwise", "#d55e00", "s"),
)


def loss_figure(history: Sequence[Mapping[str, float]]) -> Figure:
    """Losses in nats per target token by optimizer step: training raw and smoothed, validation as markers.

    Rows hold `step`, `epoch` and any of the losses; ValueError for a loss that is not finite, or for none.
    """
    if not any(f"{split}/{loss.key}" in row for row in history for split in ("train", "validation") for loss in LOSSES):
        raise ValueError("the history holds no loss to draw")
    window = max(1, sum("train/loss" in row for row in history) // 10)
    figure, axes = canvas(8.2, 3.7)
    for loss in LOSSES:
        _draw_training(axes, *_points(history, f"train/{loss.key}"), loss, window)
        _draw_validation(axes, *_points(history, f"validation/{loss.key}"), loss)
    _draw_epochs(axes, history)
    axes.set_xlabel("optimizer step")
    axes.set_ylabel("loss (nats per target token)")
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", color=FAINT, linewidth=0.6)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper left", ncols=3, frameon=False, fontsize=8)
    return figure


def _points(history: Sequence[Mapping[str, float]], key: str) -> tuple[list[float], list[float]]:
    rows = [row for row in history if key in row]
    for row in rows:
        if not math.isfinite(row[key]):
            raise ValueError(f"{key} at step {row['step']:g} is {row[key]}, not a finite number")
    return [row["step"] for row in rows], [row[key] for row in rows]


def _draw_training(axes: Axes, steps: list[float], values: list[float], loss: Series, window: int) -> None:
    if not values:
        return
    name = f"train, {loss.label}"
    if window > 1:
        axes.plot(steps, values, color=loss.color, alpha=0.25, linewidth=0.8)
        name += f" (mean of last {window})"
    marker = loss.marker if len(values) == 1 else ""  # a line through one point is invisible
    axes.plot(steps, running_mean(values, window), color=loss.color, linewidth=1.8, marker=marker, label=name)


def _draw_validation(axes: Axes, steps: list[float], values: list[float], loss: Series) -> None:
    if values:
        axes.plot(
            steps,
            values,
            linestyle="none",
            marker=loss.marker,
            markersize=6.5,
            markerfacecolor=loss.color,
            markeredgecolor="white",
            label=f"validation, {loss.label}",
            zorder=3,
        )


def _draw_epochs(axes: Axes, history: Sequence[Mapping[str, float]]) -> None:
    """A hairline where one epoch ends and the next begins."""
    for before, after in pairwise(history):
        if before["epoch"] != after["epoch"]:
            axes.axvline(before["step"] + 0.5, color=FAINT, linewidth=0.8, linestyle=(0, (4, 3)), zorder=0)


def running_mean(values: Sequence[float], window: int) -> list[float]:
    """Mean of each value and up to `window` − 1 values before it."""
    return [float(np.mean(values[max(0, end - window) : end])) for end in range(1, len(values) + 1)]


def confusion_figure(
    matrix: Sequence[Sequence[int]], row_labels: Sequence[str], column_labels: Sequence[str], title: str
) -> Figure:
    """Counts of labels (rows) against verdicts (columns); the shade is the share of the row.

    ValueError where the names do not fit the matrix.
    """
    counts = np.array(matrix)
    if counts.shape != (len(row_labels), len(column_labels)):
        raise ValueError(
            f"{title}: matrix of shape {counts.shape} for {len(row_labels)} row labels "
            f"and {len(column_labels)} column labels"
        )
    totals = counts.sum(axis=1, keepdims=True)
    shares = counts / np.maximum(totals, 1)
    figure, axes = canvas(2.2 + 0.95 * len(column_labels), 1.3 + 0.8 * len(row_labels))
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for (row, column), count in np.ndenumerate(counts):
        _annotate(axes, row, column, int(count), shares[row, column] if totals[row, 0] else None)
    axes.set_xticks(range(len(column_labels)), [textwrap.fill(label, 16) for label in column_labels])
    axes.set_yticks(range(len(row_labels)), [textwrap.fill(label, 24) for label in row_labels])
    axes.set_xticks(np.arange(len(column_labels) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(row_labels) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=3)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("verdict")
    axes.set_ylabel("label")
    figure.suptitle(textwrap.fill(title, 48), color=INK, fontsize=10, fontweight="bold")
    return figure


def _annotate(axes: Axes, row: int, column: int, count: int, share: float | None) -> None:
    color = "white" if share is not None and share > 0.55 else INK
    axes.text(column, row, f"{count:,}", ha="center", va="bottom", color=color, fontsize=12)
    text = "–" if share is None else f"{share:.0%}"
    axes.text(column, row + 0.08, text, ha="center", va="top", color=color, fontsize=8)


def canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty figure of a size in inches, in the report's look."""
    figure = Figure(figsize=(width, height), dpi=PIXELS_PER_INCH, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    axes.tick_params(colors=MUTED, labelsize=8.5, labelcolor=INK)
    axes.xaxis.label.set(color=MUTED, size=9)
    axes.yaxis.label.set(color=MUTED, size=9)
    return figure, axes


def histogram_figure(scores: Mapping[str, Sequence[float]]) -> Figure:
    """How often each format gave each score: one row of bars per format, on a common axis from 0 to 1.

    Each row is as high as its most frequent score, whose share stands beside it.
    """
    figure = Figure(figsize=(7.2, 0.5 + 1.05 * len(scores)), dpi=PIXELS_PER_INCH, layout="constrained")
    FigureCanvasAgg(figure)
    rows = np.atleast_1d(figure.subplots(len(scores), 1, sharex=True))
    for axes, (name, values) in zip(rows, scores.items(), strict=True):
        levels, counts = np.unique(np.round(values, 9), return_counts=True)
        shares = counts / max(counts.sum(), 1)
        peak = shares.max(initial=0)
        axes.bar(levels, shares, width=0.008, color=LOSSES[1].color)
        axes.set_ylabel(textwrap.fill(name, 12), rotation=0, ha="right", va="center")
        if peak:
            axes.set_ylim(0, 1.08 * peak)
        axes.set_yticks([0, peak] if peak else [0], ["0", f"{peak:.0%}"] if peak else ["0"])
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(FAINT)
        axes.tick_params(colors=MUTED, labelsize=8, labelcolor=INK)
    rows[-1].set_xlim(-0.02, 1.02)
    rows[-1].set_xlabel("score (bars: share of the scored responses)", color=MUTED, size=9)
    return figure


def save_figure(figure: Figure, folder: Path, name: str) -> Path:
    """Write folder/figures/name.png as a whole and return its path."""
    path = folder / "figures" / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    image = io.BytesIO()
    figure.savefig(image, format="png", metadata={"Software": None})  # without it the library's version is in the bytes
    write_atomic(path, image.getvalue())
    return path
