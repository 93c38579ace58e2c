"""Rank agreement against scipy, prompt by prompt."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from judgelab.evaluation.rank_agreement import PromptMean, over_pool, prompt_pairs, within_prompts

NAN = float("nan")
SCORE = st.sampled_from([0.0, 0.25, 0.5, 1.0, NAN])
PROMPT = st.lists(st.tuples(SCORE, SCORE), min_size=1, max_size=6)


@given(st.lists(PROMPT, min_size=1, max_size=6))
@settings(max_examples=150, deadline=None)
def test_within_prompts_against_scipy(made: list[list[tuple[float, float]]]) -> None:
    prompts = np.array([p for p, each in enumerate(made) for _ in each])
    scores, reference = np.array([pair for each in made for pair in each]).T
    found = within_prompts(prompts, scores, reference)
    known = [np.array([pair for pair in each if not np.isnan(pair).any()]).reshape(-1, 2) for each in made]
    compared = [each for each in known if len(each) > 1]
    tau_a = [_concordance(each) / (len(each) * (len(each) - 1) / 2) for each in compared]
    _check(found.tau_a, [(value, True) for value in tau_a])
    _check(found.tau_b, [_defined(stats.kendalltau(each[:, 0], each[:, 1]).statistic) for each in compared])
    _check(found.somers_d, [_defined(_somers(each)) for each in compared])
    _check(found.spearman, [_defined(_spearman(each)) for each in compared])


def _check(found: PromptMean, values: list[tuple[float, bool]]) -> None:
    defined = [value for value, is_defined in values if is_defined]
    assert (found.defined, found.undefined) == (len(defined), len(values) - len(defined))
    assert found.mean == (pytest.approx(np.mean(defined)) if defined else None)
    assert found.with_zeros == (pytest.approx(np.sum(defined) / len(values)) if values else None)


def _concordance(each: np.ndarray) -> float:
    return sum(
        np.sign(each[i, 0] - each[j, 0]) * np.sign(each[i, 1] - each[j, 1])
        for i in range(len(each))
        for j in range(i + 1, len(each))
    )


def _defined(value: float) -> tuple[float, bool]:
    return value, not np.isnan(value)


def _somers(each: np.ndarray) -> float:
    """scipy's somersd(x, y) takes x as the independent variable: the reference; it has no value for constant scores."""
    if not np.ptp(each[:, 1]):
        return NAN
    return stats.somersd(each[:, 1], each[:, 0]).statistic if np.ptp(each[:, 0]) else 0.0


def _spearman(each: np.ndarray) -> float:
    return stats.spearmanr(each[:, 0], each[:, 1]).statistic if np.ptp(each[:, 0]) and np.ptp(each[:, 1]) else NAN


@given(st.lists(st.tuples(SCORE, SCORE), max_size=25))
@settings(max_examples=150, deadline=None)
def test_over_the_pool_against_scipy(pairs: list[tuple[float, float]]) -> None:
    values = np.array(pairs, dtype=float).reshape(-1, 2)
    found = over_pool(values[:, 0], values[:, 1])
    known = values[~np.isnan(values).any(axis=1)]
    n = len(known)
    assert found.n == n
    if n < 2:
        assert (found.tau_a, found.tau_b, found.somers_d, found.spearman) == (None,) * 4
        return
    assert found.tau_a == pytest.approx(_concordance(known) / (n * (n - 1) / 2))
    for value, (expected, is_defined) in (
        (found.tau_b, _defined(stats.kendalltau(known[:, 0], known[:, 1]).statistic)),
        (found.somers_d, _defined(_somers(known))),
        (found.spearman, _defined(_spearman(known))),
    ):
        assert value == (pytest.approx(expected) if is_defined else None)


def test_the_papers_example() -> None:
    found = within_prompts(np.zeros(3, dtype=int), np.array([1.0, 1.0, 0.0]), np.array([3.0, 2.0, 1.0]))
    assert found.tau_a.mean == pytest.approx(2 / 3)
    assert found.tau_b.mean == pytest.approx(0.816, abs=5e-4)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6))
def test_every_pair_within_a_prompt_occurs_once(sizes: list[int]) -> None:
    prompts = np.repeat(np.arange(len(sizes)), sizes)
    pairs = set(zip(*prompt_pairs(prompts), strict=True))
    n = len(prompts)
    assert pairs == {(i, j) for i in range(n) for j in range(i + 1, n) if prompts[i] == prompts[j]}


def test_scores_that_agree_to_nine_decimals_tie() -> None:
    found = within_prompts(np.zeros(2, dtype=int), np.array([0.1 + 0.2, 0.3]), np.array([1.0, 2.0]))
    assert found.tau_a.mean == 0
