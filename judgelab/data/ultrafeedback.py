"""UltraFeedback: completions of several models with GPT-4's overall scores, from the hub or from local files."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from judgelab.data.candidate_filters import EMPTY, pool_of
from judgelab.data.candidate_rows import candidate_row, content_id, response_text
from judgelab.data.candidates import CandidatePool, CandidateSource
from judgelab.data.hub import hub_table
from judgelab.data.references import as_reference
from judgelab.data.rows import Row
from judgelab.data.tables import tables
from judgelab.errors import DataError
from judgelab.run.randomness import derived_seed

SETTING = "data.path=FILE or FOLDER with UltraFeedback rows (.jsonl, .json or .parquet)"


@dataclass
class UltraFeedback(CandidateSource):
    """`overall_score` is the reference (Format paper §2); `path` null reads the hub data set `repo` at `revision`.

    A row is either in the original layout (`instruction`, `completions`) or binarized (`prompt`, `chosen`,
    `rejected`, `metadata.score_chosen`, `metadata.score_rejected`). Prompts and candidates are known by their
    content, so rows of one instruction make one prompt. The original listing order is kept; a binarized pair, which
    names the better response first, is listed in seeded order.
    """

    repo: str = "openbmb/UltraFeedback"
    revision: str | None = None

    def load(self, seed: int) -> CandidatePool:
        """The pool of the files; raises DataError naming file and row."""
        read = [hub_table(self.repo, self.revision, None, SETTING)] if self.path is None else tables(self.path, SETTING)
        rows: list[Row] = []
        skipped: Counter[str] = Counter()
        for row in (row for table in read for row in table.rows):
            found = list(_original(row)) if "completions" in row.values else _binarized(row, seed)
            skipped[EMPTY] += not found
            rows += found
        return pool_of(self, read, rows, skipped, seed)


def _original(row: Row) -> Iterator[Row]:
    prompt = row.text("instruction")
    completions = row.value("completions")
    if not isinstance(completions, list) or not all(isinstance(value, dict) for value in completions):
        raise DataError(f"{row.place}: 'completions' must be a list of objects")
    for value in completions:
        completion = Row(row.file, row.number, value)
        model = None if value.get("model") is None else completion.text("model")
        # Rows published before the overall scores lack the column.
        reference = as_reference(value.get("overall_score"), "overall_score", row.place)
        yield _candidate(row, prompt, response_text(completion, "response"), reference, model)


def _binarized(row: Row, seed: int) -> list[Row]:
    prompt = row.text("prompt")
    metadata = row.value("metadata")
    if not isinstance(metadata, dict):
        raise DataError(f"{row.place}: 'metadata' must be an object with score_chosen and score_rejected")
    scores = Row(row.file, row.number, metadata)
    pair = []
    for side in ("chosen", "rejected"):
        reference = as_reference(scores.value(f"score_{side}"), f"score_{side}", row.place)
        pair.append(_candidate(row, prompt, response_text(row, side), reference, None))
    return sorted(pair, key=lambda candidate: derived_seed(seed, "listing", candidate.value("candidate_id")))


def _candidate(row: Row, prompt: str, response: str, reference: float | None, model: str | None) -> Row:
    prompt_id = content_id(prompt)
    candidate_id = f"{prompt_id}:{content_id(model or '', response)}"
    return candidate_row(row, (prompt_id, prompt), candidate_id, response, reference, model)
