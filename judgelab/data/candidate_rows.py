"""Rows of candidate responses in one schema, whatever the source, and the prompts that they make up."""

from collections.abc import Iterable, Sequence

from judgelab.data.candidates import Candidate, PoolPrompt
from judgelab.data.references import as_reference
from judgelab.data.rows import Row, distinct
from judgelab.errors import DataError
from judgelab.run.randomness import sha256_text


def candidate_row(
    row: Row,
    prompt: tuple[str | int, str],
    candidate_id: str | int,
    response: str,
    reference: float | None,
    model: str | None,
) -> Row:
    """A row of a pool at the place it was read from; `prompt` is its id and text."""
    prompt_id, text = prompt
    values = {
        "prompt_id": prompt_id,
        "prompt": text,
        "candidate_id": candidate_id,
        "response": response,
        "reference": reference,
        "model": model,
    }
    return Row(row.file, row.number, values)


def schema_row(row: Row) -> Row:
    """A row that has these columns already; `reference` and `model` may be absent. Other columns are left aside."""
    reference = as_reference(row.values.get("reference"), "reference", row.place)
    prompt = row.identifier("prompt_id"), row.text("prompt")
    model = None if row.values.get("model") is None else row.text("model")
    return candidate_row(row, prompt, row.identifier("candidate_id"), response_text(row, "response"), reference, model)


def response_text(row: Row, column: str) -> str:
    """A response; a blank one is data (a model wrote nothing), which comes out empty for the filters to count."""
    value = row.value(column)
    return "" if isinstance(value, str) and not value.strip() else row.text(column)


def content_id(*texts: str) -> str:
    """An id for what a source names by its content alone."""
    return sha256_text("\x1f".join(texts))[:16]


def grouped(rows: Sequence[Row]) -> tuple[tuple[PoolPrompt, ...], int]:
    """Prompts with their candidates in row order, and how many exact repeats of a row were dropped.

    A candidate id is one response of the whole pool, and a prompt id one text. DataError names both rows where an
    id comes with other content or differs only in type, and where one text has two prompt ids, which could end up
    on both sides of a held-out draw.
    """
    texts = _prompt_texts(rows)
    kept, repeats = distinct(rows, lambda row: row.identifier("candidate_id"))
    candidates: dict[str, list[Candidate]] = {prompt_id: [] for prompt_id in texts}
    for row in kept:
        candidate = _candidate(row)
        candidates[candidate.prompt_id].append(candidate)
    return tuple(PoolPrompt(key, text, tuple(candidates[key])) for key, text in texts.items()), repeats


def _prompt_texts(rows: Iterable[Row]) -> dict[str, str]:
    named = [Row(row.file, row.number, {key: row.value(key) for key in ("prompt_id", "prompt")}) for row in rows]
    prompts, _ = distinct(named, lambda row: row.identifier("prompt_id"))
    by_text: dict[str, Row] = {}
    for row in prompts:
        earlier = by_text.setdefault(row.text("prompt"), row)
        if earlier is not row:
            raise DataError(
                f"{row.place}: the prompt of id {row.value('prompt_id')!r} is also that of id "
                f"{earlier.value('prompt_id')!r} in {earlier.place}; give both one id"
            )
    return {str(row.identifier("prompt_id")): text for text, row in by_text.items()}


def _candidate(row: Row) -> Candidate:
    return Candidate(
        candidate_id=str(row.value("candidate_id")),
        prompt_id=str(row.value("prompt_id")),
        text=row.value("response"),
        reference=row.value("reference"),
        model=row.value("model"),
    )
