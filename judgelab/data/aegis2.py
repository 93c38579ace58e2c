"""Aegis 2.0: prompts and responses with safety labels, from the hub or from local files."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from judgelab.data.hub import hub_table
from judgelab.data.pairs import natural_pairs, touching
from judgelab.data.reading import json_table, read_bytes
from judgelab.data.records import Item, Pool
from judgelab.data.rows import Row, Table, distinct
from judgelab.data.source import DataSource
from judgelab.data.splits import Items, Splits, check_settings, guard, limit, settle, split, unique_texts
from judgelab.errors import ConfigError, DataError

TRAIN_FILES = ("train.json", "refusals_train.json")
TEST_FILE = "test.json"
LABEL_OF_RESPONSE = {"safe": 1, "unsafe": 0}
SETTING = "data.path=FOLDER with train.json, refusals_train.json and test.json"


@dataclass
class Aegis2(DataSource):
    """`response_label` safe is label 1, unsafe label 0; the splits are those of the published files.

    `path` null reads the hub data set `repo` at `revision`, else a folder in its public layout. Rows without
    a response, without a response label (prompt-only rows), or with a redacted prompt are skipped and
    counted. Training texts that the test file holds too leave training and are counted.

    CPA trains criminality on 616 items and publishes neither which ones nor the size of its test split: here
    `train_items` balanced items are drawn by seeded hash order, validation in proportion, and the whole
    balanced test file is kept (`limit` caps each split). Natural pairs match a prompt's responses with
    opposite labels; a partner may be a training item that was not drawn.
    """

    repo: str = "nvidia/Aegis-AI-Content-Safety-Dataset-2.0"
    revision: str | None = None
    train_items: int = 616

    def load(self, criterion_name: str, slots: tuple[str, ...], seed: int) -> Pool:
        """The pool of the files; raises DataError naming file and row."""
        self._check()
        tables = [self._table(name) for name in (*TRAIN_FILES, TEST_FILE)]
        counts: Counter[str] = Counter()
        places: dict[str, str] = {}
        read = [_items(table, slots, counts, places) for table in tables]
        train, test = _unique(read[0] + read[1], counts), _unique(read[2], counts)
        train = _without(train, test, counts)
        all_train, all_validation, _ = split(train, self.split_unit, (0.0, self.validation_fraction), seed)
        drawn = Splits(*self._draw(all_train, all_validation, seed), test)
        parts, more_counts = settle(drawn, self, seed)
        counts["dropped_for_train_items"] = len(all_train + all_validation) - len(drawn.train + drawn.validation)
        train_pairs = touching(natural_pairs(all_train, seed), parts.train)
        validation_pairs = touching(natural_pairs(all_validation, seed), parts.validation)
        counts["natural_pairs"] = len(train_pairs) + len(validation_pairs)
        inputs = {table.file: table.sha256 for table in tables}
        pool = Pool(*parts, train_pairs, validation_pairs, {**counts, **more_counts}, inputs)
        guard(pool, places)
        return pool

    def _check(self) -> None:
        check_settings(self)
        if self.train_items < 2 or self.train_items % 2:
            raise ConfigError(f"data.train_items={self.train_items}: expected an even number of at least 2")

    def _table(self, name: str) -> Table:
        if self.path is None:
            return hub_table(self.repo, self.revision, name, SETTING)
        file = Path(self.path) / name
        return json_table(str(file), read_bytes(file, SETTING))

    def _draw(self, train: Items, validation: Items, seed: int) -> tuple[Items, Items]:
        drawn = limit(train, self.train_items, seed)
        if len(drawn) < self.train_items:
            raise DataError(
                f"{self.path or self.repo}: data.train_items={self.train_items}, but only {len(drawn)} "
                f"training items balance over the labels; set data.train_items={max(len(drawn), 2)}"
            )
        share = self.validation_fraction / (1 - self.validation_fraction)
        return drawn, limit(validation, round(self.train_items * share), seed)


def _items(table: Table, slots: tuple[str, ...], counts: Counter[str], places: dict[str, str]) -> Items:
    rows, repeated = distinct(table.rows, lambda row: row.identifier("id"))
    counts["dropped_duplicate_rows"] += repeated
    items: list[Item] = []
    for row in rows:
        reason = _reason_to_skip(row)
        if reason:
            counts[reason] += 1
            continue
        item = _item(row, slots)
        places[item.item_id] = row.place
        items.append(item)
    return tuple(items)


def _reason_to_skip(row: Row) -> str | None:
    response = row.value("response")
    if row.value("prompt") == "REDACTED":
        return "skipped_redacted"
    if response is None or (isinstance(response, str) and not response.strip()):
        return "skipped_without_response"
    if row.value("response_label") is None:
        return "skipped_without_label"
    return None


def _item(row: Row, slots: tuple[str, ...]) -> Item:
    return Item(
        # The refusals continue the prompts of the main file, so an id is only known to be one file's own.
        item_id=f"{Path(row.file).stem}:{row.identifier('id')}",
        query=row.text("prompt"),
        response=row.text("response"),
        label=row.choice("response_label", LABEL_OF_RESPONSE),
        slots={slot: row.text(slot) for slot in slots},
    )


def _unique(items: Iterable[Item], counts: Counter[str]) -> Items:
    kept, repeats, conflicting = unique_texts(items)
    counts["dropped_exact_duplicates"] += repeats
    counts["dropped_conflicting_labels"] += conflicting
    return kept


def _without(train: Items, test: Items, counts: Counter[str]) -> Items:
    tested = {(item.query, item.response) for item in test}
    kept = tuple(item for item in train if (item.query, item.response) not in tested)
    counts["dropped_from_training_in_test"] = len(train) - len(kept)
    return kept
