"""Who sits beside whom: every comparison once per order, the anchor of the paper, draws by id and seed alone."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab.config.schema import Comparison, FormatConfig, Schedule
from judgelab.data.candidates import Candidate, PoolPrompt
from judgelab.errors import DataError
from judgelab.scoring.schedule import anchor, judgments, without_anchor


def _prompt(references: list[float | None]) -> PoolPrompt:
    candidates = tuple(Candidate(f"c{i}", "p", f"text {i}", reference) for i, reference in enumerate(references))
    return PoolPrompt("p", "a question", candidates)


REFERENCES = st.lists(st.one_of(st.none(), st.integers(1, 5).map(float)), min_size=1, max_size=6)


@given(REFERENCES)
def test_alone_every_candidate_is_judged_once(references: list[float | None]) -> None:
    found = list(judgments(_prompt(references), Comparison.none, Schedule.both, 1))
    assert [j.response.candidate_id for j in found] == [f"c{i}" for i in range(len(references))]
    assert all(j.other is None and j.order is None for j in found)


@given(REFERENCES, st.integers(0, 50))
def test_all_pairs_meet_once_per_order(references: list[float | None], seed: int) -> None:
    prompt = _prompt(references)
    pairs = set(combinations([c.candidate_id for c in prompt.candidates], 2))
    listing = [(a, b) for a, b, _ in _all_pairs(prompt, Schedule.listing, seed)]
    both = [(a, b) for a, b, _ in _all_pairs(prompt, Schedule.both, seed)]
    balanced = [frozenset((a, b)) for a, b, _ in _all_pairs(prompt, Schedule.balanced, seed)]
    assert sorted(listing) == sorted(pairs)
    assert sorted(both) == sorted(pairs | {(b, a) for a, b in pairs})
    assert len(balanced) == len(pairs)
    assert set(balanced) == set(map(frozenset, pairs))


def _all_pairs(prompt: PoolPrompt, schedule: Schedule, seed: int) -> list[tuple[str, str, str]]:
    found = judgments(prompt, Comparison.all_pairs, schedule, seed)
    return [(j.response.candidate_id, j.other.candidate_id, j.order) for j in found]


def test_the_anchor_is_the_upper_middle_and_ties_keep_listing_order() -> None:
    assert anchor(_prompt([4.0, 1.0, 3.0, 2.0])).candidate_id == "c2"  # ascending 1 2 3 4, index 2
    assert anchor(_prompt([2.0, 2.0, 2.0])).candidate_id == "c1"
    assert anchor(_prompt([None, 5.0])).candidate_id == "c1"
    assert anchor(_prompt([7.0])).candidate_id == "c0"


def test_anchored_judgments_include_the_anchor_beside_itself() -> None:
    prompt = _prompt([4.0, 1.0, 3.0, 2.0])
    listing = list(judgments(prompt, Comparison.anchor, Schedule.listing, 0))
    assert [(j.response.candidate_id, j.other.candidate_id) for j in listing] == [
        ("c0", "c2"), ("c1", "c2"), ("c2", "c2"), ("c3", "c2"),
    ]  # fmt: skip
    both = list(judgments(prompt, Comparison.anchor, Schedule.both, 0))
    assert [(j.order, j.response.candidate_id, j.other.candidate_id) for j in both[:2]] == [
        ("listing", "c0", "c2"),
        ("reverse", "c2", "c0"),
    ]


FORMATS = {
    "mine": FormatConfig("anchored", "", "verdict", {"0": 0.5}, Comparison.anchor),
    "binary": FormatConfig("binary", "", "verdict", {"ACCEPT": 1.0}),
}


def test_a_prompt_without_references_has_no_anchor_and_is_left_out_of_that_format_alone() -> None:
    bare, rated = _prompt([None, None]), _prompt([None, 2.0])
    assert anchor(bare) is None
    assert list(judgments(bare, Comparison.anchor, Schedule.both, 0)) == []
    assert len(list(judgments(bare, Comparison.none, Schedule.both, 0))) == 2
    assert without_anchor([bare, rated, bare], FORMATS) == {"anchored": 2}
    assert without_anchor([rated], FORMATS) == {"anchored": 0}


def test_a_pool_without_references_is_refused_where_a_format_needs_them() -> None:
    pool = [_prompt([None, None]), _prompt([None])]
    with pytest.raises(DataError, match=r"no candidate of the pool .*'~format@formats\.mine'"):
        without_anchor(pool, FORMATS)
    assert without_anchor(pool, {"binary": FORMATS["binary"]}) == {}


def test_a_drawn_order_depends_on_ids_and_seed_alone() -> None:
    prompt = _prompt([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    fewer = PoolPrompt("other", "another question", prompt.candidates[:3])
    drawn = {frozenset((a, b)): order for a, b, order in _all_pairs(prompt, Schedule.balanced, 3)}
    for a, b, order in _all_pairs(fewer, Schedule.balanced, 3):
        assert drawn[frozenset((a, b))] == order
    orders = [order for seed in range(40) for *_, order in _all_pairs(prompt, Schedule.balanced, seed)]
    assert 0.4 < orders.count("listing") / len(orders) < 0.6
