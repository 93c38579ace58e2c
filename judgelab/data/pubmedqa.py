"""PubMedQA (PQA-L): yes, no or maybe to the question of an abstract's title, from its JSON file."""

import hashlib
from pathlib import Path
from typing import Any

from judgelab.data.biomedical import ChoiceExample, Examples, Source
from judgelab.data.choices import choice_example
from judgelab.data.reading import json_object, read_bytes
from judgelab.data.rows import Row
from judgelab.errors import DataError

OPTIONS = {"A": "yes", "B": "no", "C": "maybe"}
LETTERS = {text: letter for letter, text in OPTIONS.items()}


def load_pubmedqa(path: str, test_path: str, settings: tuple[str, str]) -> Examples[ChoiceExample]:
    """The questions of `ori_pqal.json`; those that `test_ground_truth.json` lists are the official test split.

    A row is an entry of the object, counted from 1. DataError names file and row, and a listed PMID whose label is
    not the file's. Listed PMIDs that the file lacks are counted.
    """
    content, test = (read_bytes(Path(name), setting) for name, setting in zip((path, test_path), settings, strict=True))
    entries = json_object(path, content)
    labels = json_object(test_path, test)
    rows = {pmid: _row(path, n, pmid, entry) for n, (pmid, entry) in enumerate(entries.items(), start=1)}
    for pmid, label in labels.items():
        if pmid in rows and rows[pmid].value("final_decision") != label:
            raise DataError(f"{test_path}: PMID {pmid} is {label!r}, but {rows[pmid].place} has another final_decision")
    return Examples(
        tuple(_example(pmid, row, "test" if pmid in labels else "train") for pmid, row in rows.items()),
        {"test_questions_not_in_file": len(labels.keys() - rows.keys())},
        {path: hashlib.sha256(content).hexdigest(), test_path: hashlib.sha256(test).hexdigest()},
    )


def _row(path: str, number: int, pmid: str, entry: Any) -> Row:
    if not isinstance(entry, dict):
        raise DataError(f"{path}, row {number}: PMID {pmid} is {entry!r}, expected an object")
    return Row(path, number, entry)


def _example(pmid: str, row: Row, split: str) -> ChoiceExample:
    contexts = row.value("CONTEXTS")
    if not isinstance(contexts, list) or not all(isinstance(text, str) and text.strip() for text in contexts):
        raise DataError(f"{row.place}: 'CONTEXTS' of PMID {pmid} is {contexts!r}, expected a list of texts")
    if not contexts:
        raise DataError(f"{row.place}: 'CONTEXTS' of PMID {pmid} is empty; remove the row or fill it")
    gold = row.choice("final_decision", LETTERS)
    source = Source(pmid, f"pmid:{pmid}", row.place, split)
    return choice_example(row, source, row.text("QUESTION"), OPTIONS, gold, "\n".join(contexts))
