"""Figures of the format diagnostics: ties, slot bias, and format × judge heat maps."""

import textwrap
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from judgelab.evaluation.format_diagnostics import Slots
from judgelab.evaluation.levels import Floats
from judgelab.reporting.figures import FAINT, INK, MUTED, canvas

COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe and Ito's palette, which all common forms of colour blindness keep apart."""


def tie_figure(ties: Mapping[str, Mapping[str, float | None]], floors: Mapping[str, float]) -> Figure:
    """Tie probability per format (groups) and judge (bars); a tick marks each format's floor of 1/K."""
    formats = list(dict.fromkeys(name for by_format in ties.values() for name in by_format))
    figure, axes = canvas(1.6 + 1.15 * len(formats), 3.4)
    width = 0.8 / max(len(ties), 1)
    for index, (judge, by_format) in enumerate(ties.items()):
        places = np.arange(len(formats)) - 0.4 + width * (index + 0.5)
        heights = [np.nan if (value := by_format.get(name)) is None else value for name in formats]
        axes.bar(places, heights, width * 0.92, color=COLORS[index % len(COLORS)], label=judge)
    for place, name in enumerate(formats):
        if name in floors:
            axes.hlines(floors[name], place - 0.42, place + 0.42, color=INK, linewidth=1.2, linestyle=(0, (3, 2)))
    axes.set_xticks(range(len(formats)), [textwrap.fill(name, 12) for name in formats])
    axes.set_ylabel("tie probability")
    axes.set_ylim(0, 1)
    axes.grid(axis="y", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    figure.legend(loc="outside upper left", ncols=1, frameon=False, fontsize=8)
    return figure


def slot_figure(slots: Sequence[Slots]) -> Figure:
    """Slot bias b (filled) and preference q (hollow) with 95 % intervals, one row per judge and format."""
    known = [each for each in slots if each.model.bias and each.model.preference]
    if not known:
        raise ValueError("no comparison was judged in both orders: there is no slot bias to draw")
    figure, axes = canvas(6.8, 1.3 + 0.55 * len(known))
    for row, each in enumerate(reversed(known)):
        for offset, color, face, found in (
            (0.13, COLORS[1], COLORS[1], each.model.bias),
            (-0.13, COLORS[0], "white", each.model.preference),
        ):
            if found is None:
                continue
            half = 0.0 if found.high is None else found.high - found.mean
            axes.errorbar(
                found.mean,
                row + offset,
                xerr=half,
                fmt="o",
                color=color,
                markerfacecolor=face,
                capsize=2.5,
                markersize=6,
            )
    axes.axvline(0, color=MUTED, linewidth=0.9)
    names = [textwrap.shorten(f"{each.judge}, {each.format}", 46) for each in reversed(known)]
    axes.set_yticks(range(len(known)), names)
    axes.set_ylim(-0.6, len(known) - 0.4)
    axes.set_xlim(-2.05, 2.05)
    axes.set_xlabel("mean verdict; filled: bias b (+ is slot A), hollow: preference q")
    return figure


def heat_map(values: Floats, formats: Sequence[str], judges: Sequence[str], title: str) -> Figure:
    """A figure per cell [formats, judges], shaded from the smallest to the largest; NaN is left blank."""
    figure, axes = canvas(2.4 + 1.5 * len(judges), 1.1 + 0.5 * len(formats))
    axes.imshow(values, cmap="Blues", aspect="auto")
    known = values[~np.isnan(values)]
    middle = (known.min() + known.max()) / 2 if len(known) else 0.0
    for (row, column), value in np.ndenumerate(values):
        text = "–" if np.isnan(value) else f"{value:.3f}"
        axes.text(column, row, text, ha="center", va="center", color="white" if value > middle else INK, fontsize=9)
    axes.set_xticks(range(len(judges)), [textwrap.fill(judge, 22) for judge in judges])
    axes.set_yticks(range(len(formats)), list(formats))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    figure.suptitle(title, color=INK, fontsize=10, fontweight="bold")
    return figure
