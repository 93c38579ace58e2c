"""Judges with known answers get the diagnostics that theory gives (The Format is the Filter, §3)."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgelab.config.schema import Comparison, FormatConfig, FormatsRoot
from judgelab.data.candidates import PoolPrompt
from judgelab.evaluation.candidate_scores import BOTH_ORDERS
from judgelab.evaluation.format_claims import FAILS, HOLDS
from judgelab.evaluation.format_diagnostics import Cell, Slots
from judgelab.evaluation.format_study import FormatStudy, study_formats
from judgelab.evaluation.scoring_runs import ScoringRun
from judgelab.scoring.schedule import Judgment

COMPARATIVE = ("anchored", "tournament")
POINTWISE = ("binary", "likert5", "numeric100")
Asked = Callable[..., ScoringRun]


@dataclass
class Found:
    study: FormatStudy

    def cell(self, name: str) -> Cell:
        return next(cell for cell in self.study.cells if cell.format == name)

    def slots(self, name: str) -> Slots:
        return next(each for each in self.study.slots if each.format == name)

    def claim(self, start: str) -> str:
        return next(claim.verdict for claim in self.study.claims if claim.text.startswith(start))


def _found(*runs: ScoringRun) -> Found:
    return Found(study_formats(runs, FormatsRoot(name="t", question="t", seed=3, scores=[])))


def constant(judgment: Judgment, fmt: FormatConfig, draw: random.Random) -> str:
    return list(fmt.verdicts)[len(fmt.verdicts) // 2]


def always_a(judgment: Judgment, fmt: FormatConfig, draw: random.Random) -> str:
    return constant(judgment, fmt, draw) if fmt.comparison is Comparison.none else "+2"


def oracle(judgment: Judgment, fmt: FormatConfig, draw: random.Random) -> str:
    own = judgment.response.reference
    assert own is not None
    if judgment.other is not None:
        assert judgment.other.reference is not None
        gap = own - judgment.other.reference
        return "0" if gap == 0 else f"{int(np.sign(gap)) * (2 if abs(gap) > 3 else 1):+d}"
    by_format = {
        "binary": "ACCEPT" if own > 5 else "REJECT",
        "likert5": str(int((own + 1) // 2)),
        "numeric100": str(int(own * 10)),
    }
    return by_format[fmt.name]


def anti_oracle(judgment: Judgment, fmt: FormatConfig, draw: random.Random) -> str:
    truth = fmt.verdicts[oracle(judgment, fmt, draw)]
    return next(verdict for verdict, score in fmt.verdicts.items() if abs(score - (1 - truth)) < 1e-9)


def noise(judgment: Judgment, fmt: FormatConfig, draw: random.Random) -> str:
    return draw.choice(list(fmt.verdicts))


def half_unparseable(judgment: Judgment, fmt: FormatConfig, draw: random.Random) -> str | None:
    return oracle(judgment, fmt, draw) if draw.random() < 0.5 else None


def _uniform(prompts: tuple[PoolPrompt, ...]) -> float:
    shares = []
    for prompt in prompts:
        ratings = [candidate.reference for candidate in prompt.candidates]
        shares.append(ratings.count(max(ratings)) / len(ratings))
    return float(np.mean(shares))


def test_constant(asked: Asked, prompts: tuple[PoolPrompt, ...]) -> None:
    found = _found(asked("constant", constant))
    for name in (*POINTWISE, *COMPARATIVE, *(each + BOTH_ORDERS for each in COMPARATIVE)):
        cell = found.cell(name)
        assert (cell.parse_rate, cell.distinct, cell.ties) == (1.0, 1, 1.0)
        assert cell.effective == {1.0: pytest.approx(1), 2.0: pytest.approx(1)}
        assert cell.top_tied == 1.0
        assert cell.within.tau_a.mean == 0
        assert (cell.within.tau_b.mean, cell.within.tau_b.with_zeros) == (None, 0)
        assert cell.within.somers_d.mean == 0
        assert (cell.over.spearman, cell.over.tau_b, cell.over.tau_a) == (None, None, 0)
        assert cell.top.expected == pytest.approx(_uniform(prompts))
        assert cell.top.uniform == pytest.approx(_uniform(prompts))
        for rates in cell.positions:
            assert rates.rates == pytest.approx([1 / rates.candidates] * rates.candidates)
    assert found.cell("likert5").capacity is not None
    assert found.cell("likert5").capacity.share == pytest.approx(1 / 5)
    for name in COMPARATIVE:
        slots = found.slots(name)
        assert (slots.model.bias.mean, slots.model.bias.low, slots.model.bias.high) == (0, 0, 0)
        assert slots.asked.tie == 1
    assert found.slots("anchored").alone.tie == 1
    assert found.cell("numeric100").round_numbers == (1.0, 21 / 101)
    assert found.claim("Comparative formats carry") == FAILS
    assert found.claim("A response beside itself") == FAILS


def test_always_a(asked: Asked, prompts: tuple[PoolPrompt, ...]) -> None:
    found = _found(asked("always A", always_a))
    for name in COMPARATIVE:
        slots = found.slots(name)
        assert (slots.model.bias.mean, slots.model.bias.low, slots.model.bias.high) == (2, 2, 2)
        assert slots.model.preference.mean == 0
        assert (slots.asked.slot_a, slots.asked.slot_b, slots.asked.mean) == (1, 0, 2)
        assert (slots.gap.pearson, slots.gap.spearman) == (None, None)
    alone = found.slots("anchored").alone
    assert (alone.n, alone.slot_a, alone.tie, alone.mean) == (len(prompts), 1, 0, 2)
    assert found.slots("tournament").alone.n == 0
    listed = found.cell("tournament")
    for rates in listed.positions:
        assert rates.rates == (1.0, *[0.0] * (rates.candidates - 1))
    firsts = [prompt.candidates[0].reference == max(c.reference for c in prompt.candidates) for prompt in prompts]
    assert listed.top.expected == pytest.approx(np.mean(firsts))
    assert listed.top_tied == 0
    swapped = found.cell("tournament" + BOTH_ORDERS)
    assert (swapped.ties, swapped.mean, swapped.top_tied) == (1, pytest.approx(0.5), 1)
    assert found.claim("Comparative formats carry") == HOLDS


@pytest.mark.parametrize(("answer", "sign"), [(oracle, 1), (anti_oracle, -1)])
def test_oracles(asked: Asked, prompts: tuple[PoolPrompt, ...], answer: Callable[..., str], sign: int) -> None:
    found = _found(asked(answer.__name__, answer))
    untied, tied_tops, all_tied = [], [], []
    for prompt in prompts:
        ratings = [c.reference for c in prompt.candidates]
        pairs = [a != b for i, a in enumerate(ratings) for b in ratings[i + 1 :]]
        untied.append(np.mean(pairs))
        extreme = max(ratings) if sign > 0 else min(ratings)
        tied_tops.append(ratings.count(extreme) > 1)
        all_tied.append(len(set(ratings)) == 1)
    for name in ("numeric100", "tournament", "tournament" + BOTH_ORDERS):
        cell = found.cell(name)
        assert cell.within.tau_b.mean == pytest.approx(sign)
        assert cell.within.somers_d.mean == pytest.approx(sign)
        assert cell.within.spearman.mean == pytest.approx(sign)
        assert cell.within.tau_a.mean == pytest.approx(sign * np.mean(untied))
        assert cell.within.tau_b.undefined == sum(all_tied)
        assert cell.top_tied == pytest.approx(np.mean(tied_tops))
        assert cell.top.expected == pytest.approx(1 if sign > 0 else np.mean(all_tied))
        assert cell.top.drawn == cell.top.expected
    assert found.cell("numeric100").over.spearman == pytest.approx(sign)
    assert found.cell("numeric100").over.somers_d == pytest.approx(sign)
    for name in COMPARATIVE:
        slots = found.slots(name)
        assert slots.model.bias.mean == pytest.approx(0)
        assert np.sign(slots.gap.pearson) == sign
        assert abs(slots.gap.spearman) > 0.9
    assert found.slots("anchored").alone.tie == 1


def test_noise(asked: Asked, prompts: tuple[PoolPrompt, ...]) -> None:
    found = _found(asked("noise", noise))
    n = sum(len(prompt.candidates) for prompt in prompts)
    for name, levels in (("binary", 2), ("likert5", 5), ("numeric100", 101), ("anchored", 5)):
        cell = found.cell(name)
        # A plug-in Σp² of n uniform draws from K levels has mean 1/K + (1 − 1/K)/n.
        assert cell.ties == pytest.approx(1 / levels + (1 - 1 / levels) / n, rel=0.05)
        assert abs(cell.within.tau_a.mean) < 4 * 0.6 / len(prompts) ** 0.5
        assert abs(cell.over.spearman) < 4 / n**0.5
        assert abs(cell.top.expected - _uniform(prompts)) < 4 * 0.5 / len(prompts) ** 0.5
    assert found.cell("numeric100").round_numbers[0] == pytest.approx(21 / 101, abs=4 * (0.16 / n) ** 0.5)
    for name in COMPARATIVE:
        model = found.slots(name).model
        for estimate in (model.bias, model.preference):
            assert abs(estimate.mean) < 4 * 1.0 / estimate.n**0.5  # (v_fwd ± v_rev)/2 has variance 2 · 2/4
        assert abs(found.slots(name).gap.pearson) < 4 / model.bias.n**0.5


def test_half_unparseable(asked: Asked, prompts: tuple[PoolPrompt, ...]) -> None:
    run = asked("half", half_unparseable)
    found = _found(run)
    for name in POINTWISE:
        cell = found.cell(name)
        rows = run.rows[run.rows["format"] == name]
        assert cell.parse_rate == rows["verdict"].notna().mean()
        assert cell.scored == rows["verdict"].notna().sum() < cell.candidates
        assert cell.parse_rate == pytest.approx(0.5, abs=0.1)
    numeric = found.cell("numeric100")
    assert numeric.within.tau_b.mean == pytest.approx(1)
    assert numeric.over.spearman == pytest.approx(1)
    scores = run.rows[run.rows["format"] == "numeric100"].set_index("candidate_id")["score"]
    hits, without = [], 0
    for prompt in prompts:
        judged = [
            (scores[c.candidate_id], c.reference) for c in prompt.candidates if not np.isnan(scores[c.candidate_id])
        ]
        without += not judged
        if judged:
            hits.append(max(judged)[1] == max(c.reference for c in prompt.candidates))
    assert numeric.top.expected == pytest.approx(np.mean(hits))  # an unparsed best candidate is a miss
    assert numeric.top.expected < 1
    assert numeric.top.unscored == without > 0
    anchored = found.slots("anchored")
    rows = run.rows[(run.rows["format"] == "anchored") & (run.rows["candidate_id"] != run.rows["other_id"])]
    comparisons = len(rows) // 2
    assert anchored.model.incomplete + anchored.model.bias.n == comparisons
    assert anchored.model.bias.n == pytest.approx(comparisons / 4, rel=0.2)
    assert any("carried a readable verdict" in warning for warning in found.study.warnings)


def test_a_grid_of_judges(asked: Asked) -> None:
    runs = [asked("oracle", oracle), asked("anti", anti_oracle), asked("noise", noise)]
    found = _found(*runs).study
    full = {each.diagnostic: each for each in found.shares if each.left_out is None and len(each.formats) == 5}
    ties = np.array(
        [[next(c.ties for c in found.cells if (c.judge, c.format) == (run.judge, name)) for run in runs]
         for name in full["tie probability"].formats]
    )  # fmt: skip
    total = ((ties - ties.mean()) ** 2).sum()
    by_format = 3 * ((ties.mean(axis=1) - ties.mean()) ** 2).sum() / total
    assert full["tie probability"].shares.format == pytest.approx(by_format)
    assert full["τ_a"].shares.judge > 0.9
    assert {each.left_out for each in found.shares} == {None, "oracle", "anti", "noise"}
    capacity = {each.formats for each in found.shares if each.diagnostic == "D₂ / K"}
    assert capacity == {("binary", "likert5", "numeric100", "anchored"), POINTWISE}


def test_tau_b_prefers_a_coarse_format_that_tau_a_does_not(
    formats: dict[str, FormatConfig],
) -> None:
    """Reference a > b > c: binary accepts a and b (τ_a 2/3, τ_b 0.816); numeric100 swaps a and b in two of five."""
    rows, pool = [], []
    for p in range(5):
        scores = [90, 60, 30] if p < 3 else [60, 90, 30]
        for c, (reference, score) in enumerate(zip((3.0, 2.0, 1.0), scores, strict=True)):
            key = {"prompt_id": f"p{p}", "candidate_id": f"p{p}c{c}"}
            pool.append({**key, "position": c, "reference": reference})
            for name, verdict in (("binary", "ACCEPT" if c < 2 else "REJECT"), ("numeric100", str(score))):
                value = formats[name].verdicts[verdict]
                row = {"other_id": None, "format": name, "order": None, "repeat": 0, "status": "ok"}
                rows.append({**key, **row, "verdict": verdict, "score": value})
    run = ScoringRun(
        Path("run"), "judge", {}, "listing", "", formats, dict.fromkeys(formats), pd.DataFrame(rows), pd.DataFrame(pool)
    )
    found = _found(run)
    binary, numeric = found.cell("binary").within, found.cell("numeric100").within
    assert (binary.tau_a.mean, binary.tau_b.mean) == (pytest.approx(2 / 3), pytest.approx(2 / 6**0.5))
    assert (numeric.tau_a.mean, numeric.tau_b.mean) == (pytest.approx(11 / 15), pytest.approx(11 / 15))
    assert found.cell("binary").top.expected == 0.5
    assert found.claim("τ_b orders") == HOLDS
    assert "τ_b orders the formats binary > numeric100, τ_a numeric100 > binary" in found.study.warnings[0]
