"""Prefix groups on generated prompts: a partition, true prefixes, bounded batches."""

from hypothesis import given
from hypothesis import strategies as st

from judgelab.engines.prefixes import batches, common_prefix, prefix_groups, shared_length

TOKEN = st.integers(0, 2)
PROMPTS = st.lists(st.lists(TOKEN, min_size=1, max_size=9), min_size=1, max_size=12)


@given(PROMPTS, st.integers(1, 5))
def test_every_prompt_is_in_one_group_whose_prefix_it_has(prompts: list[list[int]], largest: int) -> None:
    groups = prefix_groups(prompts, largest)
    assert sorted(index for group in groups for index in group.members) == list(range(len(prompts)))
    for group in groups:
        assert 1 <= len(group.members) <= largest
        lead = prompts[group.members[0]][: group.length]
        for index in group.members:
            assert prompts[index][: group.length] == lead
            assert len(prompts[index]) > group.length >= shared_length(prompts)


@given(PROMPTS, st.integers(1, 5))
def test_batches_keep_every_group_within_the_limit(prompts: list[list[int]], largest: int) -> None:
    groups = prefix_groups(prompts, largest)
    packed = batches(groups, largest)
    assert [group for batch in packed for group in batch] == groups
    assert all(1 <= sum(len(group.members) for group in batch) <= largest for batch in packed)


@given(PROMPTS)
def test_the_shared_length_is_the_longest_that_leaves_a_token(prompts: list[list[int]]) -> None:
    shared = shared_length(prompts)
    assert all(prompt[:shared] == prompts[0][:shared] for prompt in prompts)
    shortest = min(map(len, prompts))
    if shared < shortest - 1:
        assert len({prompt[shared] for prompt in prompts}) > 1


def test_formats_of_one_item_form_a_group() -> None:
    rubric, first, second = [0] * 5, [1, 2, 3, 4], [5, 6, 7, 8]
    prompts = [[*rubric, *item, end] for end in (10, 11, 12) for item in (first, second)]
    groups = prefix_groups(prompts, 8)
    assert [(group.length, group.members) for group in groups] == [(9, (0, 2, 4)), (9, (1, 3, 5))]


def test_common_prefix_of_a_prompt_and_its_beginning() -> None:
    assert common_prefix([1, 2, 3], [1, 2]) == 2
    assert common_prefix([], [1]) == 0
