"""Paired two-way bootstrap of strict macro-F1: items and seeds are resampled, both conditions share every draw."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgelab.evaluation.classification import LABELS
from judgelab.run.randomness import derived_seed

Floats = NDArray[np.float64]
Verdicts = NDArray[np.int64]


@dataclass(frozen=True)
class Trial:
    """One seed's test split under two conditions: labels [items], verdicts [repeats, items] of each."""

    item_ids: tuple[str, ...]
    labels: Verdicts
    first: Verdicts
    second: Verdicts


@dataclass(frozen=True)
class Difference:
    """Mean macro-F1 of the first condition minus the second's, 95 % percentile interval, and two-sided p."""

    mean: float
    low: float
    high: float
    p: float
    seeds: int
    items: int


def paired_difference(trials: Sequence[Trial], resamples: int, seed: int, name: str) -> Difference:
    """Bootstrap the mean difference over seeds and repeats.

    Seeds are drawn once for all items. Where every seed has the same items, the drawn items are shared too; where the
    split itself depends on the seed, items are drawn within each. p = (1 + #)/(B + 1), of the smaller tail, doubled.
    """
    random = np.random.default_rng(derived_seed(seed, "bootstrap", name))
    shared = len({trial.item_ids for trial in trials}) == 1
    draws = _item_weights(random, len(trials[0].labels), resamples) if shared else None
    differences = [
        _difference(trial, _item_weights(random, len(trial.labels), resamples) if draws is None else draws)
        for trial in trials
    ]
    seeds = random.multinomial(len(trials), np.full(len(trials), 1 / len(trials)), resamples) / len(trials)
    found = (seeds * np.stack(differences, axis=1)).sum(axis=1)
    low, high = np.percentile(found, [2.5, 97.5])
    tail = min((found <= 0).sum(), (found >= 0).sum())
    return Difference(
        mean=float(np.mean([_difference(trial, np.ones((1, len(trial.labels))))[0] for trial in trials])),
        low=float(low),
        high=float(high),
        p=min(1.0, 2 * (1 + int(tail)) / (resamples + 1)),
        seeds=len(trials),
        items=len({item for trial in trials for item in trial.item_ids}),
    )


def _item_weights(random: np.random.Generator, items: int, resamples: int) -> Floats:
    return random.multinomial(items, np.full(items, 1 / items), resamples).astype(float)


def _difference(trial: Trial, weights: Floats) -> Floats:
    first, second = (macro_f1(trial.labels, verdicts, weights) for verdicts in (trial.first, trial.second))
    return first.mean(axis=1) - second.mean(axis=1)


def macro_f1(labels: Verdicts, verdicts: Verdicts, weights: Floats) -> Floats:
    """Strict macro-F1 [resamples, repeats] under item weights [resamples, items]; an unparsed verdict is a miss.

    A class without labels and verdicts in a resample has F1 0, as in the point estimate.
    """
    scores = []
    for label in LABELS:
        of_label, of_verdict = (labels == label).astype(float), (verdicts == label).astype(float)
        hits = weights @ (of_label * of_verdict).T
        among = (weights @ of_label)[:, None] + weights @ of_verdict.T
        scores.append(np.divide(2 * hits, among, out=np.zeros_like(hits), where=among > 0))
    return np.mean(scores, axis=0)
