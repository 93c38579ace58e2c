import csv
from pathlib import Path

import pytest

from judgelab.data.medcalc_bench import load_medcalc_bench
from judgelab.errors import DataError

PUBLIC = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "medcalc_bench"
needs_public = pytest.mark.skipif(not PUBLIC.is_dir(), reason="no shared/data/medcalc_bench beside the repository")
ROW = {
    "Unique ID": "1", "Calculator ID": "5", "Calculator Name": "Mean Arterial Pressure (MAP)", "Category": "physical",
    "Note ID": "n1", "Patient Note": "120/80", "Question": "MAP?", "Relevant Entities": "{'a': [1, 'b'], 'c': True}",
    "Ground Truth Answer": "93.3", "Lower Limit": "90", "Upper Limit": "96",
}  # fmt: skip


def write(tmp_path, *rows):
    path = tmp_path / "test_data.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def test_entities_are_python_literals_and_calendar_answers_are_counted(tmp_path):
    calendar = ROW | {"Unique ID": "2", "Calculator ID": "13", "Ground Truth Answer": "01/02/2003"}
    loaded = load_medcalc_bench(write(tmp_path, ROW, calendar), "path")
    (example,) = loaded.examples
    assert example.entities == {"a": [1, "b"], "c": True}
    assert (example.calculator_id, example.answer, example.lower, example.upper) == (5, 93.3, 90.0, 96.0)
    assert loaded.counts == {"dropped_duplicate_rows": 0, "dropped_calendar_answers": 1}


@needs_public
@pytest.mark.parametrize("name", ["test_data.csv", "one_shot_data.csv"])
def test_public_files_lose_only_calendar_answers(name):
    with (PUBLIC / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    loaded = load_medcalc_bench(str(PUBLIC / name), "path")
    assert len(loaded.examples) + loaded.counts["dropped_calendar_answers"] == len(rows)
    assert {row["Calculator ID"] for row in rows if "/" in row["Ground Truth Answer"]} <= {"13", "68"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Relevant Entities": '{"a": true}'}, "row 1: 'Relevant Entities' is no Python literal"),
        ({"Relevant Entities": "[1]"}, "row 1: 'Relevant Entities' is .* expected a dict"),
        ({"Ground Truth Answer": "high"}, "row 1: 'Ground Truth Answer' is 'high', expected a number"),
        ({"Upper Limit": "nan"}, "row 1: 'Upper Limit' is 'nan', expected a finite number"),
        ({"Upper Limit": "1"}, "row 1: 'Lower Limit' 90.0 is above"),
        ({"Patient Note": " "}, "row 1: empty 'Patient Note'"),
    ],
)
def test_bad_rows_are_refused(tmp_path, change, message):
    with pytest.raises(DataError, match=message):
        load_medcalc_bench(write(tmp_path, ROW | change), "path")
