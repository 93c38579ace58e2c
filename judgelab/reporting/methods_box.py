"""The "methods box" that the Format paper asks every study with LLM scores for (§5), ready to paste."""

from collections.abc import Iterator, Sequence

from judgelab.config.schema import Comparison, FormatConfig
from judgelab.evaluation.format_diagnostics import Cell, Slots
from judgelab.evaluation.format_study import FormatStudy
from judgelab.evaluation.scoring_runs import ScoringRun

SCHEDULES = {
    "listing": "one order, the candidate in slot A before its anchor, the earlier-listed before the later",
    "balanced": "one order per comparison, drawn by seed",
    "both": "each comparison in both orders",
}


def methods_box(runs: Sequence[ScoringRun], study: FormatStudy) -> str:
    """Format verbatim with decoding rule, ties with pool size, slots with their bias, and parse rate, per judge."""
    return "\n\n".join("\n".join(_of_run(run, study)) for run in runs) + "\n"


def _of_run(run: ScoringRun, study: FormatStudy) -> Iterator[str]:
    candidates, prompts = len(study.pool.prompts), int(study.pool.prompts.max()) + 1
    yield f"Judge {run.judge}, {candidates:,} candidate responses to {prompts:,} prompts. {_decoding(run)}"
    yield f"Rubric: {' '.join(run.rubric.split())}"
    slots = {each.format: each for each in study.slots if each.judge == run.judge}
    for cell in study.cells:
        if cell.judge == run.judge and cell.paper:
            yield f"- {cell.format}: {_instruction(run.formats[cell.format])}"
            yield f"  {_figures(cell)}"
            if cell.format in slots:
                yield f"  {_slots(run, slots[cell.format])}"


def _decoding(run: ScoringRun) -> str:
    rule = run.decoding
    drawn = "greedy" if rule["temperature"] == 0 else f"temperature {rule['temperature']:g}, top-p {rule['top_p']:g}"
    return f"Decoding: {drawn}, at most {rule['max_new_tokens']} tokens."


def _instruction(fmt: FormatConfig) -> str:
    """The last paragraph of the prompt, where formats of a kind differ."""
    kind = {
        Comparison.none: "one response alone",
        Comparison.anchor: "a response beside its prompt's anchor",
        Comparison.all_pairs: "every pair of a prompt's responses",
    }[fmt.comparison]
    return f"{kind}; “{fmt.template.strip().rpartition(chr(10) * 2)[2]}”"


def _figures(cell: Cell) -> str:
    if cell.ties is None:
        return f"Parse rate {_percent(cell.parse_rate)}; no score could be read."
    return (
        f"Parse rate {_percent(cell.parse_rate)}; tie probability {cell.ties:.3f} (D₂ = {1 / cell.ties:.2f}), "
        f"{cell.distinct:,} distinct values among {cell.scored:,} scored of {cell.candidates:,} responses."
    )


def _slots(run: ScoringRun, slots: Slots) -> str:
    bias = slots.model.bias
    if bias is None:
        estimate = "slot bias not estimated"
    elif bias.low is None or bias.high is None:
        estimate = f"slot bias b = {bias.mean:+.2f} (one comparison, no interval)"
    else:
        estimate = f"slot bias b = {bias.mean:+.2f} [{bias.low:+.2f}, {bias.high:+.2f}] over {bias.n:,} comparisons"
    return f"Slots: {SCHEDULES[run.schedule]}; {estimate} (positive: toward slot A, verdicts from −2 to +2)."


def _percent(share: float | None) -> str:
    return "undefined" if share is None else f"{share:.1%}"
