"""Do-Not-Answer: six models' responses to risky questions, with human harm labels."""

from dataclasses import dataclass
from pathlib import Path

from judgelab.data.natural import natural_pool
from judgelab.data.reading import csv_table, read_bytes
from judgelab.data.records import Item, Pool
from judgelab.data.rows import Row, distinct
from judgelab.data.source import DataSource, SplitUnit
from judgelab.data.splits import check_settings
from judgelab.errors import DataError

MODELS = ("GPT4", "ChatGPT", "Claude", "ChatGLM2", "llama2-7b-chat", "vicuna-7b")
LABEL_OF_HARMFUL = {"1": 0, "0": 1}
SETTING = "data.path=FOLDER, the do_not_answer folder with data_en.csv"


@dataclass
class DoNotAnswer(DataSource):
    """The public `data_en.csv`: a response that people marked as harmful has label 0, any other label 1.

    `path` is the folder or the file. Items are split by question, then each split is balanced: harmless
    responses are the majority and are dropped in seeded order. A natural pair sets a harmful response beside
    a harmless one to the same question; its partner may be an item that balancing left out, of the same
    split. There are no rationales (the reviews in the data set are a model's, not people's), so training
    targets are the verdict alone. An empty response is an error: the published file has none.
    """

    split_unit: SplitUnit = SplitUnit.query

    def load(self, criterion_name: str, slots: tuple[str, ...], seed: int) -> Pool:
        """The pool of the file; raises DataError naming file and row."""
        check_settings(self)
        file = self._file()
        table = csv_table(file, read_bytes(Path(file), SETTING))
        rows, repeated_rows = distinct(table.rows, lambda row: row.identifier("id"))
        places = {_item_id(row, model): row.place for row in rows for model in MODELS}
        items = (_item(row, model, slots) for row in rows for model in MODELS)
        counts = {"dropped_duplicate_rows": repeated_rows}
        return natural_pool(self, items, seed, counts, {table.file: table.sha256}, places)

    def _file(self) -> str:
        if self.path is None:
            raise DataError(f"data=do_not_answer reads a local copy and data.path is null; set {SETTING}")
        path = Path(self.path)
        return str(path / "data_en.csv" if path.expanduser().is_dir() else path)


def _item_id(row: Row, model: str) -> str:
    return f"{row.identifier('id')}:{model}"


def _item(row: Row, model: str, slots: tuple[str, ...]) -> Item:
    return Item(
        item_id=_item_id(row, model),
        query=row.text("question"),
        response=row.text(f"{model}_response"),
        label=row.choice(f"{model}_harmful", LABEL_OF_HARMFUL),
        slots={slot: row.text(slot) for slot in slots},
    )
