import json
from pathlib import Path

import pytest

from judgelab.data.bfcl import BFCL
from judgelab.errors import DataError

PUBLIC = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "bfcl"
needs_public = pytest.mark.skipif(not PUBLIC.is_dir(), reason="no shared/data/bfcl beside the repository")


def load(path, seed=42, slots=("tools",), **settings):
    return BFCL(name="bfcl", path=path and str(path), **settings).load("tool_parameters", slots, seed)


def lines(file):
    return {row["id"]: row for row in map(json.loads, file.read_text("utf-8").split("\n")[:-1] or [])}


def called(response):
    value = json.loads(response)
    return value if isinstance(value, list) else [value]


@needs_public
def test_a_given_call_has_accepted_values_alone_and_a_changed_one_breaks_exactly_one():
    pool = load(PUBLIC)
    answers = {}
    for file in (PUBLIC / "possible_answer").glob("*.json"):
        answers |= {
            row["id"]: row["ground_truth"] for row in map(json.loads, filter(None, file.open(encoding="utf-8")))
        }
    items = pool.train + pool.validation + pool.test
    assert len(items) > 1000
    for item in items:
        calls, truth = called(item.response), answers[item.item_id.rpartition(":")[0]]
        assert [call["name"] for call in calls] == [name for call in truth for name in call]
        outside = 0
        for call, accepted in zip(calls, truth, strict=True):
            lists = accepted[call["name"]]
            assert all("" in lists[name] for name in lists.keys() - call["arguments"].keys())
            for name, value in call["arguments"].items():
                # Nested objects list accepted values inside; only plain arguments are ever changed.
                if not isinstance(value, dict | list):
                    outside += value not in lists[name]
        assert outside == 1 - item.label


@needs_public
def test_the_tools_are_those_of_the_request_and_pairs_stay_in_one_split():
    pool = load(PUBLIC)
    asked = {}
    for file in PUBLIC.glob("BFCL_*.json"):
        asked |= {row["id"]: row for row in map(json.loads, filter(None, file.open(encoding="utf-8")))}
    for item in pool.train:
        assert json.loads(item.slots["tools"]) == asked[item.item_id.rpartition(":")[0]]["function"]
    assert not {item.query for item in pool.train} & {item.query for item in pool.test}
    assert load(PUBLIC).test == pool.test != load(PUBLIC, seed=1).test


def folder(tmp_path, truths, count=12):
    (tmp_path / "possible_answer").mkdir()
    asked = [
        {"id": f"s_{n}", "question": [[{"role": "user", "content": f"ask {n}"}]], "function": [{"name": "f"}]}
        for n in range(count)
    ]
    answers = [{"id": f"s_{n}", "ground_truth": [{"f": {"a": [f"value {n}"]}}]} for n in range(count)]
    for n, truth in truths.items():
        answers[n]["ground_truth"] = truth
    for file, rows in (
        (tmp_path / "BFCL_v4_s.json", asked),
        (tmp_path / "possible_answer" / "BFCL_v4_s.json", answers),
    ):
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return tmp_path


def test_optional_arguments_are_left_out_and_objects_take_their_first_choice(tmp_path):
    nested = [{"f": {"a": ["x"], "b": ["", 3], "c": [{"k": [1, 2], "l": ["", 5]}], "d": [[{"m": ["n"]}]]}}]
    pool = load(folder(tmp_path, {0: nested}))
    items = {item.item_id: item for item in pool.train + pool.validation + pool.test}
    assert called(items["s_0:given"].response)[0]["arguments"] == {"a": "x", "c": {"k": 1}, "d": [{"m": "n"}]}


@pytest.mark.parametrize(
    ("truth", "message"),
    [([], "'ground_truth' must be a list of objects"), ([{"f": {"a": 3}}], "f.a is 3, expected the list of accepted")],
)
def test_bad_answers_name_file_and_row(tmp_path, truth, message):
    with pytest.raises(DataError, match=f"possible_answer/BFCL_v4_s.json, row 3: .*{message}|row 3: {message}"):
        load(folder(tmp_path, {2: truth}))


def test_a_request_without_answer_and_a_missing_folder_say_so(tmp_path):
    path = folder(tmp_path, {})
    file = path / "possible_answer" / "BFCL_v4_s.json"
    file.write_text("\n".join(file.read_text("utf-8").split("\n")[:-2]), "utf-8")
    with pytest.raises(DataError, match=r"BFCL_v4_s\.json, row 12: .* has no answer to id 's_11'"):
        load(path)
    with pytest.raises(DataError, match=r"set data\.path=FOLDER, the bfcl folder"):
        load(None)
