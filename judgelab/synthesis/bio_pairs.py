"""Verifiable pairs of the biomedical study, from configuration and files (its Algorithms 1 and 2)."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from omegaconf import MISSING

from judgelab.errors import ConfigError
from judgelab.run.randomness import derived_seed
from judgelab.synthesis.choice_suites import MedBulletsSuite, MedQaSuite, PubMedQaSuite, SafetySuite
from judgelab.synthesis.drawing import drawn_pairs, gold_slot
from judgelab.synthesis.medcalc_suite import MedCalcSuite
from judgelab.synthesis.mutation import Candidate, candidates
from judgelab.synthesis.pair_rows import RankedPair, pair_row
from judgelab.synthesis.pair_suites import Case, PairSuite
from judgelab.synthesis.pico_suites import EbmNlpArchiveSuite, EbmNlpSuite, PicoCorpusSuite
from judgelab.synthesis.ranking import ranked, valid_pairs


@dataclass
class BioPairs:
    """The suites to build pairs from; one that is null is left out.

    `test_fraction` of the groups (abstracts, patient notes, questions, pieces of advice) go to the test split, by a
    hash of the group and the seed, so that an abstract in two suites lands in one split. `folder` is where the
    suites' files lie, for their paths to refer to.
    """

    folder: str = MISSING
    test_fraction: float = 0.3
    ebm_nlp: EbmNlpSuite | None = None
    ebm_nlp_archive: EbmNlpArchiveSuite | None = None
    pico_corpus: PicoCorpusSuite | None = None
    medcalc: MedCalcSuite | None = None
    medbullets: MedBulletsSuite | None = None
    medqa: MedQaSuite | None = None
    pubmedqa: PubMedQaSuite | None = None
    safety: SafetySuite | None = None

    def suites(self) -> dict[str, PairSuite]:
        """The configured suites by name."""
        named = ((each.name, getattr(self, each.name)) for each in fields(self))
        return {name: suite for name, suite in named if isinstance(suite, PairSuite)}


@dataclass(frozen=True)
class PairTable:
    """Rows of pairs.parquet by suite and pair id, counts per suite, and path -> sha256 of the inputs."""

    rows: tuple[Mapping[str, Any], ...]
    counts: Mapping[str, Mapping[str, int]]
    inputs: Mapping[str, str]


def build_pairs(config: BioPairs, seed: int) -> PairTable:
    """One pair per source of every configured suite, balanced over bins within each split.

    A source without a pair is counted by reason: all candidates tied, no gap that reaches the threshold, a scale of
    0. Raises ConfigError for settings out of range, DataError naming file and row.
    """
    check_settings(config)
    rows: list[Mapping[str, Any]] = []
    counts: dict[str, Mapping[str, int]] = {}
    inputs: dict[str, str] = {}
    for name, suite in config.suites().items():
        loaded = suite.load(seed)
        cases = _limited(loaded.cases, suite.limit, seed, name)
        pairs, left_out = _suite_pairs(name, suite, cases, config.test_fraction, seed)
        rows += sorted(pairs, key=lambda row: row["pair_id"])
        counts[name] = {**loaded.counts, "sources": len(cases), **left_out, **_bin_counts(pairs)}
        inputs |= loaded.inputs
    return PairTable(tuple(rows), counts, inputs)


def check_settings(config: BioPairs) -> None:
    """ConfigError that names the key of a setting out of range, or that no suite is configured."""
    suites = config.suites()
    if not suites:
        raise ConfigError("pairs: no suite is configured; set at least one, such as pairs.medqa.path=FILE")
    if not 0 <= config.test_fraction <= 1:
        raise ConfigError(f"pairs.test_fraction={config.test_fraction}: expected a share from 0 to 1")
    for name, suite in suites.items():
        for key, least in {"candidates": 2, "limit": 1, "threshold": 0}.items():
            value = getattr(suite, key, None)
            if value is not None and not value >= least:
                raise ConfigError(f"pairs.{name}.{key}={value}: expected at least {least}")


def split_of(group: str, test_fraction: float, seed: int) -> str:
    """The split, train or test, of a group of sources that must stay together."""
    return "test" if derived_seed(seed, "pair_split", group) < test_fraction * 2**63 else "train"


def _limited(cases: Iterable[Case], limit: int | None, seed: int, suite: str) -> list[Case]:
    return sorted(cases, key=lambda case: derived_seed(seed, "pair_limit", suite, case.source.source_id))[:limit]


def _suite_pairs(
    name: str, suite: PairSuite, cases: Iterable[Case], test_fraction: float, seed: int
) -> tuple[list[dict[str, Any]], Counter[str]]:
    counts = Counter({"repeated_candidates": 0, "all_tied": 0, "no_scale": 0, "no_gap_at_threshold": 0})
    rankings: dict[str, tuple[Case, list[Candidate]]] = {}
    choices: dict[str, dict[str, dict[int, list[tuple[int, int]]]]] = {"train": {}, "test": {}}
    for case in cases:
        source_id = case.source.source_id
        drawn, repeated = candidates(case.mutations, seed)
        counts["repeated_candidates"] += repeated
        ranking = ranked(drawn, suite.higher_is_better, seed, source_id)
        pairs = valid_pairs([each.score for each in ranking], suite.rule(), case.scale) if case.scale else {}
        if pairs:
            rankings[source_id] = case, ranking
            choices[split_of(case.source.group, test_fraction, seed)][source_id] = pairs
        else:
            counts[_reason(case, ranking)] += 1
    rows = [
        _row(name, suite, split, rankings[source_id], number, ranks, seed)
        for split, sources in choices.items()
        for source_id, (number, ranks) in drawn_pairs(sources, seed, f"{name}:{split}").items()
    ]
    return rows, counts


def _reason(case: Case, ranking: list[Candidate]) -> str:
    if len({each.score for each in ranking}) == 1:
        return "all_tied"
    return "no_gap_at_threshold" if case.scale else "no_scale"


def _row(
    name: str,
    suite: PairSuite,
    split: str,
    ranking: tuple[Case, list[Candidate]],
    number: int,
    ranks: tuple[int, int],
    seed: int,
) -> dict[str, Any]:
    case, ordered = ranking
    pair = RankedPair(
        better=ordered[ranks[0] - 1],
        worse=ordered[ranks[1] - 1],
        ranks=ranks,
        candidates=len(ordered),
        bin=None if suite.rule().atomic else number,
    )
    return pair_row(name, suite.family, split, case, pair, gold_slot(seed, name, case.source.source_id))


def _bin_counts(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    names = {1: "hard", 2: "medium", 3: "easy", None: "one_bin"}
    filled = Counter(f"{row['split']}_{names[row['bin']]}" for row in rows)
    return dict(sorted(filled.items()))
