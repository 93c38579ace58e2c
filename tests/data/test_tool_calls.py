import json

from hypothesis import given
from hypothesis import strategies as st

from judgelab.data.tool_calls import Call, Donors, Example, call_items, calls_text

names = st.sampled_from(["town", "days", "rate", "fast", "body"])
scalars = st.one_of(st.booleans(), st.integers(0, 50), st.floats(0, 9), st.sampled_from(["Rome", "Oslo", "Graz"]))
values = st.one_of(scalars, st.lists(st.integers(), max_size=2))
calls = st.lists(st.dictionaries(names, values, max_size=4), min_size=1, max_size=3)


def example(n, arguments, conversation="Please."):
    made = tuple(Call("tool", a, {name: (value,) for name, value in a.items()}) for a in arguments)
    return Example(f"id-{n}", conversation, "[]", made, f"file, row {n}")


@given(st.lists(calls, min_size=1, max_size=5), st.integers(0, 3))
def test_exactly_one_scalar_argument_differs_keeps_its_type_and_is_not_accepted(drawn, seed):
    examples = [example(n, arguments) for n, arguments in enumerate(drawn)]
    donors = Donors(examples)
    for one in examples:
        items = call_items(one, donors, {}, seed)
        if not items:
            continue
        given_item, changed_item = items
        assert (given_item.label, changed_item.label) == (1, 0)
        assert given_item.response == calls_text(one.calls)
        changed = json.loads(changed_item.response)
        changed = changed if isinstance(changed, list) else [changed]
        differences = [
            (before[name], after["arguments"][name])
            for before, after in zip((call.arguments for call in one.calls), changed, strict=True)
            for name in before
            if type(before[name]) is not type(after["arguments"][name]) or before[name] != after["arguments"][name]
        ]
        assert len(differences) == 1
        assert type(differences[0][0]) is type(differences[0][1])


def test_a_value_of_the_conversation_is_no_change_and_an_accepted_one_neither():
    towns = ["Rome", "Oslo", "Graz"]
    examples = [example(n, [{"town": town}], "From Oslo, please.") for n, town in enumerate(towns)]
    accepted = Example(
        "id-9", "From Oslo, please.", "[]", (Call("t", {"town": "Rome"}, {"town": ("Rome", "Graz")}),), ""
    )
    assert call_items(accepted, Donors([*examples, accepted]), {}, 0) == ()
    assert "Graz" in call_items(examples[0], Donors(examples), {}, 0)[1].response


def test_without_a_scalar_argument_there_is_no_item():
    bare = example(0, [{"body": [1, 2]}, {}])
    assert call_items(bare, Donors([bare, example(1, [{"town": "Rome"}])]), {}, 0) == ()


def test_a_value_of_the_same_argument_is_preferred():
    examples = [example(0, [{"town": "Rome"}]), example(1, [{"town": "Oslo"}]), example(2, [{"name": "Otto"}])]
    assert "Oslo" in call_items(examples[0], Donors(examples), {}, 0)[1].response
