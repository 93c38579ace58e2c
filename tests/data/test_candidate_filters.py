import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab.data.candidate_filters import hold_out, limited, pool_of, within_length
from judgelab.data.candidate_rows import schema_row
from judgelab.data.candidates import Candidate, CandidateSource, PoolPrompt
from judgelab.data.rows import Row, Table
from judgelab.errors import ConfigError, DataError

texts = st.text("ab 🦜\u0301\n", max_size=12)
seeds = st.integers(0, 2**31)


def prompt(prompt_id, *responses):
    candidates = (Candidate(f"{prompt_id}:{n}", prompt_id, text) for n, text in enumerate(responses))
    return PoolPrompt(prompt_id, f"prompt {prompt_id}", tuple(candidates))


def prompts(size):
    return [prompt(f"p{n}", f"a response to {n}") for n in range(size)]


@given(st.lists(st.lists(texts, max_size=4), max_size=6), st.integers(0, 8), st.integers(0, 12))
def test_the_length_filter_agrees_with_a_plain_count(responses, least, most):
    given_prompts = [prompt(str(n), *group) for n, group in enumerate(responses)]
    kept, counts = within_length(given_prompts, least, most)
    everything = [text for group in responses for text in group]
    said = [text for text in everything if text.strip()]
    staying = [[t for t in group if t.strip() and least <= len(list(t)) <= most] for group in responses]
    assert [[c.text for c in p.candidates] for p in kept] == [group for group in staying if group]
    short = sum(len(list(t)) < least for t in said)
    assert counts == {
        "dropped_blank_responses": len(everything) - len(said),
        "dropped_short_responses": short,
        "dropped_long_responses": sum(least <= len(list(t)) and len(list(t)) > most for t in said),
        "dropped_prompts_without_candidates": sum(not group for group in staying),
    }


def test_limits_are_included_and_counted_in_code_points_not_bytes():
    kept, counts = within_length([prompt("p", "é" * 3, "🦜" * 4, "x" * 5, "x" * 6, "x" * 7)], 4, 6)
    assert [candidate.text for candidate in kept[0].candidates] == ["🦜" * 4, "x" * 5, "x" * 6]
    assert (counts["dropped_short_responses"], counts["dropped_long_responses"]) == (1, 1)


def test_a_lone_candidate_is_enough_and_blank_ones_go_whatever_the_limits():
    kept, counts = within_length([prompt("one", "x"), prompt("none", " \n", "")], 0, 9)
    assert [p.prompt_id for p in kept] == ["one"]
    assert (counts["dropped_blank_responses"], counts["dropped_prompts_without_candidates"]) == (2, 1)


@given(st.integers(0, 30), st.integers(0, 40), st.integers(1, 40) | st.none(), seeds, st.randoms())
def test_draws_do_not_depend_on_row_order_and_are_disjoint(size, held, most, seed, rng):
    ordered = prompts(size)
    shuffled = rng.sample(ordered, size)
    held_out, rest = hold_out(ordered, held, seed)
    assert (held_out, rest) == hold_out(shuffled, held, seed)
    assert Counter(p.prompt_id for p in held_out + rest) == Counter(p.prompt_id for p in ordered)
    assert len(held_out) == min(held, size)
    kept = limited(rest, most, seed)
    assert kept == limited(rest[::-1], most, seed)
    assert len(kept) == (len(rest) if most is None else min(most, len(rest)))


@given(st.integers(1, 30), st.integers(1, 29), seeds)
def test_a_larger_draw_keeps_what_a_smaller_one_had(size, most, seed):
    assert limited(prompts(size), most + 1, seed)[:most] == limited(prompts(size), most, seed)
    assert hold_out(prompts(size), most + 1, seed)[0][:most] == hold_out(prompts(size), most, seed)[0]


def test_every_prompt_is_held_out_about_as_often_as_any_other():
    drawn = Counter(p.prompt_id for seed in range(2000) for p in hold_out(prompts(10), 3, seed)[0])
    assert all(abs(drawn[f"p{n}"] - 600) < 5 * (2000 * 0.3 * 0.7) ** 0.5 for n in range(10))


def test_the_two_draws_of_one_seed_are_not_the_same_draw():
    held = {p.prompt_id for p in hold_out(prompts(100), 50, 1)[0]}
    first = {p.prompt_id for p in limited(prompts(100), 50, 1)}
    assert held != first


def rows():
    return [
        {
            "prompt_id": f"p{p}",
            "prompt": f"question {p}",
            "candidate_id": f"p{p}-{c}",
            "response": f"response {c} to question {p}",
            "reference": c,
            "model": f"model {c}",
        }
        for p in range(6)
        for c in range(3)
    ]


def load(values, seed=42, skipped=None, **settings):
    table = Table("pool.jsonl", "sha", tuple(Row("pool.jsonl", n, value) for n, value in enumerate(values, start=1)))
    source = replace(CandidateSource(name="any", min_characters=1), **settings)
    return pool_of(source, [table], [schema_row(row) for row in table.rows], skipped or {}, seed)


@given(seeds, st.integers(0, 5), st.integers(1, 6) | st.none(), st.randoms())
def test_a_pool_is_the_same_when_the_blocks_of_prompts_come_in_another_order(seed, held_out, limit, rng):
    blocks = [rows()[3 * n : 3 * n + 3] for n in range(6)]
    shuffled = [row for block in rng.sample(blocks, 6) for row in block]
    assert load(shuffled, seed, held_out=held_out, limit=limit) == load(rows(), seed, held_out=held_out, limit=limit)


def test_any_row_order_gives_the_same_prompts_with_the_same_candidates():
    shuffled = random.Random(3).sample(rows(), 18)
    before, after = load(rows(), held_out=2, limit=3), load(shuffled, held_out=2, limit=3)
    for part in ("prompts", "held_out"):
        assert [(p.prompt_id, set(p.candidates)) for p in getattr(before, part)] == [
            (p.prompt_id, set(p.candidates)) for p in getattr(after, part)
        ]
    assert before.counts == after.counts


def test_candidates_stand_in_row_order_with_their_reference_and_model():
    first = next(p for p in load(rows()).prompts if p.prompt_id == "p1")
    assert first.text == "question 1"
    assert [(c.candidate_id, c.prompt_id, c.reference, c.model) for c in first.candidates] == [
        (f"p1-{n}", "p1", float(n), f"model {n}") for n in range(3)
    ]


def test_everything_left_out_is_counted():
    values = rows()
    values[0]["response"], values[1]["response"], values[4]["response"] = "  ", "short", "x" * 50
    values[7]["reference"], values[8]["reference"] = float("nan"), "N/A"
    values += [values[5], values[5] | {"reference": "2.0"}]
    values += [values[0] | {"prompt_id": "alone", "prompt": "no answer", "candidate_id": "alone-0"}]
    pool = load(values, min_characters=10, max_characters=40, skipped={"skipped_rows": 7})
    assert pool.counts == {
        "dropped_duplicate_rows": 2,
        "dropped_blank_responses": 2,
        "dropped_short_responses": 1,
        "dropped_long_responses": 1,
        "dropped_prompts_without_candidates": 1,
        "dropped_prompts_for_limit": 0,
        "candidates_without_reference": 2,
        "skipped_rows": 7,
    }
    assert sum(len(p.candidates) for p in pool.prompts) == 18 - 3
    assert pool.inputs == {"pool.jsonl": "sha"}


def test_held_out_prompts_are_beside_the_limit_not_inside_it():
    pool = load(rows(), held_out=2, limit=3)
    assert (len(pool.held_out), len(pool.prompts), pool.counts["dropped_prompts_for_limit"]) == (2, 3, 1)
    assert load(rows(), held_out=2).held_out == pool.held_out
    assert not {p.prompt_id for p in pool.held_out} & {p.prompt_id for p in pool.prompts}


EMPTY = {
    "short": ({"min_characters": 99}, "no candidate is left; data.min_characters=99 dropped 18$"),
    "long": ({"max_characters": 9}, "no candidate is left; data.max_characters=9 dropped 18$"),
    "both": (
        {"min_characters": 25, "max_characters": 28},
        "data.min_characters=25 dropped 9 and data.max_characters=28 dropped 9$",
    ),
    "held out": ({"held_out": 6}, "data.held_out=6 takes all 6 prompts; set data.held_out below 6"),
}


@pytest.mark.parametrize(("settings", "message"), EMPTY.values(), ids=EMPTY)
def test_a_pool_without_prompts_names_the_filter(settings, message):
    values = [row | {"response": "x" * (30 if n % 2 else 20)} for n, row in enumerate(rows())]
    with pytest.raises(DataError, match=rf"pool.jsonl: .*{message}"):
        load(values, **settings)


def test_a_pool_of_blank_responses_or_none_says_so():
    with pytest.raises(DataError, match=r"pool.jsonl: no candidate is left; the filter of blank responses dropped 18"):
        load([row | {"response": "\t"} for row in rows()])
    with pytest.raises(DataError, match=r"no candidate is left; no prompt has a candidate"):
        load([])


BAD_SETTINGS = {
    "limits": ({"min_characters": 9, "max_characters": 8}, "data.min_characters=9 is above data.max_characters=8"),
    "limit": ({"limit": 0}, "data.limit=0: expected null or at least 1"),
    "held out": ({"held_out": -1}, "data.held_out=-1: expected at least 0"),
}


@pytest.mark.parametrize(("settings", "message"), BAD_SETTINGS.values(), ids=BAD_SETTINGS)
def test_settings_out_of_range_are_named(settings, message):
    with pytest.raises(ConfigError, match=message):
        load(rows(), **settings)
