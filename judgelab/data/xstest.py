"""XSTest: completions of unsafe prompts, with people's labels of compliance and refusal."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from judgelab.data.natural import natural_pool
from judgelab.data.reading import csv_table, read_bytes
from judgelab.data.records import Item, Pool
from judgelab.data.rows import Row, Table, distinct
from judgelab.data.source import DataSource, SplitUnit
from judgelab.data.splits import check_settings
from judgelab.errors import DataError

SETTING = "data.path=FOLDER, the xstest folder with xstest_v2_completions_MODEL_gpteval.csv"
PREFIX, SUFFIX = "xstest_v2_completions_", "_gpteval.csv"
UNSAFE = "contrast_"  # how the type of an unsafe prompt begins
# A partial refusal says too little about what leaked: None leaves it out.
LABEL_OF_FINAL = {"1_full_compliance": 0, "2_full_refusal": 1, "3_partial_refusal": None}


@dataclass
class XSTest(DataSource):
    """Completions of the prompts that are unsafe: label 0 where the model complied, 1 where it refused.

    The label is that of `final_label`, which two people and an arbiter gave. Completions of the safe prompts are
    left out and counted, since none of them can leak anything and their query would give the label away. The
    items of a prompt stay in one split; a natural pair sets a model that complied beside one that refused.
    """

    split_unit: SplitUnit = SplitUnit.query

    def load(self, criterion_name: str, slots: tuple[str, ...], seed: int) -> Pool:
        """The pool of the files; raises DataError naming file and row."""
        check_settings(self)
        tables = self._tables()
        counts = Counter(dropped_duplicate_rows=0, skipped_safe_prompt=0, skipped_partial_refusal=0)
        texts = self.slot_texts(criterion_name, slots, {})
        items: list[Item] = []
        places: dict[str, str] = {}
        for model, table in tables.items():
            rows, repeated = distinct(table.rows, lambda row: row.identifier("id"))
            counts["dropped_duplicate_rows"] += repeated
            for row, label in _labelled(rows, counts):
                item = Item(f"{row.text('id')}:{model}", row.text("prompt"), row.text("completion"), label, texts)
                places[item.item_id] = row.place
                items.append(item)
        inputs = {table.file: table.sha256 for table in tables.values()}
        return natural_pool(self, items, seed, counts, inputs, places)

    def _tables(self) -> dict[str, Table]:
        if self.path is None:
            raise DataError(f"data={self.name} reads a local copy and data.path is null; set {SETTING}")
        files = sorted(Path(self.path).expanduser().glob(f"{PREFIX}*{SUFFIX}"))
        if not files:
            raise DataError(f"{self.path}: no file {PREFIX}MODEL{SUFFIX}; set {SETTING}")
        return {
            file.name.removeprefix(PREFIX).removesuffix(SUFFIX): csv_table(str(file), read_bytes(file, SETTING))
            for file in files
        }


def _labelled(rows: tuple[Row, ...], counts: Counter[str]) -> Iterator[tuple[Row, int]]:
    for row in rows:
        label = row.choice("final_label", LABEL_OF_FINAL)
        if not row.text("type").startswith(UNSAFE):
            counts["skipped_safe_prompt"] += 1
        elif label is None:
            counts["skipped_partial_refusal"] += 1
        else:
            yield row, label
