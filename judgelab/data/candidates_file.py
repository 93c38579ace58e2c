"""A user's own pool of candidates."""

from dataclasses import dataclass

from judgelab.data.candidate_filters import pool_of
from judgelab.data.candidate_rows import schema_row
from judgelab.data.candidates import CandidatePool, CandidateSource
from judgelab.data.tables import file_table
from judgelab.errors import DataError

SETTING = "data.path=FILE.jsonl, FILE.json or FILE.parquet"


@dataclass
class CandidatesFile(CandidateSource):
    """JSON lines, a JSON array or parquet with one row per candidate response, read from `path`.

    Columns: `prompt_id` (text or integer), `prompt` (text), `candidate_id` (text or integer, one row in the whole
    file), `response` (text), and optionally `reference` (a finite number, or NaN, null or "N/A" for none) and
    `model` (text or null). Other columns are left aside. The order of a prompt's rows is the listing order.
    """

    def load(self, seed: int) -> CandidatePool:
        """The pool of the file; raises DataError naming file and row."""
        if self.path is None:
            raise DataError(f"data={self.name} reads your file and data.path is null; set {SETTING}")
        table = file_table(self.path, SETTING)
        return pool_of(self, [table], [schema_row(row) for row in table.rows], {}, seed)
