"""MedBullets, MedQA and PubMedQA: public files as they are, and rows that cannot be used."""

import csv
import json
from pathlib import Path

import pytest

from judgelab.data.medbullets import load_medbullets
from judgelab.data.medqa import load_medqa
from judgelab.data.pubmedqa import load_pubmedqa
from judgelab.errors import DataError

PUBLIC = Path(__file__).resolve().parents[2].parent / "shared" / "data"
needs_public = pytest.mark.skipif(not PUBLIC.is_dir(), reason="no shared/data beside the repository")
BULLET = {"link": "l", "question": "Q?", "opa": "w", "opb": "x", "opc": "y", "opd": "z", "answer_idx": "B"}
BULLET |= {"answer": "x", "explanation": "e"}
MEDQA = {"realidx": 3, "question": "Q?", "options": {"A": "w", "B": "x"}, "answer": "x", "answer_idx": "B"}
ABSTRACT = {"QUESTION": "Q?", "CONTEXTS": ["one", "two"], "final_decision": "no"}


def bullets(tmp_path, *rows):
    path = tmp_path / "op4.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return load_medbullets(str(path), "path")


def medqa(tmp_path, *rows):
    path = tmp_path / "test.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return load_medqa(str(path), "path")


def pubmedqa(tmp_path, entries, labels):
    for name, value in {"pqal.json": entries, "test.json": labels}.items():
        (tmp_path / name).write_text(json.dumps(value), encoding="utf-8")
    return load_pubmedqa(str(tmp_path / "pqal.json"), str(tmp_path / "test.json"), ("path", "test_path"))


@needs_public
def test_public_questions_keep_their_answers():
    with (PUBLIC / "medbullets/medbullets_op4.csv").open(encoding="utf-8", newline="") as file:
        answers = {row["link"]: row["answer"] for row in csv.DictReader(file)}
    examples = load_medbullets(str(PUBLIC / "medbullets/medbullets_op4.csv"), "path").examples
    assert {e.source.source_id: e.options[e.gold] for e in examples} == answers
    lines = (PUBLIC / "medqa/US_4_options_test.jsonl").read_text(encoding="utf-8").split("\n")
    answers = {str(row["realidx"]): row["answer"] for row in map(json.loads, filter(None, lines))}
    examples = load_medqa(str(PUBLIC / "medqa/US_4_options_test.jsonl"), "path").examples
    assert {e.source.source_id: e.options[e.gold] for e in examples} == answers
    paths = [PUBLIC / "pubmedqa" / name for name in ("ori_pqal.json", "test_ground_truth.json")]
    entries, labels = (json.loads(path.read_text(encoding="utf-8")) for path in paths)
    examples = load_pubmedqa(str(paths[0]), str(paths[1]), ("", "")).examples
    assert {e.source.source_id: e.options[e.gold] for e in examples} == {
        pmid: entry["final_decision"] for pmid, entry in entries.items()
    }
    assert {e.source.source_id for e in examples if e.source.official_split == "test"} == set(labels)


def test_the_same_question_under_two_links_is_one_group(tmp_path):
    examples = bullets(tmp_path, BULLET, BULLET | {"link": "m", "question": "q? "}).examples
    assert len({example.source.group for example in examples}) == 1
    assert len({example.source.source_id for example in examples}) == 2


def test_five_options_are_read_where_the_file_has_them(tmp_path):
    (example,) = bullets(tmp_path, BULLET | {"ope": "v"}).examples
    assert list(example.options) == list("ABCDE")


def test_contexts_become_the_passage_and_listed_questions_the_test_split(tmp_path):
    loaded = pubmedqa(tmp_path, {"11": ABSTRACT, "12": ABSTRACT}, {"12": "no", "13": "yes"})
    assert [(e.passage, e.gold, e.source.official_split) for e in loaded.examples] == [
        ("one\ntwo", "B", "train"),
        ("one\ntwo", "B", "test"),
    ]
    assert loaded.counts == {"test_questions_not_in_file": 1}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"opa": "X "}, "row 1: option B equals the right option A"),
        ({"opd": "y"}, "row 1: option D equals option C"),
        ({"answer_idx": "F"}, "row 1: the answer is 'F', expected one of A, B, C, D"),
        ({"answer": "w"}, "row 1: the answer is 'w', but option B reads 'x'"),
        ({"opc": ""}, "row 1: empty 'opc'"),
    ],
)
def test_bad_medbullets_rows(tmp_path, change, message):
    with pytest.raises(DataError, match=message):
        bullets(tmp_path, BULLET | change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"options": {"A": "x"}}, "row 1: 'options' is .* at least two letters"),
        ({"options": {"A": "x", "B": "X"}}, "row 1: option B equals the right option A"),
        ({"options": {"A": "x", "B": None}}, "row 1: 'B' is None, expected text"),
        ({"answer_idx": "C"}, "row 1: the answer is 'C'"),
    ],
)
def test_bad_medqa_rows(tmp_path, change, message):
    with pytest.raises(DataError, match=message):
        medqa(tmp_path, MEDQA | change)


@pytest.mark.parametrize(
    ("entry", "labels", "message"),
    [
        ({"final_decision": "Yes"}, {"12": "no"}, "row 1: 'final_decision' is 'Yes', outside"),
        ({"CONTEXTS": []}, {"12": "no"}, "row 1: 'CONTEXTS' of PMID 11 is empty"),
        ({"CONTEXTS": ["a", 1]}, {"12": "no"}, "row 1: 'CONTEXTS' of PMID 11 is"),
        ({}, {"11": "yes"}, "PMID 11 is 'yes', but .*row 1 has another"),
    ],
)
def test_bad_pubmedqa_entries(tmp_path, entry, labels, message):
    with pytest.raises(DataError, match=message):
        pubmedqa(tmp_path, {"11": ABSTRACT | entry}, labels)
