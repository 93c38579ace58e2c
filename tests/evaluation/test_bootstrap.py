"""The paired bootstrap against sklearn's macro-F1 and scipy's bootstrap."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import f1_score

from judgelab.evaluation.bootstrap import Trial, macro_f1, paired_difference

PAIRS = st.lists(st.tuples(st.sampled_from([0, 1]), st.sampled_from([0, 1, -1])), min_size=1, max_size=20)


@given(PAIRS, st.integers(0, 10**6))
@settings(max_examples=150)
def test_macro_f1_of_every_resample_against_sklearn(pairs: list[tuple[int, int]], seed: int) -> None:
    labels, verdicts = np.array(pairs).T
    n = len(labels)
    weights = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), 5).astype(float)
    found = macro_f1(labels, np.stack([verdicts, labels]), weights)
    for row, counts in zip(found, weights.astype(int), strict=True):
        drawn = np.repeat(np.arange(n), counts)
        for value, judged in zip(row, (verdicts, labels), strict=True):
            expected = f1_score(labels[drawn], judged[drawn], labels=[0, 1], average="macro", zero_division=0)
            assert value == pytest.approx(expected)


def _trial(seed: int, good: float, bad: float, n: int = 120, repeats: int = 1, ids: str = "") -> Trial:
    random = np.random.default_rng(seed)
    labels = np.random.default_rng(0).integers(0, 2, n)
    first, second = (np.where(random.random((repeats, n)) < share, labels, 1 - labels) for share in (good, bad))
    return Trial(tuple(f"{ids}{item}" for item in range(n)), labels, first, second)


def test_one_seed_has_scipys_percentile_interval() -> None:
    trial = _trial(1, 0.85, 0.7)
    found = paired_difference([trial], 4000, 5, "x")

    def statistic(drawn: np.ndarray) -> float:
        return float(np.diff([_plain(trial.labels[drawn], each[0][drawn]) for each in (trial.second, trial.first)])[0])

    expected = stats.bootstrap(
        (np.arange(120),), statistic, n_resamples=2000, method="percentile", vectorized=False, rng=3
    ).confidence_interval
    assert found.mean == pytest.approx(statistic(np.arange(120)))
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.02)
    assert (found.seeds, found.items) == (1, 120)


def _plain(labels: np.ndarray, verdicts: np.ndarray) -> float:
    return f1_score(labels, verdicts, labels=[0, 1], average="macro", zero_division=0)


def test_equal_conditions_do_not_differ() -> None:
    trial = _trial(1, 0.8, 0.8)
    same = Trial(trial.item_ids, trial.labels, trial.first, trial.first)
    found = paired_difference([same], 500, 5, "x")
    assert (found.mean, found.low, found.high, found.p) == (0, 0, 0, 1)


def test_a_clear_difference_has_the_smallest_p_and_sides_mirror() -> None:
    trials = [_trial(seed, 0.95, 0.55, repeats=2) for seed in (1, 2, 3)]
    found = paired_difference(trials, 999, 5, "x")
    assert found.low > 0.2
    assert found.p == 2 / 1000
    swapped = [Trial(each.item_ids, each.labels, each.second, each.first) for each in trials]
    mirrored = paired_difference(swapped, 999, 5, "x")
    assert (mirrored.mean, mirrored.low, mirrored.high) == pytest.approx((-found.mean, -found.high, -found.low))


def test_seeds_that_disagree_widen_the_interval_beyond_that_of_items() -> None:
    apart = [_trial(1, 0.95, 0.55), _trial(2, 0.55, 0.95), _trial(3, 0.95, 0.55)]
    alike = [_trial(seed, 0.8, 0.7) for seed in (1, 2, 3)]
    wide, narrow = (paired_difference(each, 1000, 5, "x") for each in (apart, alike))
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)


def test_splits_of_their_own_are_drawn_apart() -> None:
    shared = paired_difference([_trial(seed, 0.8, 0.7) for seed in (1, 2)], 500, 5, "x")
    own = paired_difference([_trial(seed, 0.8, 0.7, ids=f"{seed}-") for seed in (1, 2)], 500, 5, "x")
    assert (shared.items, own.items) == (120, 240)
    assert shared.mean == own.mean
    assert (shared.low, shared.high) != (own.low, own.high)
