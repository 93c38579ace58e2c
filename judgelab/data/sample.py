"""The sample that ships in the package, and a user's own file in the same format."""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from judgelab.data.pairs import counterfactual_pair, touching
from judgelab.data.reading import jsonl_table, read_bytes
from judgelab.data.records import Item, Pair, Pool
from judgelab.data.rows import Row, Table, distinct
from judgelab.data.source import DataSource
from judgelab.data.splits import Splits, check_settings, guard, settle, split, unique_texts
from judgelab.errors import DataError

SPLITS = {"train": "train", "test": "test"}
LABELS = {0: 0, 1: 1}
REASONS, RATIONALES = "pair_reasons", "pair_rationales"


@dataclass
class SampleSource(DataSource):
    """JSON lines with id, split, query, response, label and, in train rows, a counterfactual.

    The train and test parts are those of the file, validation is cut from train. Each train item gives one
    pair with its counterfactual, none where that is null. `rationales` (a list), `pair_reasons` (what following the
    satisfying and the other response means) and `pair_rationales` (whole ones, of the pair with the satisfying and
    with the other response first) are optional; further texts that the criterion's prompt shows are columns of their
    own. `path` null is the bundled sample of the criterion.
    """

    def load(self, criterion_name: str, slots: tuple[str, ...], seed: int) -> Pool:
        """The pool of the file; raises DataError naming file and row."""
        check_settings(self)
        table = self._table(criterion_name)
        rows, repeated_rows = distinct(table.rows, lambda row: row.identifier("id"))
        pairs: list[Pair] = []
        by_split: dict[str, list[Item]] = {name: [] for name in SPLITS}
        for row in rows:
            item = _item(row, slots)
            by_split[row.choice("split", SPLITS)].append(item)
            if row.value("split") == "train" and row.value("counterfactual") is not None:
                pairs.append(_pair(row, item))
        train, train_repeats, train_conflicts = unique_texts(by_split["train"])
        test, test_repeats, test_conflicts = unique_texts(by_split["test"])
        fit, validation, _ = split(train, self.split_unit, (0.0, self.validation_fraction), seed)
        parts, counts = settle(Splits(fit, validation, test), self, seed)
        pool = Pool(
            *parts,
            train_pairs=touching(pairs, parts.train),
            validation_pairs=touching(pairs, parts.validation),
            counts={
                "dropped_duplicate_rows": repeated_rows,
                "dropped_exact_duplicates": train_repeats + test_repeats,
                "dropped_conflicting_labels": train_conflicts + test_conflicts,
                **counts,
            },
            inputs={table.file: table.sha256},
        )
        guard(pool, _places(rows))
        return pool

    def _table(self, criterion_name: str) -> Table:
        if self.path is not None:
            return jsonl_table(self.path, read_bytes(Path(self.path), "data.path=FILE.jsonl"))
        folder = files("judgelab.data") / "samples"
        named = {entry.name.removesuffix(".jsonl") for entry in folder.iterdir()}
        existing = sorted(named - {"pool"})  # the bundled pool of candidates carries no labels
        if criterion_name not in existing:
            raise DataError(
                f"data=sample has no bundled sample for criterion {criterion_name!r}, only for "
                f"{', '.join(existing)}; set data.path=FILE.jsonl"
            )
        name = f"{criterion_name}.jsonl"
        return jsonl_table(f"judgelab/data/samples/{name}", (folder / name).read_bytes())


def _item(row: Row, slots: Iterable[str]) -> Item:
    return Item(
        item_id=str(row.identifier("id")),
        query=row.text("query"),
        response=row.text("response"),
        label=row.choice("label", LABELS),
        slots={slot: row.text(slot) for slot in slots},
        rationales=_rationales(row),
    )


def _rationales(row: Row) -> tuple[str, ...]:
    texts = row.values.get("rationales", [])
    if not isinstance(texts, list) or not all(isinstance(text, str) and text.strip() for text in texts):
        raise DataError(f"{row.place}: 'rationales' must be a list of texts, none of them empty")
    if len(set(texts)) < len(texts):
        raise DataError(f"{row.place}: 'rationales' repeats a text; the rationales of an item are distinct")
    return tuple(texts)


def _pair(row: Row, item: Item) -> Pair:
    counterfactual = row.text("counterfactual")
    try:
        return counterfactual_pair(item, counterfactual, _two_texts(row, REASONS), _two_texts(row, RATIONALES))
    except DataError as error:
        raise DataError(f"{row.place}: {error}") from error


def _two_texts(row: Row, column: str) -> tuple[str, str] | None:
    match row.values.get(column):
        case None:
            return None
        case [str(satisfying), str(other)] if satisfying.strip() and other.strip():
            return satisfying, other
    raise DataError(f"{row.place}: {column!r} must be two texts, of the satisfying and of the other response")


def _places(rows: Iterable[Row]) -> dict[str, str]:
    return {str(row.identifier("id")): row.place for row in rows}
