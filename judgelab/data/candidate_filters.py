"""The filters and draws that every pool goes through; who stays depends on ids and seed, never on row order."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from judgelab.data.candidate_rows import grouped
from judgelab.data.candidates import CandidatePool, CandidateSource, PoolPrompt
from judgelab.data.rows import Row, Table
from judgelab.errors import ConfigError, DataError
from judgelab.run.randomness import derived_seed

Prompts = tuple[PoolPrompt, ...]
BLANK, SHORT, LONG = "dropped_blank_responses", "dropped_short_responses", "dropped_long_responses"
EMPTY = "dropped_prompts_without_candidates"


def pool_of(
    source: CandidateSource, tables: Sequence[Table], rows: Sequence[Row], skipped: Mapping[str, int], seed: int
) -> CandidatePool:
    """The pool of candidate rows read from the tables; `skipped` counts what the source itself left out.

    Raises DataError naming file and row, or the filter that left nothing.
    """
    _check(source)
    everything, repeats = grouped(rows)
    prompts, counts = within_length(everything, source.min_characters, source.max_characters)
    _refuse_empty(prompts, source, tables, counts)
    held_out, rest = hold_out(prompts, source.held_out, seed)
    if not rest:
        raise DataError(
            f"{_files(tables)}: data.held_out={source.held_out} takes all {len(prompts)} prompts; "
            f"set data.held_out below {len(prompts)}"
        )
    kept = limited(rest, source.limit, seed)
    counts.update(skipped)
    counts["dropped_duplicate_rows"] += repeats
    counts["dropped_prompts_for_limit"] = len(rest) - len(kept)
    counts["candidates_without_reference"] = _without_reference(held_out + kept)
    return CandidatePool(kept, held_out, counts, {table.file: table.sha256 for table in tables})


def within_length(prompts: Iterable[PoolPrompt], least: int, most: int) -> tuple[Prompts, Counter[str]]:
    """Prompts with the candidates of `least` to `most` code points (Format paper §2), and counts of the others.

    Blank candidates go too, whatever the limits; so do prompts that no candidate is left of. A lone one is enough.
    """
    kept: list[PoolPrompt] = []
    counts = Counter(dict.fromkeys((BLANK, SHORT, LONG, EMPTY), 0))
    for prompt in prompts:
        reasons = [_reason_to_drop(candidate.text, least, most) for candidate in prompt.candidates]
        counts.update(reason for reason in reasons if reason)
        staying = tuple(c for c, reason in zip(prompt.candidates, reasons, strict=True) if not reason)
        if staying:
            kept.append(replace(prompt, candidates=staying))
        else:
            counts[EMPTY] += 1
    return tuple(kept), counts


def hold_out(prompts: Iterable[PoolPrompt], size: int, seed: int) -> tuple[Prompts, Prompts]:
    """The first `size` prompts in seeded hash order, and the others."""
    ordered = _seeded(prompts, "held_out", seed)
    return ordered[:size], ordered[size:]


def limited(prompts: Iterable[PoolPrompt], size: int | None, seed: int) -> Prompts:
    """The first `size` prompts in seeded hash order, all of them for null; a larger size only appends."""
    return _seeded(prompts, "limit", seed)[:size]


def _check(source: CandidateSource) -> None:
    if source.min_characters > source.max_characters:
        raise ConfigError(
            f"data.min_characters={source.min_characters} is above data.max_characters={source.max_characters}"
        )
    if source.limit is not None and source.limit < 1:
        raise ConfigError(f"data.limit={source.limit}: expected null or at least 1 prompt")
    if source.held_out < 0:
        raise ConfigError(f"data.held_out={source.held_out}: expected at least 0 prompts")


def _seeded(prompts: Iterable[PoolPrompt], purpose: str, seed: int) -> Prompts:
    return tuple(sorted(prompts, key=lambda prompt: derived_seed(seed, purpose, prompt.prompt_id)))


def _reason_to_drop(text: str, least: int, most: int) -> str | None:
    if not text.strip():
        return BLANK
    if len(text) < least:
        return SHORT
    return LONG if len(text) > most else None


def _refuse_empty(
    prompts: Prompts, source: CandidateSource, tables: Sequence[Table], counts: Mapping[str, int]
) -> None:
    if prompts:
        return
    filters = {
        SHORT: f"data.min_characters={source.min_characters} dropped",
        LONG: f"data.max_characters={source.max_characters} dropped",
        BLANK: "the filter of blank responses dropped",
    }
    done = " and ".join(f"{text} {counts[key]}" for key, text in filters.items() if counts[key])
    raise DataError(f"{_files(tables)}: no candidate is left; {done or 'no prompt has a candidate'}")


def _files(tables: Sequence[Table]) -> str:
    return ", ".join(table.file for table in tables)


def _without_reference(prompts: Prompts) -> int:
    return sum(candidate.reference is None for prompt in prompts for candidate in prompt.candidates)
