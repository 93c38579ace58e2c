from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab.data.pairs import counterfactual_pair, natural_pairs, touching
from judgelab.data.records import Item
from judgelab.errors import DataError


def test_the_satisfying_text_of_a_counterfactual_pair_is_the_one_with_label_1():
    good, bad = Item("g", "q", "good", 1, {"context": "c"}), Item("b", "q", "bad", 0)
    kept = counterfactual_pair(good, "worse", ("is good", "is worse"))
    flipped = counterfactual_pair(bad, "better")
    assert (kept.satisfying, kept.other, kept.reasons) == ("good", "worse", ("is good", "is worse"))
    assert (kept.item_ids, kept.slots) == (("g",), {"context": "c"})
    assert (flipped.satisfying, flipped.other) == ("better", "bad")


@pytest.mark.parametrize(("text", "reason"), [(" ", "is empty"), ("good", "equals"), ("Good\n", "equals")])
def test_a_counterfactual_that_changes_nothing_is_refused(text, reason):
    with pytest.raises(DataError, match=f"counterfactual of item 'g' {reason}"):
        counterfactual_pair(Item("g", "q", "good", 1), text)


rows = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1), st.sampled_from("cd")), max_size=30)


@given(rows, st.integers(0, 99), st.randoms())
def test_natural_pairs_match_as_many_as_there_are_and_use_an_item_once(rows, seed, random):
    items = [Item(f"i{n}", f"q{q}", f"r{n}", label, {"context": c}) for n, (q, label, c) in enumerate(rows)]
    by_id = {item.item_id: item for item in items}
    pairs = natural_pairs(items, seed)
    counts = Counter((q, c, label) for q, label, c in rows)
    assert len(pairs) == sum(min(counts[q, c, 0], counts[q, c, 1]) for q in range(5) for c in "cd")
    used = [item_id for pair in pairs for item_id in pair.item_ids]
    assert len(used) == len(set(used))
    for pair in pairs:
        satisfying, other = (by_id[item_id] for item_id in pair.item_ids)
        assert (satisfying.label, other.label) == (1, 0)
        assert satisfying.query == other.query == pair.query
        assert satisfying.slots == other.slots == pair.slots
        assert (pair.satisfying, pair.other) == (satisfying.response, other.response)
    assert natural_pairs(random.sample(items, len(items)), seed) == pairs


def test_touching_keeps_pairs_of_the_given_items():
    items = [Item("a", "q", "r", 1), Item("b", "q", "s", 0), Item("c", "p", "r", 1), Item("d", "p", "s", 0)]
    pairs = natural_pairs(items, 1)
    assert [pair.item_ids for pair in touching(pairs, items[1:2])] == [("a", "b")]
