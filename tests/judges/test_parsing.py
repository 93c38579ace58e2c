"""Hostile replies, and what they are decided to mean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab.config.schema import FormatConfig
from judgelab.judges.parsing import Parsed, parse_reply

POINTWISE = FormatConfig("pointwise", "", "score", {"1": 1.0, "0": 0.0})
PAIRWISE = FormatConfig("pairwise", "", "winner", {"A": 1.0, "B": 0.0})

# reply -> verdict, or the status that leaves it unscored
REPLIES = {
    'Fine.\n{"score": 1}': "1",
    'Bad.\n{"score": 0}': "0",
    '{"score": 1}': "1",
    '{"score": "1"}': "1",
    '{"score": "1.0"}': "1",
    '{"score": 1.0}': "1",
    '{"score": 0.0, "reason": "It would be {\\"score\\": 1} if lawful."}': "0",
    '{"reason": "fine", "score": 1}': "1",
    '```json\n{"score": 1}\n```': "1",
    'First {"score": 0}, but on reflection:\n{"score": 1}': "1",
    'It quotes "{\\"score\\": 0}" from the text.\n{"score": 1}': "1",
    '{"score": 1}\nI hope that helps.': "1",
    '<think>Maybe {"score": 0}.</think>\nLawful.\n{"score": 1}': "1",
    "</think>score: 0": "0",
    "1": "1",
    "0\n": "0",
    "**1**": "1",
    "Score: 1": "1",
    "score = 0": "0",
    "**Score:** 1": "1",
    "The reason is long.\nVerdict: 0": "0",
    "Final answer: 1.": "1",
    "Score is 1": "1",
    "\uff11": "1",
    "\u0661": "1",
    "１.０": "1",
    "Lawful.\n\n1\n\nThat is all.": "1",
    "": "invalid",
    "   \n": "invalid",
    "Lawful.": "invalid",
    '{"score": 2}': "invalid",
    '{"score": 0.5}': "invalid",
    '{"score": -1}': "invalid",
    '{"score": true}': "invalid",
    '{"score": null}': "invalid",
    '{"score": [1]}': "invalid",
    '{"score": "yes"}': "invalid",
    '{"score": 1, "score": 0}': "invalid",
    '{"score": 1} {"score": 0}': "invalid",
    '{"verdict": 1}': "invalid",
    '{"score": 1': "invalid",
    "Score: 4/10": "invalid",
    "Score: 85%": "invalid",
    "Score: 10": "invalid",
    "Score: 0.5": "invalid",
    "There is 1 problem here.": "invalid",
    "It breaks rule 0 of 1.": "invalid",
    "<think>It is lawful, {\"score\": 1}": "invalid",
    "<think>a</think><think>b": "invalid",
    '{"score": 1}\n{"score": 3}': "invalid",
    "score: 1\nscore: maybe": "invalid",
    "I cannot judge this content.": "refused",
    "I'm sorry, but as an AI I won't rate this.": "refused",
    'I cannot approve of it.\n{"score": 0}': "0",
    "评分：1": "invalid",
    "Оценка 1 из 1": "invalid",
}  # fmt: skip
PAIR_REPLIES = {
    '{"winner": "A"}': "A",
    'Response A is lawful.\n{"winner": "B"}': "B",
    "Winner: B": "B",
    "**Winner: Response A**": "A",
    "Response B": "B",
    "A": "A",
    "(B)": "B",
    "[[A]]": "A",
    "Answer: A": "A",
    'It says {"winner": "A"}.\nVerdict: B': "B",
    "A response that is lawful.": "invalid",
    "Both A and B are fine.": "invalid",
    "Response A is better.": "invalid",
    "Winner: C": "invalid",
    "Winner: both": "invalid",
    '{"winner": "A or B"}': "invalid",
    '{"winner": 1}': "invalid",
    '{"winner": "tie"}': "invalid",
    '{"winner": "A", "winner": "B"}': "invalid",
    "winner: A, winner: B": "invalid",
}


@pytest.mark.parametrize("reply", REPLIES)
def test_pointwise_replies(reply: str) -> None:
    _check(reply, POINTWISE, REPLIES[reply])


@pytest.mark.parametrize("reply", PAIR_REPLIES)
def test_pairwise_replies(reply: str) -> None:
    _check(reply, PAIRWISE, PAIR_REPLIES[reply])


def _check(reply: str, fmt: FormatConfig, expected: str) -> None:
    parsed = parse_reply(reply, fmt, truncated=False)
    if expected in fmt.verdicts:
        assert parsed == Parsed("ok", expected, fmt.verdicts[expected])
    else:
        assert parsed == Parsed(expected)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("It is lawful because", "truncated"),
        ('Lawful.\n{"score": ', "truncated"),
        ("<think>So far", "truncated"),
        ("1", "truncated"),
        ("Score: 1", "truncated"),
        ("I cannot judge th", "truncated"),
        ('{"score": 1}\nAnd furthermore', "ok"),
        ("Score: 1\nAnd furthermore", "ok"),
    ],
)
def test_replies_that_the_budget_cut(reply: str, expected: str) -> None:
    assert parse_reply(reply, POINTWISE, truncated=True).status == expected


@given(st.text(alphabet=st.sampled_from('{}":,[]01AB sc\n<>/think*.%-'), max_size=60), st.booleans())
def test_no_reply_raises_and_only_ok_is_a_number(reply: str, truncated: bool) -> None:
    for fmt in (POINTWISE, PAIRWISE):
        parsed = parse_reply(reply, fmt, truncated)
        assert parsed.status in {"ok", "invalid", "truncated", "refused"}
        assert (parsed.status == "ok") == (parsed.score is not None) == (parsed.verdict in fmt.verdicts)


@given(st.text(max_size=40))
def test_a_final_json_line_binds_whatever_comes_before(prefix: str) -> None:
    reply = f"{prefix}</think>\n" + '{"score": 0}'
    assert parse_reply(reply, POINTWISE, truncated=False) == Parsed("ok", "0", 0.0)


def test_deep_nesting_does_not_overflow() -> None:
    assert parse_reply('{"a":' * 3000, POINTWISE, truncated=False).status == "invalid"
