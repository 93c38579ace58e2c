"""Verdict probabilities against one full forward pass of prompt and verdict per verdict, in float32."""

import math
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from judgelab.config.compose import compose_config, typed
from judgelab.config.schema import DecodingConfig, ScoreRoot
from judgelab.engines.base import Request, VerdictEngine
from judgelab.engines.hf import HFEngine
from judgelab.errors import ConfigError
from judgelab.judges.rendering import Renderer
from judgelab.models import embedded
from judgelab.models.tiny import tiny_model, tiny_tokenizer

FORMATS = ("binary", "likert5", "numeric100", "tournament")
PROMPTS = [
    "Rubric. Item one, in words. Ask?",
    "Rubric. Item one, in words. Tell!",
    "Rubric. Two",
    "Rubric. Item three is somewhat longer than the others?",
]
Judge = tuple[Any, Renderer]


@pytest.fixture(scope="module")
def tiny() -> Judge:
    return tiny_model(7), Renderer(tiny_tokenizer(), {})


def _verdicts(renderer: Renderer, name: str) -> tuple[tuple[int, ...], ...]:
    config = typed(compose_config("score", ["experiment=formats_sample", "hardware=cpu", "debug=tiny"]))
    assert isinstance(config, ScoreRoot)
    return tuple(map(renderer.render_verdict, config.formats[name].verdicts))


def _requests(renderer: Renderer, formats: tuple[str, ...], prompts: list[str] = PROMPTS) -> list[Request]:
    texts = [(prompt, name) for prompt in prompts for name in formats]
    return [
        Request(f"{prompt} {name}", tuple(renderer.tokenizer(prompt)["input_ids"]), 0, "", _verdicts(renderer, name))
        for prompt, name in texts
    ]


def _brute_force(judge: Judge, request: Request, step: int = 1) -> list[float]:
    """Product of the probabilities of every token of every `step`-th verdict and of an end of the turn behind it."""
    model, renderer = judge
    verdicts = request.verdicts[::step]
    longest = max(map(len, verdicts))
    # A row per verdict; what pads its end is seen by nothing before it.
    rows = [[*request.prompt_ids, *verdict, *[0] * (longest - len(verdict))] for verdict in verdicts]
    with torch.no_grad():
        shares = model(torch.tensor(rows), logits_to_keep=longest + 1).logits.double().softmax(dim=-1)
    stops = sorted(renderer.stop_ids)
    return [
        math.prod(float(row[place, token]) for place, token in enumerate(verdict))
        * float(row[len(verdict), stops].sum())
        for row, verdict in zip(shares, verdicts, strict=True)
    ]


def _found(judge: Judge, requests: list[Request], batch_size: int = 4) -> dict[str, tuple[float, ...]]:
    engine = HFEngine(*judge, batch_size)
    assert isinstance(engine, VerdictEngine)
    found = {each.request_id: each.values for each in engine.verdict_probabilities(requests)}
    assert len(found) == len(requests)
    return found


@pytest.mark.parametrize("batch_size", [1, 3, 16])
def test_probabilities_equal_a_forward_pass_per_verdict(tiny: Judge, batch_size: int) -> None:
    requests = _requests(tiny[1], FORMATS)
    found = _found(tiny, requests, batch_size)
    for request in requests:
        assert found[request.request_id] == pytest.approx(_brute_force(tiny, request), rel=1e-4, abs=0)
        assert 0 < sum(found[request.request_id]) <= 1
    assert {len(request.verdicts) for request in requests} == {2, 5, 101}


def test_they_do_not_depend_on_the_batch(tiny: Judge) -> None:
    requests = _requests(tiny[1], FORMATS)
    together, alone = _found(tiny, requests, 16), {}
    for request in requests:
        alone |= _found(tiny, [request], 1)
    assert together.keys() == alone.keys()
    for name, values in together.items():
        assert values == pytest.approx(alone[name], rel=1e-4)


COMPILED = pytest.mark.skipif(shutil.which("g++") is None, reason="FlexAttention on a CPU needs a C++ compiler")


@pytest.mark.parametrize("kernel", ["eager", pytest.param("flex_attention", marks=COMPILED)])
def test_every_attention_kernel_sees_the_same_tree(tiny: Judge, kernel: str) -> None:
    model = tiny_model(7)
    model.set_attn_implementation(kernel)
    requests = _requests(tiny[1], ("binary", "likert5"), PROMPTS[:2])
    found = _found((model, tiny[1]), requests)
    for request in requests:
        assert found[request.request_id] == pytest.approx(_brute_force(tiny, request), rel=1e-4, abs=0)


def test_every_token_that_ends_a_turn_counts(tiny: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    model, renderer = tiny
    request = _requests(renderer, ("binary",), PROMPTS[:1])
    one = _found(tiny, request)[request[0].request_id]
    monkeypatch.setattr(renderer, "stop_ids", renderer.stop_ids | {65})
    two = _found(tiny, request)[request[0].request_id]
    assert two == pytest.approx(_brute_force((model, renderer), request[0]), rel=1e-4)
    assert all(more > less for more, less in zip(two, one, strict=True))


def test_probabilities_are_those_that_replies_are_drawn_with(tiny: Judge) -> None:
    model, renderer = tiny
    bias = torch.zeros(model.config.vocab_size)
    ids = [renderer.render_verdict(digit)[0] for digit in "12345"]
    bias[ids] = torch.tensor([4.0, 5.0, 5.5, 4.5, 5.0])
    bias[renderer.end_of_turn_id] = 8.0
    sure = tiny_model(7)
    sure.lm_head.bias = torch.nn.Parameter(bias)
    (request,) = _requests(renderer, ("likert5",), PROMPTS[:1])
    expected = _found((sure, renderer), [request])[request.request_id]
    draws = 600
    repeated = [Request(f"r{n}", request.prompt_ids, seed=n) for n in range(draws)]
    decoding = DecodingConfig("sampled", 1.0, 1.0, 2)
    texts = [r.text for r in HFEngine(sure, renderer, 200).generate(repeated, decoding) if not r.truncated]
    assert sum(expected) > 0.1
    for verdict, share in zip("12345", expected, strict=True):
        deviation = math.sqrt(share * (1 - share) / draws)
        assert abs(texts.count(verdict) / draws - share) < 4 * deviation


@pytest.mark.parametrize(
    ("layers", "window"), [(["full_attention", "sliding_attention"], None), (None, 64)], ids=["some layers", "all"]
)
def test_a_model_that_reads_in_a_line_is_refused(tiny: Judge, layers: list[str] | None, window: int | None) -> None:
    model, renderer = tiny_model(7), tiny[1]
    model.config.layer_types, model.config.sliding_window = layers, window
    with pytest.raises(ConfigError, match=r"sliding_attention layers .* engine=vllm"):
        _found((model, renderer), _requests(renderer, ("binary",), PROMPTS[:1]))


def _cached_embedded() -> Path | None:
    return next(iter(sorted(embedded.cache_folder().glob("smollm2-135m-instruct-*"))), None)


@pytest.mark.skipif(_cached_embedded() is None, reason="the embedded judge is not in the cache")
def test_the_embedded_judge_gives_what_a_forward_pass_per_verdict_gives() -> None:
    folder = _cached_embedded()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="sdpa").eval()
    judge = (model, Renderer(tokenizer, {}))
    chat = tokenizer.apply_chat_template([{"role": "user", "content": PROMPTS[0]}], tokenize=False)
    requests = _requests(judge[1], ("likert5", "tournament", "numeric100"), [f"{chat}<|im_start|>assistant\n"])
    found = _found(judge, requests, 4)
    for request in requests:
        values = found[request.request_id]
        step = 1 + len(values) // 20
        assert values[::step] == pytest.approx(_brute_force(judge, request, step), rel=1e-3, abs=1e-6)
        assert 0 < sum(values) <= 1
    assert len(found[requests[-1].request_id]) == 101
