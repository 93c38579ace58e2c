"""HaluEval's question answering part: a right and a hallucinated answer to a question about a given text."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from judgelab.data.hub import hub_table
from judgelab.data.natural import natural_pool
from judgelab.data.reading import jsonl_table, read_bytes
from judgelab.data.records import Item, Pool
from judgelab.data.rows import Row, Table, distinct
from judgelab.data.source import DataSource, SplitUnit
from judgelab.data.splits import check_settings
from judgelab.run.randomness import sha256_text

SETTING = "data.path=FOLDER, the halueval folder with qa_data.json"
LABEL_OF_COLUMN = {"right_answer": 1, "hallucinated_answer": 0}


@dataclass
class HaluEval(DataSource):
    """Two items per question, its right answer (label 1) and its hallucinated one (label 0), as in CPA A.6.

    `path` is the folder or the file of the public `qa_data.json` (JSON lines); null reads the hub data set
    `repo`. The `knowledge` of a row is the slot `context`. A question and its pair stay in one split.
    """

    split_unit: SplitUnit = SplitUnit.query
    repo: str = "pminervini/HaluEval"
    revision: str | None = None

    def load(self, criterion_name: str, slots: tuple[str, ...], seed: int) -> Pool:
        """The pool of the table; raises DataError naming file and row."""
        check_settings(self)
        table = self._table()
        rows, repeated_rows = distinct(table.rows, _name)
        items: list[Item] = []
        places: dict[str, str] = {}
        for row in rows:
            texts = self.slot_texts(criterion_name, slots, {"context": row.text("knowledge")})
            for column, label in LABEL_OF_COLUMN.items():
                item = Item(f"{_name(row)}:{column}", row.text("question"), row.text(column), label, texts)
                places[item.item_id] = row.place
                items.append(item)
        counts = Counter(dropped_duplicate_rows=repeated_rows)
        return natural_pool(self, items, seed, counts, {table.file: table.sha256}, places)

    def _table(self) -> Table:
        if self.path is None:
            return hub_table(self.repo, self.revision, None, SETTING, ("qa", "data"))
        path = Path(self.path)
        file = path / "qa_data.json" if path.expanduser().is_dir() else path
        return jsonl_table(str(file), read_bytes(file, SETTING))


def _name(row: Row) -> str:
    """A question may be asked of several texts."""
    return sha256_text(f"{row.text('question')}\n{row.text('knowledge')}")[:12]
