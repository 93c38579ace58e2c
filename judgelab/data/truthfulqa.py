"""TruthfulQA: questions that invite a common error, with correct and incorrect answers."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from judgelab.data.hub import hub_table
from judgelab.data.natural import natural_pool
from judgelab.data.reading import csv_table, read_bytes
from judgelab.data.records import Item, Pool
from judgelab.data.rows import Row, Table, distinct
from judgelab.data.source import DataSource, SplitUnit
from judgelab.data.splits import check_settings
from judgelab.errors import DataError
from judgelab.run.randomness import derived_seed, sha256_text

SETTING = "data.path=FOLDER, the truthfulqa folder with TruthfulQA.csv"


@dataclass
class TruthfulQA(DataSource):
    """Two items per question, a correct answer (label 1) and an incorrect one (label 0), as in CPA A.6.

    `path` is the folder or the file of the public `TruthfulQA.csv`; null reads the hub data set `repo`. The best
    answer is the slot `reference`, so it is never an item itself, or equality would decide: the correct answer
    is drawn among the others, and a question without another one is skipped and counted. An answer listed on
    both sides leaves both. The paper splits by item; here a question and its pair stay in one split.
    """

    split_unit: SplitUnit = SplitUnit.query
    repo: str = "domenicrosati/TruthfulQA"
    revision: str | None = None

    def load(self, criterion_name: str, slots: tuple[str, ...], seed: int) -> Pool:
        """The pool of the table; raises DataError naming file and row."""
        check_settings(self)
        table = self._table()
        rows, repeated_rows = distinct(table.rows, lambda row: row.text("Question"))
        counts = Counter(dropped_duplicate_rows=repeated_rows, skipped_without_second_answer=0, answers_on_both_sides=0)
        items: list[Item] = []
        places: dict[str, str] = {}
        for row in rows:
            texts = self.slot_texts(criterion_name, slots, {"reference": row.text("Best Answer")})
            made = tuple(_items(row, texts, seed, counts))
            places |= {item.item_id: row.place for item in made}
            items += made
        return natural_pool(self, items, seed, counts, {table.file: table.sha256}, places)

    def _table(self) -> Table:
        if self.path is None:
            return hub_table(self.repo, self.revision, None, SETTING)
        path = Path(self.path)
        file = path / "TruthfulQA.csv" if path.expanduser().is_dir() else path
        return csv_table(str(file), read_bytes(file, SETTING))


def _items(row: Row, slots: dict[str, str], seed: int, counts: Counter[str]) -> Iterator[Item]:
    question, best = row.text("Question"), row.text("Best Answer")
    correct, incorrect = _answers(row, "Correct Answers"), _answers(row, "Incorrect Answers")
    counts["answers_on_both_sides"] += len(correct & incorrect)
    others, wrong = correct - incorrect - {best.strip()}, incorrect - correct
    if not others or not wrong:
        counts["skipped_without_second_answer"] += 1
        return
    name = sha256_text(question)[:12]
    for side, label, answers in (("correct", 1, others), ("incorrect", 0, wrong)):
        yield Item(f"{name}:{side}", question, _drawn(answers, question, seed), label, slots)


def _answers(row: Row, column: str) -> set[str]:
    """The answers of a `; `-separated cell."""
    answers = {part.strip() for part in row.text(column).split(";")} - {""}
    if not answers:
        raise DataError(f"{row.place}: {column!r} lists no answer")
    return answers


def _drawn(answers: Iterable[str], question: str, seed: int) -> str:
    return min(answers, key=lambda answer: derived_seed(seed, "truthfulqa", question, answer))
