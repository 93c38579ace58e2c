from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from judgelab.synthesis.drawing import drawn_pairs, gold_slot

pairs = st.lists(st.tuples(st.integers(1, 4), st.integers(5, 8)), min_size=1, max_size=4)
sources = st.dictionaries(
    st.text("abc", min_size=1, max_size=4), st.dictionaries(st.integers(1, 3), pairs, min_size=1), max_size=12
)


@given(sources, st.integers(0, 3), st.randoms(use_true_random=False))
def test_one_valid_pair_per_source_whatever_the_order(bins, seed, shuffler):
    drawn = drawn_pairs(bins, seed, "suite")
    assert drawn.keys() == bins.keys()
    assert all(ranks in bins[source][number] for source, (number, ranks) in drawn.items())
    names = list(bins)
    shuffler.shuffle(names)
    assert drawn_pairs({name: dict(sorted(bins[name].items(), reverse=True)) for name in names}, seed, "suite") == drawn


@given(st.integers(0, 60), st.integers(0, 9))
def test_bins_that_every_source_has_fill_evenly(count, seed):
    bins = {str(n): {1: [(1, 2)], 2: [(1, 3)], 3: [(1, 4)]} for n in range(count)}
    filled = Counter(number for number, _ in drawn_pairs(bins, seed, "suite").values())
    assert max(filled.values(), default=0) - min((filled[n] for n in (1, 2, 3)), default=0) <= 1


def test_sources_without_a_choice_are_made_up_for():
    bins = {f"one{n}": {1: [(1, 2)]} for n in range(5)} | {f"two{n}": {1: [(1, 2)], 2: [(1, 3)]} for n in range(5)}
    filled = Counter(number for number, _ in drawn_pairs(bins, 0, "suite").values())
    assert filled == {1: 5, 2: 5}


def test_slots_are_even_and_belong_to_the_seed():
    slots = [gold_slot(1, "suite", str(n)) for n in range(2000)]
    # Five standard deviations of a fair coin: 5 * sqrt(2000) / 2 = 112.
    assert abs(slots.count("A") - 1000) < 112
    assert slots != [gold_slot(2, "suite", str(n)) for n in range(2000)]
