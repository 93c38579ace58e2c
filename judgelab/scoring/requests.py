"""Requests of a judge over items, with an identity that covers everything the reply depends on."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from judgelab.config.schema import CriterionConfig, DecodingConfig, FormatConfig
from judgelab.data.records import Item
from judgelab.engines.base import Request
from judgelab.judges.prompts import build_prompt, prompt_sha
from judgelab.judges.rendering import Renderer
from judgelab.run.randomness import derived_seed, sha256_text


@dataclass(frozen=True)
class Judge:
    """Who judges: a label for tables, and the identity of its weights."""

    label: str
    identity: str


@dataclass(frozen=True)
class ScoreRequest:
    """A request and what its score row says about it."""

    request: Request
    prompt_id: str
    candidate_id: str
    criterion: str
    format: str
    judge: str
    decoding: str
    repeat: int
    prompt_sha: str
    cut_tokens: int


def pointwise_requests(
    items: Sequence[Item],
    judge: Judge,
    criterion: CriterionConfig,
    fmt: FormatConfig,
    renderer: Renderer,
    decoding: DecodingConfig,
    runs: int,
    max_length: int,
    seed: int,
) -> list[ScoreRequest]:
    """One request per item and run; prompt and reply together fit `max_length` tokens."""
    template_sha = prompt_sha(criterion, fmt)
    requests = []
    for item in items:
        prompt = build_prompt(criterion, fmt, item.query, item.response, item.slots, None)
        rendered = renderer.render_prompt(prompt, max_length - decoding.max_new_tokens)
        for repeat in range(runs):
            request_id = request_identity(judge, rendered.ids, decoding, repeat)
            requests.append(
                ScoreRequest(
                    request=Request(request_id, rendered.ids, derived_seed(seed, "reply", item.item_id, repeat)),
                    prompt_id=sha256_text(item.query)[:16],
                    candidate_id=item.item_id,
                    criterion=criterion.name,
                    format=fmt.name,
                    judge=judge.label,
                    decoding=decoding.name,
                    repeat=repeat,
                    prompt_sha=template_sha,
                    cut_tokens=rendered.cut_tokens,
                )
            )
    return requests


def request_identity(judge: Judge, prompt_ids: Sequence[int], decoding: DecodingConfig, repeat: int) -> str:
    """Hash of the judge's weights, the rendered prompt, the decoding and the repeat."""
    parts = (
        judge.identity,
        ",".join(map(str, prompt_ids)),
        f"{decoding.temperature},{decoding.top_p},{decoding.max_new_tokens}",
        str(repeat),
    )
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:32]
