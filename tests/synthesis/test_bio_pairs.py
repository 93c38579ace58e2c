import csv
import json
import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from omegaconf import OmegaConf

from judgelab.data.biomedical import Source
from judgelab.errors import ConfigError, DataError
from judgelab.synthesis.bio_pairs import BioPairs, build_pairs, split_of
from judgelab.synthesis.choice_suites import MedBulletsSuite, SafetySuite
from judgelab.synthesis.medcalc_suite import MedCalcSuite
from judgelab.synthesis.mutation import Response, replayed
from judgelab.synthesis.pair_rows import SCHEMA, lineages, write_pairs
from judgelab.synthesis.pair_suites import Case, Cases, PairSuite, Shown
from judgelab.synthesis.pico_suites import EbmNlpSuite

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = ROOT.parent / "shared" / "data"
needs_public = pytest.mark.skipif(not PUBLIC.is_dir(), reason="no shared/data beside the repository")


def public():
    shape = OmegaConf.structured(BioPairs)
    named = OmegaConf.load(ROOT / "conf/pairs/bio.yaml")
    return OmegaConf.to_object(OmegaConf.merge(shape, named, {"folder": str(PUBLIC)}))


def bullets(tmp_path, count=40, shuffled=None):
    rows = [
        {"link": f"l{n}", "question": f"Q{n}?", "opa": "w", "opb": "x", "opc": "y", "opd": "z", "answer_idx": "B",
         "answer": "x", "explanation": ""}
        for n in range(count)
    ]  # fmt: skip
    if shuffled is not None:
        random.Random(shuffled).shuffle(rows)
    return write(tmp_path / "op4.csv", rows)


def pressures(tmp_path, *entities, answer="93.33333"):
    return write(
        tmp_path / "test_data.csv",
        [
            {"Unique ID": n, "Calculator ID": 5, "Calculator Name": "MAP", "Note ID": f"n{n}", "Patient Note": "x",
             "Question": "MAP?", "Relevant Entities": text, "Ground Truth Answer": answer, "Lower Limit": 90,
             "Upper Limit": 96}
            for n, text in enumerate(entities)
        ],
    )  # fmt: skip


def write(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


PRESSURE = "{'Systolic Blood Pressure': [120, 'mm hg'], 'Diastolic Blood Pressure': [80, 'mm hg']}"


@pytest.fixture(scope="module")
def table():
    return build_pairs(public(), 42)


@needs_public
def test_every_suite_of_the_public_files_gives_pairs(table):
    suites = Counter(row["suite"] for row in table.rows)
    assert set(suites) == {"ebm_nlp", "pico_corpus", "medcalc", "medbullets", "medqa", "pubmedqa", "safety"}
    for suite, counts in table.counts.items():
        left_out = counts["all_tied"] + counts["no_scale"] + counts["no_gap_at_threshold"]
        assert suites[suite] + left_out == counts["sources"]
    assert len({row["pair_id"] for row in table.rows}) == len(table.rows)


@needs_public
def test_bins_are_balanced_within_each_split(table):
    for suite in ("ebm_nlp", "pico_corpus", "medcalc"):
        for split in ("train", "test"):
            filled = [table.counts[suite][f"{split}_{name}"] for name in ("hard", "medium", "easy")]
            assert max(filled) - min(filled) <= 1


@needs_public
def test_every_pair_is_replayed_from_its_row(table):
    for name, suite in public().suites().items():
        cases = {case.source.source_id: case for case in suite.load(42).cases}
        for row in (row for row in table.rows if row["suite"] == name):
            better, worse = (replayed(cases[row["source_id"]].mutations, each) for each in lineages(row))
            assert (better.score, worse.score) == (row["chosen_score"], row["rejected_score"])
            texts = (better.text, worse.text)
            assert texts == tuple(row[f"response_{slot}"] for slot in ("ab" if row["gold"] == "A" else "ba"))


@needs_public
def test_the_gold_slot_is_better_under_the_suites_metric(table):
    suites = public().suites()
    for row in table.rows:
        suite = suites[row["suite"]]
        gap = row["chosen_score"] - row["rejected_score"]
        assert (gap if suite.higher_is_better else -gap) >= suite.threshold - 1e-9
        assert (row["bin"] is None) == (row["family"] != "decomposable")
        if row["bin"]:
            assert row["bin"] == -(-3 * row["rank_gap"] // (row["candidates"] - 1))


@needs_public
def test_no_group_is_in_two_splits(table):
    splits = {(row["group_id"], row["split"]) for row in table.rows}
    assert len(splits) == len({group for group, _ in splits})


@needs_public
def test_the_longer_response_is_not_the_better_one(table):
    spans = [row for row in table.rows if row["operator"] == "pico_spans"]
    lengths = [(len(row["response_a"]), len(row["response_b"]), row["gold"]) for row in spans]
    hits = sum(0.5 if a == b else float((a > b) == (gold == "A")) for a, b, gold in lengths)
    # Half of the pairs and five standard deviations of a fair coin.
    assert abs(hits - len(spans) / 2) < 5 * len(spans) ** 0.5 / 2


@needs_public
def test_an_empty_comparator_does_not_tell_the_better_response(table):
    pairs = [row for row in table.rows if row["suite"] == "ebm_nlp" and row["chosen_number"]]
    sizes = [(len(json.loads(row["response_a"])["C"]), len(json.loads(row["response_b"])["C"])) for row in pairs]
    assert len(pairs) > 150
    assert all(first == second for first, second in sizes)
    assert any(first for first, _ in sizes) and not all(first for first, _ in sizes)


def test_the_shipped_configuration_names_every_bundled_suite():
    shape = OmegaConf.structured(BioPairs)
    named = OmegaConf.merge(shape, OmegaConf.load(ROOT / "conf/pairs/bio.yaml"), {"folder": "data"})
    config = OmegaConf.to_object(named)
    assert list(config.suites()) == ["ebm_nlp", "pico_corpus", "medcalc", "medbullets", "medqa", "pubmedqa", "safety"]
    assert list(config.ebm_nlp.paths) == ["data/ebm_nlp/dev.txt", "data/ebm_nlp/test.txt"]
    assert config.pubmedqa.test_path == "data/pubmedqa/test_ground_truth.json"


@needs_public
def test_no_advice_is_in_two_splits(table):
    pairs = [row for row in table.rows if row["suite"] == "safety"]
    lines = {
        split: {row[f"response_{slot}"].split("\n")[1] for row in pairs if row["split"] == split for slot in "ab"}
        for split in ("train", "test")
    }
    assert lines["train"] and lines["test"] and not lines["train"] & lines["test"]


def test_the_order_of_the_file_changes_nothing(tmp_path):
    def build(shuffled):
        path = bullets(tmp_path, shuffled=shuffled)
        return build_pairs(BioPairs(medbullets=MedBulletsSuite(path=path), safety=SafetySuite(path=path)), 5).rows

    assert build(None) == build(1) == build(2)


def test_another_seed_gives_other_pairs_and_a_limit_a_part(tmp_path):
    path = bullets(tmp_path)
    first, second = (build_pairs(BioPairs(medbullets=MedBulletsSuite(path=path)), seed).rows for seed in (1, 2))
    assert first != second
    limited = build_pairs(BioPairs(medbullets=MedBulletsSuite(path=path, limit=7)), 1).rows
    assert len(limited) == 7 and {r["pair_id"] for r in limited} < {r["pair_id"] for r in first}


def test_rows_are_written_with_their_columns(tmp_path):
    rows = build_pairs(BioPairs(medbullets=MedBulletsSuite(path=bullets(tmp_path))), 1).rows
    write_pairs(tmp_path / "pairs.parquet", rows)
    read = pq.read_table(tmp_path / "pairs.parquet")
    assert read.schema.equals(SCHEMA)
    assert read.to_pylist() == list(rows)


def test_a_relative_threshold_divides_by_the_squared_target(tmp_path):
    path = pressures(tmp_path, PRESSURE)

    def pairs(**settings):
        return build_pairs(BioPairs(medcalc=MedCalcSuite(path=path, candidates=20, **settings)), 3)

    (case,) = MedCalcSuite(path=path, relative_threshold=True).load(3).cases
    assert case.scale == pytest.approx((280 / 3) ** 2)
    assert len(pairs(threshold=0.05).rows) == 1
    # No change above half of an input: the squared error stays below a quarter of the squared target.
    assert pairs(threshold=0.26, relative_threshold=True).counts["medcalc"]["no_gap_at_threshold"] == 1
    assert len(pairs(threshold=0.26).rows) == 1


def test_answers_outside_the_limits_are_left_out_and_counted(tmp_path):
    high = PRESSURE.replace("120", "180")
    table = build_pairs(BioPairs(medcalc=MedCalcSuite(path=pressures(tmp_path, PRESSURE, high))), 3)
    assert table.counts["medcalc"]["dropped_answer_outside_limits"] == 1
    assert len(table.rows) == 1


def test_a_missing_input_is_refused_with_its_row(tmp_path):
    path = pressures(tmp_path, PRESSURE, "{'Systolic Blood Pressure': [120, 'mm hg']}")
    with pytest.raises(DataError, match=r"row 2: Mean Arterial Pressure needs 'Diastolic Blood Pressure'"):
        build_pairs(BioPairs(medcalc=MedCalcSuite(path=path)), 3)


@dataclass(frozen=True)
class Tied:
    """Candidates with texts of their own and one score, or the scores given."""

    source_id: str
    scores: tuple[float, ...]
    operator = "tied"

    @property
    def count(self):
        return len(self.scores)

    def draw(self, number, seed):
        return {"number": number}

    def respond(self, parameters):
        return Response(str(parameters["number"]), self.scores[parameters["number"]])


@dataclass
class TiedSuite(PairSuite):
    def load(self, seed):
        scores = {
            "tied": (1.0, 1.0, 1.0),
            "single": (1.0,),
            "close": (1.0, 0.96),
            "apart": (1.0, 0.0),
            "zero": (4.0, 0.0),
        }
        cases = (
            Case(Source(name, name, name), Shown(name), Tied(name, values), None if name == "zero" else 1.0)
            for name, values in scores.items()
        )
        return Cases(tuple(cases), {}, {})


def test_sources_without_a_pair_are_counted_by_reason():
    table = build_pairs(BioPairs(medqa=TiedSuite()), 3)
    counts = table.counts["medqa"]
    assert (counts["all_tied"], counts["no_gap_at_threshold"], counts["no_scale"]) == (2, 1, 1)
    assert [row["source_id"] for row in table.rows] == ["apart"]


def test_abstracts_whose_spans_are_punctuation_are_counted(tmp_path):
    path = tmp_path / "test.txt"
    path.write_text("-DOCSTART- (1)\n\nzinc NN O I-INT\n\n-DOCSTART- (2)\n\n. NN O I-INT\n", encoding="utf-8")
    table = build_pairs(BioPairs(ebm_nlp=EbmNlpSuite(paths=(str(path),))), 3)
    assert table.counts["ebm_nlp"]["dropped_only_punctuation"] == 1
    assert [row["source_id"] for row in table.rows] == ["1"]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (BioPairs(), "no suite is configured"),
        (BioPairs(test_fraction=1.5, medbullets=MedBulletsSuite(path="x")), r"pairs\.test_fraction=1\.5"),
        (BioPairs(medbullets=MedBulletsSuite(path="x", limit=0)), r"pairs\.medbullets\.limit=0: expected at least 1"),
        (BioPairs(medcalc=MedCalcSuite(path="x", candidates=1)), r"pairs\.medcalc\.candidates=1: expected at least 2"),
        (BioPairs(medcalc=MedCalcSuite(path="x", threshold=float("nan"))), r"pairs\.medcalc\.threshold=nan"),
    ],
)
def test_settings_out_of_range_are_refused(config, message):
    with pytest.raises(ConfigError, match=message):
        build_pairs(config, 1)


def test_the_test_fraction_is_met_and_its_ends_are_exact():
    splits = [split_of(str(n), 0.3, 1) for n in range(2000)]
    # Five standard deviations: 5 * sqrt(2000 * 0.3 * 0.7) = 102.
    assert abs(splits.count("test") - 600) < 102
    assert {split_of(str(n), 0.0, 1) for n in range(100)} == {"train"}
    assert {split_of(str(n), 1.0, 1) for n in range(100)} == {"test"}
