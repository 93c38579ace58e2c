from collections import Counter, defaultdict
from statistics import mean

import pytest
from scipy.stats import spearmanr

from judgelab.data.pool_sample import PoolSample
from judgelab.data.sample import SampleSource
from judgelab.errors import ConfigError, DataError


def bundled(**settings):
    return PoolSample(name="pool_sample", **settings).load(42)


def candidates():
    return [candidate for prompt in bundled().prompts for candidate in prompt.candidates]


def test_thirty_prompts_have_four_candidates_each_and_nothing_is_left_out():
    pool = bundled()
    assert len(pool.prompts) == 30
    assert {len(prompt.candidates) for prompt in pool.prompts} == {4}
    assert set(pool.counts.values()) == {0}
    assert list(pool.inputs) == ["judgelab/data/samples/pool.jsonl"]


def test_texts_are_short_enough_for_a_small_judge_and_all_different():
    assert all(len(prompt.text.split()) <= 25 for prompt in bundled().prompts)
    words = [len(candidate.text.split()) for candidate in candidates()]
    assert (min(words) >= 20, max(words) <= 70) == (True, True)
    assert len({candidate.text for candidate in candidates()}) == 120
    assert len({candidate.candidate_id for candidate in candidates()}) == 120


def test_references_are_whole_ratings_from_1_to_10_with_some_ties():
    ratings = [candidate.reference for candidate in candidates()]
    assert {1, 10} <= set(ratings) <= set(range(1, 11))
    tops = [Counter(c.reference for c in prompt.candidates) for prompt in bundled().prompts]
    assert sum(len(top) < 4 for top in tops) >= 5
    assert sum(top[max(top)] > 1 for top in tops) >= 3


def test_neither_length_nor_place_in_the_listing_tells_the_rating():
    ratings = [candidate.reference for candidate in candidates()]
    assert abs(spearmanr([len(candidate.text) for candidate in candidates()], ratings).statistic) < 0.2
    places = [place for prompt in bundled().prompts for place in range(4)]
    assert abs(spearmanr(places, ratings).statistic) < 0.2


def test_the_writers_differ_but_none_is_always_best():
    by_writer = defaultdict(list)
    for prompt in bundled().prompts:
        best = max(candidate.reference for candidate in prompt.candidates)
        for candidate in prompt.candidates:
            by_writer[candidate.model].append((candidate.reference, candidate.reference == best))
    assert sorted(by_writer) == ["writer-a", "writer-b", "writer-c", "writer-d"]
    means = [mean(rating for rating, _ in by_writer[writer]) for writer in sorted(by_writer)]
    assert means == sorted(means, reverse=True)
    assert all(0 < sum(best for _, best in each) < 30 for each in by_writer.values())


def test_limit_and_held_out_draw_from_it_and_another_file_is_refused():
    pool = bundled(limit=8, held_out=5)
    assert (len(pool.prompts), len(pool.held_out)) == (8, 5)
    with pytest.raises(ConfigError, match=r"data.path=mine.jsonl: data=pool_sample is bundled; use data=candidates_f"):
        bundled(path="mine.jsonl")


def test_the_pool_is_not_offered_as_the_labelled_sample_of_a_criterion():
    with pytest.raises(DataError, match=r"no bundled sample for criterion 'pool', only for ainess, .*tool_parameters;"):
        SampleSource(name="sample").load("pool", (), 42)
