"""Top choices against enumeration of every tie-break."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab.evaluation.top_choice import position_rates, selection_chances, top_choice, top_tied

NAN = float("nan")
VALUE = st.sampled_from([0.0, 0.5, 1.0, NAN])
POOL = st.lists(st.lists(st.tuples(VALUE, VALUE), min_size=1, max_size=5), min_size=1, max_size=6)


def _arrays(made: list[list[tuple[float, float]]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    prompts = np.array([p for p, each in enumerate(made) for _ in each])
    scores, reference = np.array([pair for each in made for pair in each]).T
    return prompts, scores, reference


def _best(values: list[float]) -> list[int]:
    known = [value for value in values if not np.isnan(value)]
    return [i for i, value in enumerate(values) if known and value == max(known)]


@given(POOL, st.randoms(use_true_random=False))
def test_top_choice_against_enumeration(made: list[list[tuple[float, float]]], random: object) -> None:
    prompts, scores, reference = _arrays(made)
    keys = np.array(random.sample(range(1000), len(prompts)), dtype=np.int64)
    found = top_choice(prompts, scores, reference, keys)
    expected, drawn, uniform, start = [], [], [], 0
    for each in made:
        judged, truth = _best([s for s, _ in each]), _best([r for _, r in each])
        if judged and truth:
            expected.append(np.mean([i in truth for i in judged]))
            drawn.append(min(judged, key=lambda i: keys[start + i]) in truth)
            uniform.append(len(truth) / len(each))
        start += len(each)
    assert found.prompts == len(expected)
    for value, values in ((found.expected, expected), (found.drawn, drawn), (found.uniform, uniform)):
        assert value == (pytest.approx(np.mean(values)) if values else None)
    assert found.unscored == sum(not _best([s for s, _ in each]) for each in made)
    assert found.without_reference == sum(not _best([r for _, r in each]) for each in made)


@given(POOL)
def test_tied_tops_and_chances(made: list[list[tuple[float, float]]]) -> None:
    prompts, scores, _ = _arrays(made)
    tops = [_best([s for s, _ in each]) for each in made]
    judged = [len(top) > 1 for top in tops if top]
    assert top_tied(prompts, scores) == ((pytest.approx(np.mean(judged)) if judged else None), len(judged))
    chances = [1 / len(top) if i in top else 0 for each, top in zip(made, tops, strict=True) for i in range(len(each))]
    assert selection_chances(prompts, scores) == pytest.approx(chances)


def test_an_unscored_best_candidate_is_a_miss() -> None:
    keys = np.arange(2)
    found = top_choice(np.zeros(2, dtype=int), np.array([NAN, 0.2]), np.array([5.0, 1.0]), keys)
    assert (found.expected, found.drawn) == (0, 0)


def test_position_rates_by_number_of_candidates() -> None:
    prompts = np.array([0, 0, 1, 1, 2, 2, 2, 3])
    positions = np.array([0, 1, 0, 1, 0, 1, 2, 0])
    two, three = position_rates(prompts, positions, np.array([1.0, 0.0, 0.5, 0.5, NAN, 0.1, 0.9, 1.0]))
    assert (two.candidates, two.prompts, two.rates) == (2, 2, (0.75, 0.25))
    assert (three.candidates, three.prompts, three.rates) == (3, 1, (0, 0, 1))
