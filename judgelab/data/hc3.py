"""HC3: people's and ChatGPT's answers to the same questions."""

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
from judgelab.run.randomness import derived_seed, sha256_text

SETTING = "data.path=FILE, a JSON-lines file of HC3 such as wiki_csai.jsonl"
LABEL_OF_COLUMN = {"human_answers": 1, "chatgpt_answers": 0}


@dataclass
class HC3(DataSource):
    """One answer of each side per question; label 1 where a person wrote it, 0 where ChatGPT did.

    CPA labels HC3 by the votes of five models on how a text reads, and does not publish them; who wrote the text
    stands in for that here. `path` is a file of the release, null reads `file` of the hub data set `repo`. Of
    several answers one is drawn; a question that lacks a side is skipped and counted. A question and its pair
    stay in one split.
    """

    split_unit: SplitUnit = SplitUnit.query
    repo: str = "Hello-SimpleAI/HC3"
    file: str = "all.jsonl"
    revision: str | None = None

    def load(self, criterion_name: str, slots: tuple[str, ...], seed: int) -> Pool:
        """The pool of the table; raises DataError naming file and row."""
        check_settings(self)
        table = self._table()
        rows, repeated_rows = distinct(table.rows, lambda row: row.text("question"))
        counts = Counter(dropped_duplicate_rows=repeated_rows, skipped_without_both_sides=0)
        texts = self.slot_texts(criterion_name, slots, {})
        items: list[Item] = []
        places: dict[str, str] = {}
        for row in rows:
            answers = {column: row.texts(column) for column in LABEL_OF_COLUMN}
            if not all(answers.values()):
                counts["skipped_without_both_sides"] += 1
                continue
            for column, label in LABEL_OF_COLUMN.items():
                item = _item(row, column, _drawn(answers[column], seed), label, texts)
                places[item.item_id] = row.place
                items.append(item)
        return natural_pool(self, items, seed, counts, {table.file: table.sha256}, places)

    def _table(self) -> Table:
        if self.path is None:
            return hub_table(self.repo, self.revision, self.file, SETTING)
        return jsonl_table(self.path, read_bytes(Path(self.path), SETTING))


def _item(row: Row, column: str, answer: str, label: int, slots: dict[str, str]) -> Item:
    question = row.text("question")
    return Item(f"{sha256_text(question)[:12]}:{column}", question, answer, label, slots)


def _drawn(answers: tuple[str, ...], seed: int) -> str:
    return min(answers, key=lambda answer: derived_seed(seed, "hc3", answer))
