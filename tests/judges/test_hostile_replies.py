"""A table of hostile replies under the five scoring formats, and what each is decided to mean."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgelab.config.schema import FormatConfig
from judgelab.judges.parsing import Parsed, parse_reply

ECHO = {
    "binary": "Should Response A be accepted? Reply with one word and nothing else: ACCEPT or REJECT.",
    "likert5": "Reply with one whole number and nothing else, from 1 (very poor) to 5 (excellent).",
    "numeric100": "Reply with one whole number and nothing else, from 0 (worthless) to 100 (flawless).",
    "anchored": "Reply with one of these and nothing else: +2 (A is much better), +1 (A is better), 0 (they are "
    "equally good), -1 (B is better), -2 (B is much better).",
}

# topic -> format -> reply -> verdict, or the status that leaves it unscored; tournament is asked like anchored
TABLE = {
    "plain": {
        "binary": {
            "ACCEPT": "ACCEPT",
            "REJECT": "REJECT",
            "accept": "ACCEPT",
            "Reject.": "REJECT",
            " ACCEPT\n": "ACCEPT",
        },
        "likert5": {"4": "4", " 5 ": "5", "1\n": "1", "4.": "4", "4.0": "4", "4.00": "4", "04": "4"},
        "numeric100": {"85": "85", "0": "0", "100": "100", "85.0": "85", "85.": "85"},
        "anchored": {"+2": "+2", "2": "+2", "-1": "-1", "0": "0", "+0": "0", "-0": "0", "1.0": "+1", "-2.": "-2"},
    },
    "opening": {
        "binary": {
            "ACCEPT because it is right.": "ACCEPT",
            "REJECT - it is wrong": "REJECT",
            "Accept. The response is right.": "ACCEPT",
            "**REJECT**\n\nIt names the wrong year.": "REJECT",
            "ACCEPT? No.": "invalid",
            "Accepting it would be wrong.": "invalid",
        },
        "likert5": {
            "4 - clear and right": "4",
            "4: clear and right": "4",
            "4, since it is clear": "4",
            "4 because it is clear": "4",
            "**4** (good)": "4",
            "3\nThe response is vague.": "3",
            "4 reasons speak for it": "invalid",
            "1 problem: it is short": "invalid",
            "5 stars": "invalid",
        },
        "numeric100": {
            "85 - solid": "85",
            "85, a solid reply": "85",
            "100 (flawless)": "100",
            "85 words are enough": "invalid",
        },
        "anchored": {
            "+1 (A is better)": "+1",
            "-2 (B is much better)": "-2",
            "+1 A is better": "+1",
            "0 (they are equally good)": "0",
            "-1, B is better": "-1",
        },
    },
    "two verdicts": {
        "binary": {
            "ACCEPT or REJECT": "invalid",
            "ACCEPT/REJECT": "invalid",
            "ACCEPT. I would not REJECT it.": "invalid",
            "ACCEPT\nREJECT": "REJECT",
            "ACCEPT. On reflection:\nREJECT": "REJECT",
            "Verdict: ACCEPT, verdict: REJECT": "invalid",
            "I would ACCEPT it, but some would REJECT it.": "invalid",
        },
        "likert5": {
            "4 or 5": "invalid",
            "3-4": "invalid",
            "3–4": "invalid",
            "4, maybe 5": "invalid",
            "Score: 3-4": "invalid",
            "Score: 3 or 4": "invalid",
            "between 3 and 4": "invalid",
            "3\n4": "4",
            "Score: 2\nFinal score: 4": "4",
            '{"verdict": 2}\n{"verdict": 4}': "4",
            '{"verdict": 2} {"verdict": 4}': "invalid",
        },
        "numeric100": {"80-90": "invalid", "80 to 90": "invalid", "Score: 80, or 85": "invalid", "80\n85": "85"},
        "anchored": {"+1 or +2": "invalid", "+1/-1": "invalid", "+1\n-1": "-1", "Verdict: +1 or 0": "invalid"},
    },
    "reasoning": {
        "binary": {
            "<think>REJECT</think>ACCEPT": "ACCEPT",
            "<think>ACCEPT": "invalid",
            "<think>a</think><think>ACCEPT": "invalid",
            "<think>ACCEPT</think>": "invalid",
            "<thinking>REJECT</thinking>\nACCEPT": "ACCEPT",
        },
        "likert5": {
            "<think>It is a 2.</think>\n\n4": "4",
            "<think>\n\n</think>\n\n4": "4",
            "</think>4": "4",
            "<think>4": "invalid",
            "The draft is fine.\n<think>5</think>\n3": "3",
        },
        "numeric100": {"<think>Between 70 and 90.</think>80": "80", "<think>80\n85": "invalid"},
        "anchored": {"<think>+2</think>-1": "-1", "<think>B is better\n-1": "invalid"},
    },
    "echoed prompt": {
        "binary": {ECHO["binary"]: "invalid", ECHO["binary"] + "\nACCEPT": "ACCEPT", "ACCEPT or REJECT.": "invalid"},
        "likert5": {
            ECHO["likert5"]: "invalid",
            ECHO["likert5"] + "\n2": "2",
            "1 (very poor) to 5 (excellent)": "invalid",
        },
        "numeric100": {ECHO["numeric100"]: "invalid", ECHO["numeric100"] + "\n70": "70"},
        "anchored": {ECHO["anchored"]: "invalid", "+2 (A is much better), +1 (A is better), 0": "invalid"},
    },
    "scales": {
        "binary": {"1": "invalid", "5/5": "invalid", "Score: 5": "invalid", "yes": "invalid"},
        "likert5": {
            "4/5": "4",
            "4 / 5": "4",
            "4 out of 5": "4",
            "Score: 4/5": "4",
            "4/10": "invalid",
            "Score: 4/10": "invalid",
            "8/10": "invalid",
            "10": "invalid",
            "0": "invalid",
            "6": "invalid",
            "-4": "invalid",
            "4.5": "invalid",
            "4,5": "invalid",
            "Score: 4.5": "invalid",
            "80%": "invalid",
            "Score: 10": "invalid",
            "4 (on a scale of 1 to 5)": "4",
        },
        "numeric100": {
            "85/100": "85",
            "85 / 100": "85",
            "85 out of 100": "85",
            "85%": "85",
            "85 %": "85",
            "Score: 85/100": "85",
            "Score: 85%": "85",
            "8.5/10": "invalid",
            "8/10": "invalid",
            "4/5": "invalid",
            "101": "invalid",
            "1000": "invalid",
            "85.5": "invalid",
            "-5": "invalid",
            "1e2": "invalid",
        },
        "anchored": {"+3": "invalid", "1.5": "invalid", "+1/2": "invalid", "50%": "invalid", "+10": "invalid"},
    },
    "other scripts": {
        "binary": {"ＡＣＣＥＰＴ": "ACCEPT", "判定：ACCEPT": "ACCEPT", "ACCEPTER": "invalid", "接受": "invalid"},
        "likert5": {
            "４": "4",
            "٤": "4",
            "４／５": "4",
            "评分：4": "invalid",
            "Оценка: 4": "invalid",
            "vier": "invalid",
            "Ⅳ": "invalid",
        },
        "numeric100": {"８５": "85", "٨٥": "85", "85％": "85", "Note : 85": "invalid", "ochenta": "invalid"},
        "anchored": {"−2": "-2", "＋1": "+1", "–1": "-1", "－２": "-2", "﹣1": "-1", "A ist besser": "invalid"},
    },
    "markdown": {
        "binary": {
            "**ACCEPT**": "ACCEPT",
            "# Verdict\nACCEPT": "ACCEPT",
            "`REJECT`": "REJECT",
            "- ACCEPT": "ACCEPT",
            "**Verdict:** REJECT": "REJECT",
            "```\nACCEPT\n```": "ACCEPT",
            "> ACCEPT": "ACCEPT",
            "| ACCEPT |": "ACCEPT",
        },
        "likert5": {
            "**4**": "4",
            "**Score: 4**": "4",
            "### 4": "4",
            "$\\boxed{4}$": "4",
            "[[4]]": "4",
            "Rating: [[4]]": "4",
            "<verdict>4</verdict>": "4",
            "<score> 4 </score> as it is clear": "4",
            "<verdict>9</verdict>": "invalid",
            "- 4": "4",
            "1. The response is right.": "invalid",
            "1. Clear\n2. Right\n3. Short": "invalid",
            "1) Clear": "invalid",
        },
        "numeric100": {
            "**85**": "85",
            "*Score*: 85": "85",
            '```json\n{"verdict": 85}\n```': "85",
            "1. Clear": "invalid",
        },
        "anchored": {"**+1**": "+1", "`-1`": "-1", "Verdict: **-2**": "-2", "- 1": "invalid", "[[+2]]": "+2"},
    },
    "labels": {
        "binary": {
            "Verdict: ACCEPT": "ACCEPT",
            "Final verdict: reject": "REJECT",
            "My verdict is ACCEPT because it is right.": "ACCEPT",
            "The decision: REJECT.": "REJECT",
            "Verdict: maybe": "invalid",
            "ACCEPT\nVerdict: unsure": "invalid",
            "Verdict: ACCEPTABLE": "invalid",
        },
        "likert5": {
            "Score: 4": "4",
            "Rating = 4": "4",
            "The score is 4.": "4",
            "Answer: 4": "4",
            "Final answer: 4": "4",
            "The correct answer is 4, which it misses.": "invalid",
            "Score: four": "invalid",
            "Score:\n4": "4",
        },
        "numeric100": {
            "Score: 85": "85",
            "I give it a score of 85": "invalid",
            "Verdict -> 85": "85",
            "Score: high": "invalid",
        },
        "anchored": {"Verdict: +1": "+1", "Verdict: A": "invalid", "Verdict: −1": "-1", "Answer = 0": "0"},
    },
    "prose": {
        "binary": {
            "I would ACCEPT this response.": "ACCEPT",
            "It is right, so ACCEPT it; yes, ACCEPT.": "ACCEPT",
            "I would not ACCEPT this.": "invalid",
            "I don't ACCEPT it.": "invalid",
            "You cannot in good faith ACCEPT it.": "invalid",
            "This is UNACCEPTABLE.": "invalid",
            "Response A should be accepted.": "invalid",
            "I accept that this is hard to tell.": "invalid",
            "Neither ACCEPT nor REJECT fits.": "invalid",
            "It should be REJECTED.": "invalid",
            "NON-ACCEPT": "invalid",
        },
        "likert5": {
            "The response is a 4.": "invalid",
            "I count 3 errors.": "invalid",
            "It deserves 5 stars": "invalid",
        },
        "numeric100": {"It deserves 85 points.": "invalid", "About 90": "invalid", "In 1998, 12 people": "invalid"},
        "anchored": {
            "Response A is better.": "invalid",
            "I lean to +1 here": "invalid",
            "A": "invalid",
            "B is much better": "invalid",
        },
    },
    "quotations": {
        "binary": {
            'The response says "ACCEPT".': "invalid",
            'It ends so:\n"ACCEPT"\nwhich is odd.': "invalid",
            "It ends so:\n> ACCEPT\nand no more.": "invalid",
            '"REJECT"': "REJECT",
            "It claims “REJECT”, yet I would ACCEPT it.": "ACCEPT",
        },
        "likert5": {'It says "Score: 5".\n2': "2", "> 5\n2": "2", "> Score: 5\nI see no reason for it.": "invalid"},
        "numeric100": {"> 100\n40": "40", 'It asks for "100".': "invalid"},
        "anchored": {'It says "+2".\n-1': "-1", "> +2\nNo.": "invalid"},
    },
    "json": {
        "binary": {
            '{"verdict": "ACCEPT"}': "ACCEPT",
            '{"reason": "I would REJECT it", "verdict": "ACCEPT"}': "ACCEPT",
            '{"verdict": "ACCEPT", "verdict": "REJECT"}': "invalid",
            '{"verdict": "ACCEPT", "verdict": "ACCEPT"}': "ACCEPT",
            '{"verdict": true}': "invalid",
            '{"verdict": "ACCEPT"': "invalid",
            '{"decision": "ACCEPT"}': "invalid",
        },
        "likert5": {
            '{"verdict": 4}': "4",
            '{"verdict": "4/5"}': "4",
            '{"verdict": 4.5}': "invalid",
            '{"verdict": 9}': "invalid",
            '{"verdict": null}': "invalid",
            '{"verdict": [4]}': "invalid",
            '{"verdict": {"value": 4}}': "invalid",
            '{"reason": "{\\"verdict\\": 5}", "verdict": 2}': "2",
            "{'verdict': 4}": "invalid",
            '{"verdict": ' + "1" * 5000 + "}": "invalid",
        },
        "numeric100": {'{"verdict": 85}': "85", '{"verdict": "85%"}': "85", '{"verdict": 850}': "invalid"},
        "anchored": {
            '{"verdict": "+1"}': "+1",
            '{"verdict": -1}': "-1",
            '{"verdict": 1}': "+1",
            '{"verdict": "A"}': "invalid",
        },
    },
    "denials": {
        "binary": {
            "ACCEPT is wrong here.": "invalid",
            "I wouldn’t ACCEPT this": "invalid",
            "Nobody should ACCEPT this.": "invalid",
            "It fails to earn ACCEPT.": "invalid",
            "I do not think that we should ACCEPT it.": "invalid",
            "It would be wrong to ACCEPT this.": "invalid",
            "Verdict: NOT ACCEPT": "invalid",
            "I’m sorry, I can’t help": "refused",
            "Accept that this is hard. It is bad.": "invalid",
            "I accept that this is hard, so REJECT": "REJECT",
        },
        "likert5": {"The score is not 4": "invalid", "~4": "invalid", "<4": "invalid", "4+": "invalid"},
        "numeric100": {"85+": "invalid", "85±5": "invalid", "85‰": "invalid"},
        "anchored": {"±1": "invalid", "+-1": "invalid", "--1": "invalid"},
    },
    "more quotations": {
        "binary": {
            '"ACCEPT" is what it demands.': "invalid",
            "“ACCEPT” is what it demands.": "invalid",
            '"Verdict: ACCEPT" is what it says.': "invalid",
            'It says "<verdict>ACCEPT</verdict>".': "invalid",
            "> <verdict>ACCEPT</verdict>\nBad.": "invalid",
            '> {"verdict": "ACCEPT"}\nBad.': "invalid",
            '"{"verdict": "ACCEPT"}" is its end.': "invalid",
            '"{"verdict": "ACCEPT"}"': "ACCEPT",
            'It quotes "{\\"verdict\\": \\"ACCEPT\\"}".\nBad.': "invalid",
        },
        "likert5": {'> {"verdict": 5}\n2': "2", '{"reason": "<score>5</score>\nScore: 1", "verdict": 2}': "2"},
        "numeric100": {"> <score>100</score>\n40": "40"},
        "anchored": {"“+2” is what it asks for.": "invalid"},
    },
    "spelling": {
        "binary": {"<THINK>ACCEPT": "invalid", "[THINK]REJECT[/THINK]ACCEPT": "ACCEPT", "ACCEPT\u2028Good.": "ACCEPT"},
        "likert5": {
            "\ufeff4": "4",
            "4\u200b": "4",
            "4⁄5": "4",
            "½": "invalid",
            "4½": "invalid",
            "4..5": "invalid",
            "4…5": "invalid",
            "4,0": "invalid",
            "٤٫٥": "invalid",
            "**1.** Clear": "invalid",
            "1.Clear": "invalid",
            "4\r\nGood.": "4",
        },
        "numeric100": {"٨٥٪": "85", "\u200f٨٥": "85"},
        "anchored": {"- +1": "+1", "\u200e−2": "-2"},
    },
    "scales in words": {
        "binary": {"ACCEPT (5 out of 5)": "ACCEPT"},
        "likert5": {
            "4 (out of 10)": "invalid",
            "Score: 4 (out of 10)": "invalid",
            "Score: 4 on a 10-point scale": "invalid",
            "4 on a scale of 1 to 10": "invalid",
            "4 (out of 5)": "4",
            "Score (1-5): 4": "4",
            "Score (1-10): 4": "invalid",
            "$\\boxed{\\text{4}}$": "4",
        },
        "numeric100": {"8 (out of 10)": "invalid", "85 on a scale of 0 to 100": "85"},
        "anchored": {"1 (out of 5)": "invalid", "+1 on a scale of -2 to +2": "+1"},
    },
    "counts behind a number": {
        "binary": {"REJECT: 3 errors": "REJECT"},
        "likert5": {
            "5\n\nThere are 3 errors.": "5",
            "3, since it has 2 errors": "3",
            "4. Some would say 5.": "invalid",
            "4 - or 5 stars": "invalid",
        },
        "numeric100": {"85 - it has 3 errors in 120 words": "85", "85 - others would give 90.": "invalid"},
        "anchored": {"+1, as B has 2 errors": "+1", "-1, though +1 is arguable": "invalid"},
    },
    "nothing to read": {
        "binary": {
            "": "invalid",
            " \n\t": "invalid",
            "I cannot judge this.": "refused",
            "I'm sorry, but I can't help with that.": "refused",
            "As an AI language model, I have no opinion.": "refused",
            "I cannot judge the tone, but:\nACCEPT": "ACCEPT",
            "!!!": "invalid",
            "\x00": "invalid",
        },
        "likert5": {
            "": "invalid",
            "N/A": "invalid",
            "I won't rate this.": "refused",
            "😀": "invalid",
            "NaN": "invalid",
        },
        "numeric100": {"": "invalid", "∞": "invalid", "I am unable to score it.": "refused", "%": "invalid"},
        "anchored": {"": "invalid", "tie": "invalid", "I must decline.": "refused", "+": "invalid", "-": "invalid"},
    },
    "after the turn": {
        "binary": {"ACCEPT<|im_end|>\n<|im_start|>user\nREJECT": "ACCEPT", "<|im_end|>ACCEPT": "invalid"},
        "likert5": {"2</s>5": "2", "2<|endoftext|>\n5": "2"},
        "numeric100": {"70<|eot_id|>90": "70"},
        "anchored": {"-1<|im_end|>+2": "-1"},
    },
}

# What the token budget cut: format, reply -> verdict or status
CUT = [
    ("binary", "ACCEPT", "ACCEPT"),
    ("binary", "Verdict: ACCEPT", "ACCEPT"),
    ("binary", "ACCEPT or", "truncated"),
    ("binary", "ACCEPT<|im_end|>", "ACCEPT"),
    ("binary", "I would ACCEPT this, but", "truncated"),
    ("binary", "ACCEPT because the response is", "ACCEPT"),
    ("binary", "REJ", "truncated"),
    ("binary", "The response is good and", "truncated"),
    ("binary", "I cannot", "truncated"),
    ("binary", "<think>ACCEPT", "truncated"),
    ("binary", '{"verdict": "ACC', "truncated"),
    ("binary", '{"verdict": "ACCEPT"}', "ACCEPT"),
    ("likert5", "4", "truncated"),
    ("likert5", "4.", "truncated"),
    ("likert5", "4/", "truncated"),
    ("likert5", "3-", "truncated"),
    ("likert5", "4 out", "truncated"),
    ("likert5", "4 out of 1", "truncated"),
    ("likert5", "5, or", "truncated"),
    ("likert5", "1", "truncated"),
    ("likert5", "4<|im_end|>xx", "4"),
    ("likert5", "Score: 4\nI mean score: ", "truncated"),
    ("likert5", "4\nThe response", "4"),
    ("likert5", "4 - clear and", "4"),
    ("likert5", "Score: 4", "truncated"),
    ("likert5", "[[4]]", "4"),
    ("likert5", "<verdict>4", "truncated"),
    ("numeric100", "8", "truncated"),
    ("numeric100", "10", "truncated"),
    ("numeric100", "100", "100"),
    ("numeric100", "Score: 100", "100"),
    ("numeric100", "85%", "85"),
    ("numeric100", "85/100 since", "85"),
    ("numeric100", '{"verdict": 8', "truncated"),
    ("anchored", "+", "truncated"),
    ("anchored", "+1", "truncated"),
    ("anchored", "+1 (A is bett", "+1"),
    ("anchored", "-2 (B is much better)", "-2"),
]


def rows() -> list[tuple[str, str, str, str]]:
    """Every row as (topic, format, reply, expected); tournament is read like anchored."""
    table = [
        (topic, name, reply, expected)
        for topic, by_format in TABLE.items()
        for name, replies in by_format.items()
        for reply, expected in replies.items()
    ]
    return table + [
        (topic, "tournament", reply, expected) for topic, name, reply, expected in table if name == "anchored"
    ]


def test_the_table_is_large_and_covers_every_format() -> None:
    assert len(rows()) + len(CUT) >= 250
    for topic, by_format in TABLE.items():
        assert set(by_format) == {"binary", "likert5", "numeric100", "anchored"}, topic


@pytest.mark.parametrize(("topic", "name", "reply", "expected"), rows())
def test_hostile_replies(topic: str, name: str, reply: str, expected: str, formats: dict[str, FormatConfig]) -> None:
    _check(parse_reply(reply, formats[name], truncated=False), formats[name], expected)


@pytest.mark.parametrize(("name", "reply", "expected"), CUT)
def test_replies_that_the_budget_cut(name: str, reply: str, expected: str, formats: dict[str, FormatConfig]) -> None:
    _check(parse_reply(reply, formats[name], truncated=True), formats[name], expected)


def _check(parsed: Parsed, fmt: FormatConfig, expected: str) -> None:
    if expected in fmt.verdicts:
        assert parsed == Parsed("ok", expected, fmt.verdicts[expected])
    else:
        assert parsed == Parsed(expected)


NAMES = st.sampled_from(["binary", "likert5", "numeric100", "anchored", "tournament"])
PIECES = st.lists(
    st.sampled_from(
        [
            *(
                "ACCEPT",
                "REJECT",
                "not ",
                "4",
                "85",
                "+1",
                "-2",
                "0",
                "/5",
                "/100",
                "%",
                ".",
                ",",
                ":",
                "\n",
                " ",
                "or ",
            ),
            *(
                "Score: ",
                "verdict: ",
                '{"verdict": ',
                "}",
                '"',
                "<think>",
                "</think>",
                "**",
                "[[",
                "]]",
                "> ",
                "- ",
                "A ",
            ),
            *("<verdict>", "</verdict>", "I cannot ", "because ", "<|im_end|>", "٤", "−", "１"),
        ]
    ),
    max_size=12,
).map("".join)


@given(st.one_of(PIECES, st.text(max_size=80)), NAMES, st.booleans())
@settings(max_examples=400)
def test_no_reply_raises_and_only_ok_is_a_number(
    formats: dict[str, FormatConfig], reply: str, name: str, truncated: bool
) -> None:
    fmt = formats[name]
    parsed = parse_reply(reply, fmt, truncated)
    assert parsed.status in {"ok", "invalid", "truncated", "refused"}
    assert (parsed.status == "ok") == (parsed.score is not None) == (parsed.verdict in fmt.verdicts)
    if parsed.status == "ok":
        assert parsed.score == fmt.verdicts[parsed.verdict]


@given(PIECES, NAMES)
@settings(max_examples=400)
def test_a_cut_never_makes_a_verdict_of_what_is_none(formats: dict[str, FormatConfig], reply: str, name: str) -> None:
    whole, cut = (parse_reply(reply, formats[name], truncated) for truncated in (False, True))
    assert cut == whole if cut.status == "ok" else cut.status == "truncated"


@given(PIECES, NAMES, st.sampled_from([" ", "\n", "\n\n  "]))
@settings(max_examples=400)
def test_reasoning_before_and_space_behind_change_nothing(
    formats: dict[str, FormatConfig], reply: str, name: str, space: str
) -> None:
    parsed = parse_reply(reply, formats[name], truncated=False)
    assert parse_reply(reply + space, formats[name], truncated=False) == parsed
    assert parse_reply(f"<think>{'REJECT 5 +2'}</think>{reply}", formats[name], truncated=False) == parsed


@given(st.text(max_size=60), NAMES, st.data())
@settings(max_examples=300)
def test_a_last_line_with_nothing_but_a_verdict_binds(
    formats: dict[str, FormatConfig], before: str, name: str, data: st.DataObject
) -> None:
    verdict = data.draw(st.sampled_from(sorted(formats[name].verdicts)))
    reply = f"{before.replace('<', '')}\n{verdict}"
    assert parse_reply(reply, formats[name], truncated=False).verdict == verdict


@pytest.mark.parametrize("name", ["binary", "likert5", "numeric100", "anchored", "tournament"])
def test_an_echoed_prompt_is_no_verdict(name: str, formats: dict[str, FormatConfig]) -> None:
    template = formats[name].template
    for echo in (template, template.rpartition("\n\n")[2]):
        assert parse_reply(echo, formats[name], truncated=False).score is None


@pytest.mark.parametrize(
    "piece",
    [
        "{",
        '{"verdict',
        "<verdict>",
        "4 ",
        "Score: ",
        '"',
        "> ",
        "[[",
        "not ",
        "-",
        "\n",
        "1 to ",
        "«",
        "“",
        "'",
        "(",
        "<think>",
        "Response ",
    ],
)
def test_long_replies_are_read_in_linear_time(piece: str, formats: dict[str, FormatConfig]) -> None:
    """In quadratic time this would not end."""
    for name in ("binary", "likert5", "anchored"):
        assert parse_reply(piece * (200_000 // len(piece)), formats[name], truncated=False).score is None


@pytest.mark.parametrize("piece", ["4, ", "Score: 4 ", "ACCEPT, ", "I ACCEPT ", '{"verdict": 4}', "4\n"])
def test_many_verdicts_are_read_in_linear_time(piece: str, formats: dict[str, FormatConfig]) -> None:
    """In quadratic time this would not end; whatever binds, it is not a refusal."""
    for name in ("binary", "likert5", "anchored"):
        assert parse_reply(piece * (200_000 // len(piece)), formats[name], truncated=False).status in {"ok", "invalid"}


WIDE = str.maketrans("0123456789+%", "０１２３４５６７８９＋％")


@given(PIECES, NAMES, st.booleans())
@settings(max_examples=200)
def test_wide_digits_read_as_their_number(
    formats: dict[str, FormatConfig], reply: str, name: str, truncated: bool
) -> None:
    plain, wide = (parse_reply(each, formats[name], truncated) for each in (reply, reply.translate(WIDE)))
    assert wide == plain
