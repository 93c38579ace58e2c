"""Rows of pairs.parquet: what a judge is shown, which slot is better, and the lineage to make both again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from judgelab.run.folder import write_parquet
from judgelab.synthesis.mutation import Candidate, Lineage
from judgelab.synthesis.pair_suites import Case

TEXTS = (
    "pair_id suite family split official_split source_id group_id text calculator formula formula_inputs "
    "response_a response_b gold operator chosen_parameters rejected_parameters"
)
INTEGERS = "bin rank_gap candidates chosen_rank rejected_rank seed chosen_number rejected_number"
FLOATS = "chosen_score rejected_score"
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in TEXTS.split()),
        *((name, pa.int64()) for name in INTEGERS.split()),
        *((name, pa.float64()) for name in FLOATS.split()),
    ]
)
"""Columns of pairs.parquet; `bin` is 1 hard, 2 medium, 3 easy, and null for atomic pairs."""


@dataclass(frozen=True)
class RankedPair:
    """The better and the worse candidate of a case, with their ranks of `candidates` and their bin."""

    better: Candidate
    worse: Candidate
    ranks: tuple[int, int]
    candidates: int
    bin: int | None


def pair_row(suite: str, family: str, split: str, case: Case, pair: RankedPair, slot: str) -> dict[str, Any]:
    """One row; `slot` is the one, A or B, that shows the better response."""
    responses = (pair.better.text, pair.worse.text) if slot == "A" else (pair.worse.text, pair.better.text)
    return {
        "pair_id": f"{suite}:{case.source.source_id}",
        "suite": suite,
        "family": family,
        "split": split,
        "official_split": case.source.official_split,
        "source_id": case.source.source_id,
        "group_id": case.source.group,
        "text": case.shown.text,
        "calculator": case.shown.calculator,
        "formula": case.shown.formula,
        "formula_inputs": case.shown.formula_inputs,
        "response_a": responses[0],
        "response_b": responses[1],
        "gold": slot,
        "bin": pair.bin,
        "rank_gap": pair.ranks[1] - pair.ranks[0],
        "candidates": pair.candidates,
        "chosen_rank": pair.ranks[0],
        "rejected_rank": pair.ranks[1],
        "chosen_score": pair.better.score,
        "rejected_score": pair.worse.score,
        "operator": pair.better.lineage.operator,
        "seed": pair.better.lineage.seed,
        "chosen_number": pair.better.lineage.number,
        "chosen_parameters": pair.better.lineage.parameters,
        "rejected_number": pair.worse.lineage.number,
        "rejected_parameters": pair.worse.lineage.parameters,
    }


def lineages(row: Mapping[str, Any]) -> tuple[Lineage, Lineage]:
    """The lineages of a row's better and worse response."""
    chosen, rejected = (
        Lineage(row["operator"], row[f"{side}_number"], row["seed"], row[f"{side}_parameters"])
        for side in ("chosen", "rejected")
    )
    return chosen, rejected


def write_pairs(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write pairs.parquet atomically."""
    write_parquet(path, rows, SCHEMA)
