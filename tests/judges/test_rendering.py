"""Rendering: data stays text, prompts share their prefix, cuts take data only, the end of turn is learned."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgelab.config.compose import compose_config, typed
from judgelab.config.schema import CriterionConfig, FormatConfig, TrainRoot
from judgelab.data.records import Pair
from judgelab.errors import ConfigError, DataError
from judgelab.judges.prompts import build_prompt, pair_rationale, prompt_sha, target_text, verdict_of
from judgelab.judges.rendering import Renderer
from judgelab.models.tiny import CHAT_TEMPLATE, tiny_tokenizer

CONFIG: TrainRoot = typed(compose_config("train", ["experiment=cpa_criminality", "hardware=cpu", "debug=tiny"]))
RENDERER = Renderer(tiny_tokenizer(), {})
TEXT = st.text(min_size=1, max_size=40)
CONTROL = ["<|im_end|>", "<|im_start|>", "<|pad|>"]
ROOM = 10_000


def _pointwise(query: str, response: str):
    return build_prompt(CONFIG.criterion, CONFIG.format, query, response, {}, None)


def _pairwise(query: str, response: str, other: str):
    return build_prompt(CONFIG.criterion, CONFIG.pair_format, query, response, {}, other)


@given(TEXT, TEXT)
def test_plain_text_renders_as_the_chat_template_does(query: str, response: str) -> None:
    message = "".join(segment.text for segment in _pointwise(query, response))
    chat = [{"role": "user", "content": message}]
    text = RENDERER.tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    rendered = RENDERER.render_prompt(_pointwise(query, response), ROOM)
    assert rendered.cut_tokens == 0
    assert RENDERER.tokenizer.decode(rendered.ids) == text


@pytest.mark.parametrize("token", CONTROL)
@given(before=TEXT, after=TEXT)
@settings(max_examples=20)
def test_control_tokens_in_data_stay_text(token: str, before: str, after: str) -> None:
    clean = RENDERER.render_prompt(_pointwise("query", "response"), ROOM).ids
    dirty = RENDERER.render_prompt(_pointwise(before + token, token + after), ROOM).ids
    number = RENDERER.tokenizer.convert_tokens_to_ids(token)
    assert dirty.count(number) == clean.count(number)
    assert before + token in RENDERER.tokenizer.decode(dirty)


def test_braces_in_data_are_not_placeholders() -> None:
    text = "".join(s.text for s in _pairwise("{response} {rubric}", "{other}", "{query}"))
    assert "{response} {rubric}" in text
    assert text.count("{other}") == text.count("{query}") == 1


@given(TEXT, TEXT, TEXT)
def test_both_formats_share_everything_up_to_the_end_of_response_a(query: str, first: str, second: str) -> None:
    pointwise = RENDERER.render_prompt(_pointwise(query, first), ROOM).ids
    pairwise = RENDERER.render_prompt(_pairwise(query, first, second), ROOM).ids
    shared = next(i for i, (a, b) in enumerate(zip(pointwise, pairwise, strict=False)) if a != b)
    assert RENDERER.tokenizer.decode(pointwise[:shared]).partition("## Response A\n")[2].startswith(first)


@given(st.integers(0, 60), st.integers(1, 60), st.integers(1, 60))
def test_cuts_take_the_longest_data_first_and_nothing_else(cut: int, query: int, response: int) -> None:
    prompt = _pointwise("q" * query, "r" * response)
    whole = RENDERER.render_prompt(prompt, ROOM)
    room = len(whole.ids) - min(cut, query + response - 2)
    rendered = RENDERER.render_prompt(prompt, room)
    assert len(rendered.ids) == room
    assert rendered.cut_tokens == len(whole.ids) - room
    fixed = sum(len(segment.text.encode()) for segment in prompt if not segment.is_data)
    text = RENDERER.tokenizer.decode(rendered.ids)
    kept = [text.count("qqq"), text.count("rrr")]
    assert len(whole.ids) - fixed > 0
    assert kept[0] <= query
    assert CONFIG.criterion.rubric in text
    assert text.endswith("assistant\n")


def test_a_limit_below_the_fixed_text_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"trainer\.max_length"):
        RENDERER.render_prompt(_pointwise("query", "response"), 50)


def test_a_completion_ends_its_turn_and_knows_its_verdict() -> None:
    for verdict in ("1", "0"):
        text = target_text(CONFIG.format, verdict, "Lawful: 10 of 10, score 1.")
        completion = RENDERER.render_completion(text, verdict)
        assert completion.ids[-1] == RENDERER.end_of_turn_id == RENDERER.tokenizer.eos_token_id
        assert RENDERER.decode(completion.ids) == text
        assert RENDERER.tokenizer.decode(completion.ids[completion.verdict_index]) == verdict
        assert RENDERER.tokenizer.decode(completion.ids[completion.verdict_index + 1]) == "}"


def test_nothing_after_the_end_of_turn_is_read() -> None:
    ids = [
        *RENDERER.tokenizer("first")["input_ids"],
        RENDERER.end_of_turn_id,
        *RENDERER.tokenizer("second")["input_ids"],
    ]
    assert RENDERER.decode(ids) == "first"


def test_a_thinking_switch_puts_its_block_into_the_prompt_and_into_the_fingerprint() -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = CHAT_TEMPLATE + (
        "{% if add_generation_prompt and not enable_thinking %}{{ '<think></think>' }}{% endif %}"
    )
    off, on = Renderer(tokenizer, {"enable_thinking": False}), Renderer(tokenizer, {"enable_thinking": True})
    ends = [tokenizer.decode(r.render_prompt(_pointwise("q", "r"), ROOM).ids).endswith("</think>") for r in (off, on)]
    assert ends == [True, False]
    assert off.fingerprint != on.fingerprint


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{% for m in messages %}{{ m.content ~ m.content }}<|im_end|>{% endfor %}", "drops, repeats or reorders"),
        ("{% for m in messages %}{{ m.role }}<|im_end|>{% endfor %}", "drops, repeats or reorders"),
        ("{% for m in messages %}{{ m.content }}{% endfor %}", "no control token after a reply"),
    ],
)
def test_templates_that_cannot_serve_are_refused(template: str, message: str) -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = template
    with pytest.raises(ConfigError, match=message):
        Renderer(tokenizer, {})


def test_two_bos_tokens_are_refused() -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.bos_token = "<|im_start|>"
    tokenizer.chat_template = "{{ '<|im_start|>' }}" + CHAT_TEMPLATE
    with pytest.raises(ConfigError, match="two BOS"):
        Renderer(tokenizer, {}).render_prompt(_pointwise("q", "r"), ROOM)


def test_slots_are_shown_in_order_and_a_missing_one_is_named() -> None:
    criterion = CriterionConfig("grounded", "Rubric.", ["context", "reference_output"], {1: "yes", 0: "no"})
    slots = {"reference_output": "R", "context": "C"}
    text = "".join(s.text for s in build_prompt(criterion, CONFIG.format, "Q", "A", slots, None))
    order = [text.index(h) for h in ("## Query", "## Context\nC", "## Reference output\nR", "## Response A")]
    assert order == sorted(order)
    with pytest.raises(DataError, match="reference_output"):
        build_prompt(criterion, CONFIG.format, "Q", "A", {"context": "C"}, None)


def test_templates_with_wrong_placeholders_are_refused() -> None:
    for template, word in (("{rubric}{query}{slots}", "response"), (CONFIG.format.template + "{answer}", "answer")):
        with pytest.raises(ConfigError, match=word):
            build_prompt(CONFIG.criterion, FormatConfig("mine", template, "score", {"1": 1.0}), "q", "r", {}, None)


def test_targets_and_names() -> None:
    assert target_text(CONFIG.format, "1", "Because.") == 'Because.\n{"score": 1}'
    assert target_text(CONFIG.pair_format, "B", "") == '{"winner": "B"}'
    assert verdict_of(CONFIG.format, 0.0) == "0"
    pair = Pair("p", "q", "pay", "forge", (), reasons=("paying, which is lawful", "forging, which is not"))
    first, second = "Following Response A means", "Following Response B means"
    in_order, swapped = (pair_rationale(CONFIG.criterion, pair, order) for order in (True, False))
    assert in_order == f"{first} paying, which is lawful. {second} forging, which is not."
    assert swapped == f"{first} forging, which is not. {second} paying, which is lawful."
    assert pair_rationale(CONFIG.criterion, Pair("p", "q", "pay", "forge", ()), True) == ""
    whole = replace(pair, rationales=("A pays.", "A forges."))
    assert [pair_rationale(CONFIG.criterion, whole, order) for order in (True, False)] == ["A pays.", "A forges."]


def test_a_criterion_may_have_a_reason_sentence_of_its_own() -> None:
    mine = CriterionConfig("c", "r", reason_sentence="{response} {reason}.")
    pair = Pair("p", "q", "a", "b", (), reasons=("names {reason}", "names B"))
    assert pair_rationale(mine, pair, True) == "Response A names {reason}. Response B names B."
    for sentence in ("{response}.", "{reason} {reason} {response}", "{response} {reason} {query}"):
        with pytest.raises(ConfigError, match=r"criterion.reason_sentence=.* exactly once each"):
            pair_rationale(CriterionConfig("c", "r", reason_sentence=sentence), pair, True)


def test_the_prompt_hash_follows_rubric_and_template() -> None:
    same = prompt_sha(CONFIG.criterion, CONFIG.format)
    assert same == prompt_sha(CONFIG.criterion, CONFIG.format)
    assert same != prompt_sha(CONFIG.criterion, CONFIG.pair_format)
