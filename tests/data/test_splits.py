from collections import Counter, defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab.data.records import Item, Pair, Pool
from judgelab.data.source import DataSource, SplitUnit
from judgelab.data.splits import Splits, balance, check_settings, guard, limit, settle, split, unique_texts
from judgelab.errors import ConfigError, DataError


@st.composite
def item_lists(draw):
    labels = draw(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 6)), max_size=40))
    return [Item(f"i{n}", f"query {q}", f"response {n}", label) for n, (label, q) in enumerate(labels)]


seeds = st.integers(0, 2**32)
units = st.sampled_from(list(SplitUnit))


def ids(items):
    return [item.item_id for item in items]


@given(item_lists(), seeds, st.randoms())
def test_balance_keeps_all_of_the_minority_and_ignores_row_order(items, seed, random):
    kept, dropped = balance(items, seed)
    counts = Counter(item.label for item in items)
    minority = min(counts[0], counts[1])
    assert Counter(item.label for item in kept) == Counter({0: minority, 1: minority})
    assert dropped == len(items) - 2 * minority
    shuffled = random.sample(items, len(items))
    assert balance(shuffled, seed) == (kept, dropped)


@given(item_lists(), seeds, st.integers(2, 30))
def test_limit_is_balanced_and_grows_by_adding(items, seed, size):
    kept = limit(items, size, seed)
    counts = Counter(item.label for item in items)
    assert len(kept) == 2 * min(size // 2, counts[0], counts[1])
    assert len({item.item_id for item in kept if item.label}) * 2 == len(kept)
    assert set(ids(kept)) <= set(ids(limit(items, size + 3, seed)))


@given(item_lists(), units, seeds, st.randoms())
def test_split_is_a_partition_in_whole_units_that_ignores_row_order(items, unit, seed, random):
    parts = split(items, unit, (0.3, 0.2), seed)
    assert sorted(ids(parts.train + parts.validation + parts.test)) == sorted(ids(items))
    if unit is SplitUnit.query:
        queries = [{item.query for item in part} for part in parts]
        assert sum(map(len, queries)) == len(set.union(*queries))
    assert split(random.sample(items, len(items)), unit, (0.3, 0.2), seed) == parts


@given(item_lists(), units, seeds, seeds)
def test_split_sizes_do_not_depend_on_the_seed(items, unit, seed, other):
    def sizes(s):
        return [Counter(item.label for item in part) for part in split(items, unit, (0.3, 0.2), s)]

    assert sizes(seed) == sizes(other)


def test_split_sizes_are_the_fractions_of_each_label():
    items = [Item(f"i{n}", "q", str(n), int(n < 40)) for n in range(100)]
    parts = split(items, SplitUnit.item, (0.3, 0.1), 42)
    assert [Counter(item.label for item in part) for part in parts] == [
        {1: 24, 0: 36},
        {1: 4, 0: 6},
        {1: 12, 0: 18},
    ]


def test_another_seed_moves_items():
    items = [Item(f"i{n}", "q", str(n), n % 2) for n in range(40)]
    tests = {frozenset(ids(split(items, SplitUnit.item, (0.3, 0.1), seed).test)) for seed in range(5)}
    assert len(tests) == 5


texts = st.sampled_from("abc")


@given(st.lists(st.tuples(texts, texts, st.integers(0, 1)), max_size=20), st.randoms())
def test_unique_texts_agrees_with_brute_force(rows, random):
    items = [Item(f"i{n:02}", q, r, label) for n, (q, r, label) in enumerate(rows)]
    groups = defaultdict(list)
    for item in items:
        groups[item.query, item.response].append(item)
    clean = [group for group in groups.values() if len({item.label for item in group}) == 1]
    kept, repeats, conflicting = unique_texts(random.sample(items, len(items)))
    assert sorted(ids(kept)) == sorted(group[0].item_id for group in clean)
    assert conflicting == sum(len(g) for g in groups.values() if g not in clean)
    assert len(kept) + repeats + conflicting == len(items)


def test_settle_balances_limits_and_counts_every_drop():
    parts = Splits(*(tuple(Item(f"{p}{n}", "q", f"{p}{n}", int(n < 3)) for n in range(10)) for p in "abc"))
    settled, counts = settle(parts, DataSource(name="x", limit=4), 42)
    assert [Counter(item.label for item in part) for part in settled] == [{0: 2, 1: 2}] * 3
    assert counts == {"dropped_for_balance": 12, "dropped_for_limit": 6}


def test_settle_refuses_a_split_that_lacks_a_label():
    both = (Item("a", "q", "r", 0), Item("b", "q", "s", 1))
    with pytest.raises(DataError, match=r"data=x \(p\): the test split has 2 items with label 1 and 0 with label 0"):
        settle(
            Splits(both, (), (Item("c", "q", "t", 1), Item("d", "q", "u", 1))),
            DataSource(name="x", path="p"),
            1,
        )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"test_fraction": 1.0}, "data.test_fraction=1.0: expected"),
        ({"validation_fraction": -0.1}, "data.validation_fraction=-0.1: expected"),
        ({"test_fraction": 0.6, "validation_fraction": 0.4}, "leave nothing to train on"),
        ({"limit": 1}, "data.limit=1: expected null or at least 2"),
    ],
)
def test_settings_that_cannot_be_met_name_their_key(settings, message):
    with pytest.raises(ConfigError, match=message):
        check_settings(DataSource(name="x", **settings))


TRAIN, VALIDATION, TEST = (Item(name, "q", f"response {name}", 1) for name in ("train", "validation", "test"))


def pool(train=(TRAIN,), validation=(VALIDATION,), test=(TEST,), train_pairs=(), validation_pairs=()):
    return Pool(train, validation, test, train_pairs, validation_pairs, {}, {})


def pair(satisfying, other="else", item_ids=("train",), query="q"):
    return Pair("pair 7", query, satisfying, other, item_ids)


def copy_of(item, item_id):
    return Item(item_id, item.query, item.response, item.label)


@pytest.mark.parametrize(
    ("leaky", "message"),
    [
        (pool(train=(TRAIN, TEST)), "^f, row 3 .'test'.: this test item is also the training item f, row 3"),
        (
            pool(train=(copy_of(TEST, "train"),)),
            "^f, row 3 .*also the training item f, row 1 .'train'.; remove one",
        ),
        (pool(validation=(copy_of(TEST, "validation"),)), "^f, row 3 .*also the training item f, row 2"),
        (
            pool(train=(copy_of(VALIDATION, "train"),)),
            "^f, row 2 .*this validation item is also .*split_unit=query",
        ),
        (
            pool(train_pairs=(pair(TEST.response),)),
            "^f, row 3 .*test item is part of the training pair 'pair 7' .*row 1",
        ),
        (pool(train_pairs=(pair("a", TEST.response),)), "^f, row 3 .*part of the training pair 'pair 7'"),
        (
            pool(train_pairs=(pair("a", item_ids=("train", "test")),)),
            "^f, row 3 .*part of the training pair 'pair 7'",
        ),
        (
            pool(validation_pairs=(pair(TEST.response, item_ids=("validation",)),)),
            "^f, row 3 .*'pair 7' .*row 2",
        ),
        (
            pool(train_pairs=(pair(VALIDATION.response),)),
            "^f, row 2 .*validation item is part .*split_unit=query",
        ),
    ],
)
def test_guard_names_what_leaks_with_file_and_row(leaky, message):
    places = {"train": "f, row 1", "validation": "f, row 2", "test": "f, row 3"}
    with pytest.raises(DataError, match=message):
        guard(leaky, places)


def test_guard_passes_disjoint_splits_and_the_same_reply_to_another_query():
    train = Item("train", "another query", TEST.response, 1)
    pairs = (pair(TEST.response, query="another query"),)
    guard(pool(train=(train,), train_pairs=pairs, validation_pairs=(pair(VALIDATION.response),)), {})
