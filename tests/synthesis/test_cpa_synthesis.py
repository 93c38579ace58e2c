"""CPA's loop with models whose answers are known: what is accepted, fed back, dropped, and who gives reasons."""

from dataclasses import replace

import pytest

from judgelab.config.compose import compose_config, typed
from judgelab.config.schema import SynthesisRoot
from judgelab.data.records import Item, Pool
from judgelab.errors import ConfigError, DataError
from judgelab.synthesis.counterfactuals import Outcome, check_offered
from judgelab.synthesis.cpa_rows import attempt_rows, training_row
from judgelab.synthesis.cpa_synthesis import Synthesis, synthesize
from tests.synthesis.scripted import Script, Scripted

CONFIG = typed(compose_config("score", ["experiment=cpa_synthesize", "criterion=hallucination", "hardware=cpu"]))
assert isinstance(CONFIG, SynthesisRoot)
GOOD, BAD = "whoever asks about this will find the answer good", "whoever asks about this will find the answer bad"
ITEMS = tuple(
    Item(f"i{n}", f"query {n}", f"{GOOD if n % 2 else BAD} in case {n}", n % 2, {"context": f"context {n}"})
    for n in range(10)
)
POOL = Pool(ITEMS[:6], ITEMS[6:8], ITEMS[8:], (), (), {}, {})


def responses(prompt: str) -> list[str]:
    """The text under each response heading of a prompt."""
    parts = prompt.split("## Response ")[1:]
    return [part[2:].split("\n\n")[0].strip() for part in parts]


def flip(prompt: str, draw: int) -> str:
    text = responses(prompt)[0]
    return text.replace(GOOD, "#").replace(BAD, GOOD).replace("#", BAD)


def by_content(prompt: str, draw: int) -> str:
    """Names the good response, and judges a single one right."""
    shown = responses(prompt)
    if len(shown) == 1:
        return f'Case {draw} decides.\n{{"score": {int(GOOD in shown[0])}}}'
    return f'It says good, for the {draw}th time. {{"winner": "{"A" if GOOD in shown[0] else "B"}"}}'


def silent(prompt: str, draw: int) -> str:
    return "Hm."


def made(synthesizer: Script, auditor: Script, student: Script = silent, **settings: int) -> tuple[Synthesis, dict]:
    root = replace(CONFIG, synthesis=replace(CONFIG.synthesis, **settings))
    scripts = {"synthesizer": synthesizer, "auditor": auditor, "student": student}
    roles = {name: Scripted(script) for name, script in scripts.items()}
    return synthesize(POOL, root, roles), roles


def test_an_auditor_that_agrees_accepts_every_pair_at_once() -> None:
    done, roles = made(flip, by_content)
    counts = done.counts()
    assert (counts["items"], counts["pairs_accepted"], counts["attempts_accepted"]) == (8, 8, 8)
    assert len(done.attempts) == 8
    for item in done.items:
        assert done.pairs[item.item_id].text == flip(f"## Response A\n{item.response}\n\n", 0)
        assert done.pairs[item.item_id].verdicts == (("A", "B") if item.label else ("B", "A"))
    assert all("context" in prompt and "## Context" in prompt for prompt, _ in roles["synthesizer"].asked)


def test_an_auditor_that_always_says_a_accepts_nothing() -> None:
    done, _ = made(flip, lambda prompt, draw: '{"winner": "A"}')
    counts = done.counts()
    assert (counts["pairs_accepted"], counts["pairs_dropped"], counts["attempts_refuted"]) == (0, 8, 8 * 4)


def test_an_auditor_that_prefers_the_wrong_text_in_both_orders_accepts_nothing() -> None:
    def contrary(prompt: str, draw: int) -> str:
        return by_content(prompt, draw).translate(str.maketrans("AB", "BA"))

    assert made(flip, contrary)[0].counts()["attempts_refuted"] == 32


def test_an_auditor_that_cannot_be_read_drops_the_pair_and_keeps_the_item() -> None:
    done, _ = made(flip, silent, by_content)
    counts = done.counts()
    assert (counts["attempts_unreadable"], counts["pairs_dropped"]) == (32, 8)
    assert counts["rationales_student"] == 16
    row = training_row(done.items[0], None, done.rationales["i0"], None)
    assert (row["counterfactual"], row["pair_rationales"]) == (None, None)
    assert len(row["rationales"]) == 2


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("", Outcome.empty),
        ("  \n", Outcome.empty),
        ("<think>open", Outcome.empty),
        ("UNCHANGED", Outcome.unchanged),
        ("Die Antwort ist in diesem Fall ganz und gar richtig und gut.", Outcome.other_language),
        ("这个回答在这种情况下是好的", Outcome.other_language),
    ],
)
def test_a_text_that_cannot_be_a_counterfactual_is_never_audited(text: str, outcome: Outcome) -> None:
    def same_case(prompt: str, draw: int) -> str:
        return text.replace("UNCHANGED", responses(prompt)[0].upper().replace(" ", "  "))

    done, roles = made(same_case, by_content)
    counts = done.counts()
    assert counts[f"attempts_{outcome.name}"] == 32
    assert not any("Response B" in prompt for prompt, _ in roles["auditor"].asked)


def test_the_reason_is_fed_back_and_a_better_try_is_accepted() -> None:
    def third_time(prompt: str, draw: int) -> str:
        return flip(prompt, draw) if draw == 2 else ["", responses(prompt)[0]][draw]

    done, roles = made(third_time, by_content)
    assert {pair.number for pair in done.pairs.values()} == {3}
    outcomes = [a.outcome for a in done.attempts if a.item_id == "i3"]
    assert outcomes == [Outcome.empty, Outcome.unchanged, Outcome.accepted]
    asked = [prompt for prompt, draw in roles["synthesizer"].asked if "query 3\n" in prompt]
    assert [("it is empty" in p, "says the same as Response A" in p) for p in asked] == [
        (False, False),
        (True, False),
        (False, True),
    ]
    rows = attempt_rows(done.attempts, {item.item_id: item for item in done.items})
    assert [row["outcome"] for row in rows[:3]] == ["empty", "unchanged", "accepted"]
    assert (rows[0]["verdict_response_first"], rows[2]["verdict_response_first"]) == (None, "B")


def test_a_reply_that_broke_off_is_cut() -> None:
    roles = {
        "synthesizer": Scripted(flip, truncated=True),
        "auditor": Scripted(by_content),
        "student": Scripted(silent),
    }
    assert synthesize(POOL, CONFIG, roles).counts()["attempts_cut"] == 32


def test_rationales_are_the_students_first_and_distinct_ones_only() -> None:
    def half(prompt: str, draw: int) -> str:
        # Right for good responses, always in the same words; for bad ones never.
        return 'Always so.\n{"score": 1}' if len(responses(prompt)) == 1 else "Hm."

    done, roles = made(flip, by_content, half)
    for item in done.items:
        found = [(each.text, each.writer) for each in done.rationales[item.item_id]]
        own = [("Always so.", "student"), ("Case 0 decides.", "auditor")]
        assert found == (own if item.label else [("Case 0 decides.", "auditor"), ("Case 1 decides.", "auditor")])
    assert all(
        pair == tuple(pair) and {each.writer for each in pair if each} == {"auditor"}
        for pair in done.pair_rationales.values()
    )
    assert sum(len(responses(prompt)) == 1 for prompt, _ in roles["student"].asked) == 8 * CONFIG.synthesis.draws


def test_pair_rationales_belong_to_their_order() -> None:
    def named(prompt: str, draw: int) -> str:
        shown = responses(prompt)
        if len(shown) == 1:
            return "Hm."
        winner = "A" if GOOD in shown[0] else "B"
        return f'{winner} is good. {{"winner": "{winner}"}}'

    done, _ = made(flip, by_content, named)
    for first, second in done.pair_rationales.values():
        assert first and second
        assert (first.text, second.text, first.writer) == ("A is good.", "B is good.", "student")


def test_a_rationale_needs_the_right_verdict_and_a_text_before_it() -> None:
    for reply in ('{"score": 1}', "1", 'Wrong.\n{"score": 7}', "Good.\n1"):
        done, _ = made(flip, silent, lambda prompt, draw, reply=reply: reply)
        assert done.counts()["items_without_rationale"] == 8


def test_items_of_the_test_split_are_refused() -> None:
    with pytest.raises(DataError, match=r"item 'i8' is in the test split: .*training items only"):
        check_offered([*POOL.train, ITEMS[8]], POOL.test)
    with pytest.raises(DataError, match=r"item 'other' is in the test split"):
        check_offered([replace(ITEMS[8], item_id="other")], POOL.test)


def test_settings_out_of_range_name_the_key() -> None:
    for key, value in {"attempts": 0, "draws": 0, "rationales": -1}.items():
        with pytest.raises(ConfigError, match=rf"synthesis\.{key}={value}: expected at least"):
            made(flip, by_content, **{key: value})


def test_a_criterion_whose_slot_the_items_lack_is_refused() -> None:
    bare = replace(POOL, train=tuple(replace(item, slots={}) for item in POOL.train))
    roles = {name: Scripted(silent) for name in ("synthesizer", "auditor", "student")}
    with pytest.raises(DataError, match="shows the slot 'context'"):
        synthesize(bare, CONFIG, roles)
