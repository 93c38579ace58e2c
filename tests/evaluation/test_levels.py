"""Levels against their definitions, one candidate at a time."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab.evaluation.levels import (
    capacity,
    effective_levels,
    level_counts,
    round_number_share,
    subsamples,
    tie_probability,
)

COUNTS = st.lists(st.integers(1, 500), min_size=1, max_size=30).map(np.array)


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, float("nan")]), max_size=30))
def test_ties_are_the_share_of_equal_draws(scores: list[float]) -> None:
    known = [score for score in scores if not math.isnan(score)]
    counts = level_counts(np.array(scores, dtype=float))
    if not known:
        assert tie_probability(counts) is None
        return
    equal = sum(a == b for a in known for b in known) / len(known) ** 2
    assert tie_probability(counts) == pytest.approx(equal)
    assert effective_levels(counts, 2) == pytest.approx(1 / equal)
    assert len(counts) == len(set(known)) == pytest.approx(effective_levels(counts, 0))


@given(COUNTS)
def test_effective_levels_fall_with_alpha_and_meet_their_limits(counts: np.ndarray) -> None:
    shares = counts / counts.sum()
    orders = [0, 0.5, 0.999999, 1, 1.000001, 2, 5, math.inf]
    levels = [effective_levels(counts, alpha) for alpha in orders]
    assert all(after <= before + 1e-9 for before, after in pairwise(levels))
    assert levels[3] == pytest.approx(math.exp(-sum(p * math.log(p) for p in shares)))
    assert levels[2] == pytest.approx(levels[3], rel=1e-4)
    assert levels[4] == pytest.approx(levels[3], rel=1e-4)
    assert levels[-1] == pytest.approx(1 / shares.max())


def test_scores_are_equal_to_nine_decimals() -> None:
    assert len(level_counts(np.array([0.1 + 0.2, 0.3, 0.3 + 1e-8]))) == 2


def test_capacity_of_even_use_is_one_and_of_one_level_is_one_of_k() -> None:
    even = capacity(np.array([7, 7, 7, 7, 7]), 5)
    assert (even.share, even.log_share, even.excess_ties) == (pytest.approx(1), pytest.approx(1), pytest.approx(0))
    single = capacity(np.array([9]), 5)
    assert (single.share, single.log_share, single.excess_ties) == (0.2, 0, 0.8)
    assert capacity(np.array([], dtype=int), 5) is None
    assert capacity(np.array([3]), 1) is None


def test_the_whole_pool_is_its_own_subsample_and_parts_have_fewer_distinct_values() -> None:
    random = np.random.default_rng(0)
    prompts = np.repeat(np.arange(400), 4)
    scores = np.round(random.beta(5, 2, 1600), 2)
    third, whole = subsamples(scores, prompts, [1 / 3, 1.0], 20, 1)
    counts = level_counts(scores)
    assert (whole.prompts, whole.distinct, whole.distinct_sd) == (400, len(counts), 0)
    assert whole.effective == pytest.approx(effective_levels(counts, 2))
    assert whole.effective_sd == pytest.approx(0, abs=1e-9)
    assert third.prompts == 133
    assert third.distinct < whole.distinct - 2 * third.distinct_sd
    assert third.effective == pytest.approx(whole.effective, abs=3 * third.effective_sd)


def test_subsamples_keep_prompts_whole_and_depend_on_the_seed_alone() -> None:
    prompts = np.repeat(np.arange(10), 3)
    scores = np.repeat(np.arange(10) / 10, 3)  # one value per prompt, so distinct values count prompts
    (half,) = subsamples(scores, prompts, [0.5], 8, 1)
    assert (half.distinct, half.distinct_sd) == (5, 0)
    assert list(subsamples(scores, prompts, [0.5], 8, 1)) == [half]
    assert list(subsamples(np.full(3, np.nan), prompts[:3], [1.0], 3, 1)) == []


def test_round_numbers() -> None:
    scale = [str(value) for value in range(101)]
    assert round_number_share(["85", "90", "72", "100"], scale) == (0.75, 21 / 101)
    assert round_number_share([], scale) is None
    assert round_number_share(["5"], [str(value) for value in range(1, 6)]) is None
    assert round_number_share(["+1"], ["-1", "0", "+1"]) is None
