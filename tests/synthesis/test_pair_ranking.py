import math
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab.synthesis.mutation import Candidate, Lineage
from judgelab.synthesis.ranking import GapRule, gap_bin, ranked, valid_pairs

scores = st.lists(st.integers(0, 20).map(lambda n: n / 20), min_size=2, max_size=9)
DECOMPOSABLE = GapRule(threshold=0.05, higher_is_better=True, atomic=False)


def made(values):
    return [Candidate(f"t{n}", value, Lineage("o", n, 1, "{}")) for n, value in enumerate(values)]


@pytest.mark.parametrize(("count", "expected"), [(7, [11, 7, 3]), (10, [24, 15, 6]), (16, [65, 40, 15])])
def test_pairs_per_bin(count, expected):
    filled = Counter(gap_bin(gap, count) for gap in range(1, count) for _ in range(count - gap))
    assert [filled[number] for number in (1, 2, 3)] == expected  # algorithms.md 10.4


@given(st.integers(2, 200), st.data())
def test_a_bin_is_the_exact_ceiling(count, data):
    gap = data.draw(st.integers(1, count - 1))
    assert gap_bin(gap, count) == math.ceil(Fraction(3 * gap, count - 1))


@given(scores, st.sampled_from([0.05, 0.1, 0.5]), st.sampled_from([1.0, 4.0]))
def test_valid_pairs_are_those_that_brute_force_finds(values, threshold, scale):
    ordered = sorted(values, reverse=True)
    expected = {}
    for better in range(1, len(ordered) + 1):
        for worse in range(better + 1, len(ordered) + 1):
            gap = (Fraction(round(ordered[better - 1] * 20), 20) - Fraction(round(ordered[worse - 1] * 20), 20)) / int(
                scale
            )
            if gap >= Fraction(str(threshold)):
                number = math.ceil(Fraction(3 * (worse - better), len(ordered) - 1))
                expected.setdefault(number, set()).add((better, worse))
    found = valid_pairs(ordered, GapRule(threshold, True, atomic=False), scale)
    assert {number: set(pairs) for number, pairs in found.items()} == expected
    assert all(len(pairs) == len(set(pairs)) for pairs in found.values())


def test_the_papers_gap_of_exactly_the_threshold_is_valid():
    higher, lower = (0.2 + 0.2 + 0 + 0.64) / 4, (0.2 + 0 + 0 + 0.64) / 4
    assert higher - lower < 0.05  # in doubles
    assert valid_pairs([higher, lower], DECOMPOSABLE) == {3: [(1, 2)]}


def test_atomic_pairs_set_the_right_option_against_each_other_in_one_bin():
    rule = GapRule(0.05, higher_is_better=True, atomic=True)
    assert valid_pairs([1.0, 0.0, 0.0, 0.0], rule) == {1: [(1, 2), (1, 3), (1, 4)]}


@pytest.mark.parametrize("values", [[0.5, 0.5, 0.5], [0.5], []])
def test_tied_candidates_give_no_pair(values):
    assert valid_pairs(values, GapRule(0.0, True, atomic=False)) == {}


@given(scores, st.booleans(), st.integers(0, 5))
def test_ranks_put_the_best_first_whatever_the_order_of_candidates(values, higher, seed):
    candidates = made(values)
    order = ranked(candidates, higher, seed, "source")
    assert [each.score for each in order] == sorted(values, reverse=higher)
    assert order == ranked(candidates[::-1], higher, seed, "source")


def test_ties_are_not_broken_by_number():
    orders = {tuple(each.text for each in ranked(made([0.0, 0.0]), True, seed, "s")) for seed in range(20)}
    assert orders == {("t0", "t1"), ("t1", "t0")}
