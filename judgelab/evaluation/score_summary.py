"""What a judge's scores look like under each format: coverage, distinct values, ties (Format paper §3)."""

from collections import Counter
from dataclasses import dataclass

import pandas as pd

from judgelab.evaluation.levels import level_counts, tie_probability
from judgelab.scoring.repeats import judgment_scores
from judgelab.scoring.score import ERROR

ENOUGH_PARSED = 0.95
"""Below this parse rate a report warns that its figures are over a part of the replies."""


@dataclass(frozen=True)
class ScoreSummary:
    """One format's scores over a pool; figures of scores are null where nothing was scored.

    A judgment that was asked several times has one score, the mean of its samples; statuses count every sample.
    `tie_probability` is Σ p², the chance that two scores drawn with replacement are equal; `top_share` is the share of
    the most frequent score.
    """

    format: str
    requests: int
    statuses: dict[str, int]
    parse_rate: float | None
    mean: float | None
    distinct: int
    tie_probability: float | None
    top_share: float | None


def summarize(scores: pd.DataFrame) -> list[ScoreSummary]:
    """One summary per format, in the order of the score rows.

    The parse rate is over requests that the engine answered: an error is no reply.
    """
    return [_summary(str(name), rows) for name, rows in scores.groupby("format", sort=False)]


def _summary(name: str, rows: pd.DataFrame) -> ScoreSummary:
    statuses = Counter(rows["status"])
    answered = len(rows) - statuses[ERROR]
    values = judgment_scores(rows)["score"]
    counts = level_counts(values.to_numpy(float))
    return ScoreSummary(
        format=name,
        requests=len(rows),
        statuses=dict(statuses),
        parse_rate=statuses["ok"] / answered if answered else None,
        mean=float(values.mean()) if len(counts) else None,
        distinct=len(counts),
        tie_probability=tie_probability(counts),
        top_share=float(counts.max() / counts.sum()) if len(counts) else None,
    )


@dataclass(frozen=True)
class Flips:
    """What a second answer to the same request changed, over how many were asked again.

    `rate` is the share of verdicts that changed where both replies parsed; `replies_changed` is the share of replies
    whose text changed at all.
    """

    rate: float | None
    parsed: int
    replies_changed: float
    asked: int


def flip_rates(first: pd.DataFrame, again: pd.DataFrame) -> dict[str, Flips]:
    """Flips per format, from the first answers and those of a sample that was asked once more."""
    keys = ["format", "prompt_id", "candidate_id", "other_id", "order"]
    both = first[first["repeat"] == 0].merge(again, on=keys, suffixes=("", "_again"))
    return {str(name): _flips(rows) for name, rows in both.groupby("format", sort=False)}


def _flips(rows: pd.DataFrame) -> Flips:
    parsed = rows.dropna(subset=["verdict", "verdict_again"])
    flipped = parsed["verdict"] != parsed["verdict_again"]
    return Flips(
        rate=float(flipped.mean()) if len(parsed) else None,
        parsed=len(parsed),
        replies_changed=float((rows["text"] != rows["text_again"]).mean()),
        asked=len(rows),
    )


def captured_mass(scores: pd.DataFrame) -> dict[str, tuple[float, int]]:
    """Mean captured probability mass per format, and over how many judgments; empty where scores are of replies."""
    known = scores.dropna(subset=["mass"])
    return {str(name): (float(rows.mean()), len(rows)) for name, rows in known.groupby("format", sort=False)["mass"]}
