"""What the synthesis writes: training rows in the sample's format, and the lineage of every try."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from judgelab.data.records import Item
from judgelab.run.folder import write_atomic
from judgelab.synthesis.counterfactuals import Attempt
from judgelab.synthesis.rationales import Rationale

ATTEMPTS = pa.schema(
    [
        ("item_id", pa.string()),
        ("attempt", pa.int32()),
        ("label", pa.int32()),  # of the item; the counterfactual is meant to carry the other one
        ("outcome", pa.string()),
        ("prompt", pa.string()),
        ("reply", pa.string()),
        ("text", pa.string()),
        ("audit_response_first", pa.string()),
        ("audit_counterfactual_first", pa.string()),
        ("verdict_response_first", pa.string()),
        ("verdict_counterfactual_first", pa.string()),
    ]
)
PairRationales = tuple[Rationale | None, Rationale | None]


def training_row(
    item: Item, pair: Attempt | None, rationales: Sequence[Rationale], of_pair: PairRationales | None
) -> dict[str, Any]:
    """A train row of data=sample; the pair's rationales are there where both orders have one."""
    both = of_pair is not None and all(of_pair)
    return {
        **test_row(item),
        "split": "train",
        "rationales": [rationale.text for rationale in rationales],
        "rationale_writers": [rationale.writer for rationale in rationales],
        "counterfactual": pair.text if pair else None,
        "attempts": pair.number if pair else None,
        "pair_rationales": [each.text for each in of_pair or () if each] if both else None,
        "pair_rationale_writers": [each.writer for each in of_pair or () if each] if both else None,
    }


def test_row(item: Item) -> dict[str, Any]:
    """A test row of data=sample."""
    return {
        "id": item.item_id,
        "split": "test",
        "query": item.query,
        **item.slots,
        "response": item.response,
        "label": item.label,
    }


def attempt_rows(attempts: Iterable[Attempt], items: Mapping[str, Item]) -> list[dict[str, Any]]:
    """Rows of attempts.parquet, by item and try."""
    ordered = sorted(attempts, key=lambda attempt: (attempt.item_id, attempt.number))
    return [_attempt_row(attempt, items[attempt.item_id].label) for attempt in ordered]


def _attempt_row(attempt: Attempt, label: int) -> dict[str, Any]:
    # A text that was turned down before the audit has neither replies nor verdicts.
    replies = [audit.text for audit in attempt.audits] if attempt.audits else [None, None]
    verdicts = attempt.verdicts or (None, None)
    return {
        "item_id": attempt.item_id,
        "attempt": attempt.number,
        "label": label,
        "outcome": attempt.outcome.name,
        "prompt": attempt.prompt,
        "reply": attempt.reply,
        "text": attempt.text,
        "audit_response_first": replies[0],
        "audit_counterfactual_first": replies[1],
        "verdict_response_first": verdicts[0],
        "verdict_counterfactual_first": verdicts[1],
    }


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """JSON lines, whole or not at all."""
    write_atomic(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
