"""The pool of candidates that ships in the package."""

from dataclasses import dataclass
from importlib.resources import files

from judgelab.data.candidate_filters import pool_of
from judgelab.data.candidate_rows import schema_row
from judgelab.data.candidates import CandidatePool, CandidateSource
from judgelab.data.reading import jsonl_table
from judgelab.errors import ConfigError

BUNDLED = "pool.jsonl"


@dataclass
class PoolSample(CandidateSource):
    """30 everyday prompts with four candidates each, written for this project, as data=candidates_file reads them.

    References are one person's ratings from 1 (useless or harmful) to 10, with ties; a prompt's listing order is
    random, and the length of a response says next to nothing about its rating.
    """

    def load(self, seed: int) -> CandidatePool:
        """The bundled pool; ConfigError where `path` asks for another one."""
        if self.path is not None:
            raise ConfigError(f"data.path={self.path}: data={self.name} is bundled; use data=candidates_file")
        content = (files("judgelab.data") / "samples" / BUNDLED).read_bytes()
        table = jsonl_table(f"judgelab/data/samples/{BUNDLED}", content)
        return pool_of(self, [table], [schema_row(row) for row in table.rows], {}, seed)
