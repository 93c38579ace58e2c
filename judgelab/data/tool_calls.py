"""Items of tool calls: the call as given, and the same call with one argument that nobody gave (CPA, C5)."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judgelab.data.records import Item
from judgelab.run.randomness import derived_seed

Scalar = bool | int | float | str


@dataclass(frozen=True)
class Call:
    """A tool with its arguments; `accepted` holds, per argument, every value that the data call right."""

    name: str
    arguments: Mapping[str, Any]
    accepted: Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True)
class Example:
    """The conversation before a call, the tools on offer as JSON, the calls that answer it, and file and row."""

    example_id: str
    conversation: str
    tools: str
    calls: tuple[Call, ...]
    place: str


class Donors:
    """The scalar arguments of all calls, from which a value that is out of place is taken."""

    def __init__(self, examples: Iterable[Example]) -> None:
        """Collect the values of each argument name and of each type, once and in a fixed order."""
        found: dict[tuple[str, ...], set[Scalar]] = defaultdict(set)
        for example in examples:
            for _, name, value in _scalars(example.calls):
                kind = type(value).__name__
                found[name, kind].add(value)
                found[(kind,)].add(value)
        self._values = {key: sorted(values, key=repr) for key, values in found.items()}

    def candidates(self, name: str, value: Scalar, start: int) -> Iterator[Scalar]:
        """Values of the same type, those of arguments with the same name first, each group from a drawn start."""
        if isinstance(value, bool):
            yield not value
            return
        kind = type(value).__name__
        for key in ((name, kind), (kind,)):
            values = self._values[key]
            for n in range(len(values)):
                yield values[(start + n) % len(values)]


def call_items(example: Example, donors: Donors, slots: Mapping[str, str], seed: int) -> tuple[Item, ...]:
    """The calls as given (label 1) and with one argument changed (label 0); empty where none can be changed.

    The new value has the type of the old one, is none that the data accept, and does not stand in the
    conversation.
    """
    changed = _changed(example, donors, seed)
    if changed is None:
        return ()
    return tuple(
        Item(f"{example.example_id}:{side}", example.conversation, calls_text(calls), label, slots)
        for side, label, calls in (("given", 1, example.calls), ("changed", 0, changed))
    )


def calls_text(calls: Sequence[Call]) -> str:
    """JSON of one call, or of the list of several."""
    values = [{"name": call.name, "arguments": dict(call.arguments)} for call in calls]
    return json.dumps(values[0] if len(values) == 1 else values, ensure_ascii=False)


def _changed(example: Example, donors: Donors, seed: int) -> tuple[Call, ...] | None:
    conversation = example.conversation.casefold()
    drawn = sorted(
        _scalars(example.calls), key=lambda place: derived_seed(seed, "tool_call", example.example_id, *place[:2])
    )
    for index, name, value in drawn:
        call = example.calls[index]
        start = derived_seed(seed, "tool_value", example.example_id, index, name)
        for other in donors.candidates(name, value, start):
            if other in call.accepted[name] or _stands_in(other, conversation):
                continue
            arguments = {**call.arguments, name: other}
            return (*example.calls[:index], replace(call, arguments=arguments), *example.calls[index + 1 :])
    return None


def _stands_in(value: Scalar, conversation: str) -> bool:
    if isinstance(value, bool):
        return False
    text = value if isinstance(value, str) else f"{value:.15g}"
    return text.casefold() in conversation


def _scalars(calls: Sequence[Call]) -> Iterator[tuple[int, str, Scalar]]:
    for index, call in enumerate(calls):
        for name, value in call.arguments.items():
            if isinstance(value, Scalar):
                yield index, name, value
