"""The tree of verdicts on generated token sequences: nothing read twice, every verdict's product as by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab.engines.verdict_tree import verdict_tree

VERDICTS = st.lists(
    st.lists(st.integers(0, 2), min_size=1, max_size=4).map(tuple), min_size=1, max_size=8, unique=True
).map(tuple)


@given(VERDICTS)
def test_every_shared_prefix_is_one_node(verdicts: tuple[tuple[int, ...], ...]) -> None:
    tree = verdict_tree(verdicts)
    assert len(set(tree.paths)) == len(tree.paths)
    assert set(tree.paths) == {verdict[:length] for verdict in verdicts for length in range(len(verdict) + 1)}
    assert tree.paths[0] == ()
    for node, parent in enumerate(tree.parents, start=1):
        assert parent < node, "a node stands behind its parent"
        assert tree.paths[node] == (*tree.paths[parent], tree.tokens[node - 1])
        assert node in tree.children[parent]
    assert sum(map(len, tree.children)) == len(tree.parents)
    assert [tree.paths[end] for end in tree.ends] == list(verdicts)


@given(VERDICTS, st.randoms(use_true_random=False))
def test_a_verdict_is_the_product_along_its_path(verdicts: tuple[tuple[int, ...], ...], random: object) -> None:
    tree = verdict_tree(verdicts)
    steps = {path: random.uniform(0.01, 1) for path in sorted({v[:n] for v in verdicts for n in range(1, 5)})}
    stops = {path: random.uniform(0.01, 1) for path in [(), *steps]}
    paths = tree.paths
    found = tree.log_probabilities(
        [math.log(steps[path]) for path in paths[1:]], [math.log(stops[path]) for path in paths]
    )
    for verdict, log in zip(verdicts, found, strict=True):
        expected = math.prod(steps[verdict[:n]] for n in range(1, len(verdict) + 1)) * stops[verdict]
        assert math.exp(log) == pytest.approx(expected)


def test_a_hundred_and_one_numbers_share_their_digits() -> None:
    numbers = tuple(tuple(map(int, str(number))) for number in range(101))
    tree = verdict_tree(numbers)
    assert len(tree.tokens) == 101  # ten digits, ninety second digits, one third: 100 goes on from 10
    assert sum(map(len, numbers)) == 193
