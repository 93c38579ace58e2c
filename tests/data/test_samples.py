"""The bundled samples of the criteria: balanced, complete, and not to be read off lengths or single words."""

import json
import re
from collections import Counter
from importlib.resources import files

import pytest
from sklearn.metrics import f1_score

from judgelab.config.compose import compose_config, typed
from judgelab.config.schema import TrainRoot
from judgelab.data.sample import SampleSource
from judgelab.judges.prompts import reason_sentence

CRITERIA = ["ainess", "correctness", "hallucination", "safety_leakage", "tool_parameters"]
CEILING = 0.7  # macro-F1 that a rule without reading may reach on all 60 responses of a sample


def rows(criterion: str) -> list[dict]:
    text = (files("judgelab.data") / "samples" / f"{criterion}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def configured(criterion: str):
    config = typed(compose_config("train", [f"experiment=cpa_{criterion}", "hardware=cpu"]))
    assert isinstance(config, TrainRoot)
    return config.criterion


def labelled(criterion: str) -> tuple[list[str], list[int]]:
    """All responses with their labels, those of counterfactuals too."""
    both = [(row["response"], row["label"]) for row in rows(criterion)]
    both += [(row["counterfactual"], 1 - row["label"]) for row in rows(criterion) if row["split"] == "train"]
    return [text for text, _ in both], [label for _, label in both]


def macro_f1(labels: list[int], verdicts: list[bool]) -> float:
    """The better of a rule and its opposite."""
    return max(
        f1_score(labels, [int(v == sign) for v in verdicts], average="macro", zero_division=0) for sign in (True, False)
    )


@pytest.mark.parametrize("criterion", CRITERIA)
def test_items_are_balanced_and_every_train_item_has_a_pair(criterion: str) -> None:
    slots = tuple(configured(criterion).slots)
    pool = SampleSource(name="sample").load(criterion, slots, 42)
    assert (len(pool.train) + len(pool.validation), len(pool.test)) == (24, 12)
    assert len(pool.train_pairs) == len(pool.train)
    assert len(pool.validation_pairs) == len(pool.validation)
    for part in (pool.train, pool.validation, pool.test):
        counts = Counter(item.label for item in part)
        assert counts[0] == counts[1]
    assert all(item.slots.keys() == set(slots) for item in pool.train + pool.test)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_no_query_stands_twice(criterion: str) -> None:
    queries = [row["query"] for row in rows(criterion)]
    assert len(set(queries)) == len(queries)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_rationale_is_the_criterions_sentence_with_the_reason_of_the_response(criterion: str) -> None:
    for row in rows(criterion):
        if row["split"] == "train":
            reason = row["pair_reasons"][1 - row["label"]]
            assert row["rationales"] == [reason_sentence(configured(criterion), "Response A", reason)]


@pytest.mark.parametrize("criterion", CRITERIA)
def test_no_length_rule_reads_the_labels(criterion: str) -> None:
    texts, labels = labelled(criterion)
    for measure in (len, lambda text: len(text.split())):
        lengths = [measure(text) for text in texts]
        best = max(macro_f1(labels, [length > limit for length in lengths]) for limit in set(lengths))
        assert best <= CEILING


@pytest.mark.parametrize("criterion", CRITERIA)
def test_no_single_word_reads_the_labels(criterion: str) -> None:
    texts, labels = labelled(criterion)
    bags = [set(re.findall(r"[a-z']+", text.lower())) for text in texts]
    best = max((macro_f1(labels, [word in bag for bag in bags]), word) for word in set.union(*bags))
    assert best[0] <= CEILING, best
