"""Slot statistics against scipy's tests."""

import numpy as np
import pytest
from scipy import stats

from judgelab.evaluation.slots import gap_correlation, slot_model, slot_shares

NAN = float("nan")


def test_bias_and_preference_are_recovered_and_their_intervals_are_those_of_the_t_test() -> None:
    random = np.random.default_rng(2)
    preference, bias = random.normal(-0.4, 1, 500), random.normal(0.9, 0.5, 500)
    found = slot_model(preference + bias, -preference + bias)
    for estimate, values in ((found.preference, preference), (found.bias, bias)):
        interval = stats.ttest_1samp(values, 0).confidence_interval(0.95)
        assert estimate.mean == pytest.approx(values.mean())
        assert (estimate.low, estimate.high) == pytest.approx((interval.low, interval.high))
        assert estimate.n == 500


def test_incomplete_comparisons_leave_and_are_counted() -> None:
    found = slot_model(np.array([2.0, NAN, 1.0, NAN]), np.array([0.0, 1.0, NAN, NAN]))
    assert (found.bias.mean, found.bias.n, found.incomplete) == (1, 1, 3)
    assert (found.bias.low, found.bias.high) == (None, None)
    nothing = slot_model(np.array([NAN]), np.array([1.0]))
    assert (nothing.bias, nothing.preference, nothing.incomplete) == (None, None, 1)


def test_gap_correlation_has_fishers_interval() -> None:
    random = np.random.default_rng(3)
    gap = random.integers(-5, 6, 200).astype(float)
    preference = 0.3 * gap + random.normal(0, 1, 200)
    found = gap_correlation(np.append(preference, NAN), np.append(gap, 1))
    r = np.corrcoef(preference, gap)[0, 1]
    half = stats.norm.ppf(0.975) / np.sqrt(197)
    assert found.pearson == pytest.approx(r)
    assert (found.low, found.high) == pytest.approx((np.tanh(np.arctanh(r) - half), np.tanh(np.arctanh(r) + half)))
    assert found.spearman == pytest.approx(stats.spearmanr(preference, gap).statistic)
    assert found.n == 200


def test_undefined_correlations_are_null() -> None:
    flat = gap_correlation(np.zeros(5), np.arange(5.0))
    assert (flat.pearson, flat.low, flat.spearman, flat.n) == (None, None, None, 5)
    three = gap_correlation(np.array([1.0, 2.0, 4.0]), np.array([1.0, 3.0, 2.0]))
    assert three.pearson is not None
    assert three.low is None


def test_shares_of_verdicts_by_slot() -> None:
    found = slot_shares(np.array([2.0, 1.0, 0.0, -1.0, NAN]))
    assert (found.n, found.unparsed, found.slot_a, found.tie, found.slot_b) == (4, 1, 0.5, 0.25, 0.25)
    assert found.mean == 0.5
    assert slot_shares(np.array([NAN])).tie is None
