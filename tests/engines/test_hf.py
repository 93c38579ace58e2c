"""The transformers engine against a plain greedy loop, one prompt at a time."""

import pytest
import torch
from scipy.stats import chisquare

from judgelab.config.schema import DecodingConfig
from judgelab.engines.base import Reply, Request
from judgelab.engines.hf import HFEngine, SeededSampling
from judgelab.judges.rendering import Renderer
from judgelab.models.tiny import tiny_model, tiny_tokenizer

GREEDY = DecodingConfig(name="greedy", temperature=0.0, max_new_tokens=12)
SAMPLED = DecodingConfig(name="sampled", temperature=1.0, max_new_tokens=12)
PROMPTS = ["Short.", "A somewhat longer prompt.", "x", "One more prompt of middling size"]
# Everything shares a rubric, and the first item is asked about in two ways.
SHARING = [
    "Rubric. Item one, in words. Ask?",
    "Rubric. Item one, in words. Tell!",
    "Rubric. Two",
    "Rubric. Item three?",
]


@pytest.fixture(scope="module")
def renderer() -> Renderer:
    return Renderer(tiny_tokenizer(), {})


def _requests(renderer: Renderer, prompts: list[str] = PROMPTS) -> list[Request]:
    return [Request(f"r{i}", tuple(renderer.tokenizer(p)["input_ids"]), seed=i) for i, p in enumerate(prompts)]


def _replies(
    renderer: Renderer, decoding: DecodingConfig, prompts: list[str] = PROMPTS, batch_size: int = 3
) -> dict[str, Reply]:
    engine = HFEngine(tiny_model(7), renderer, batch_size)
    return {reply.request_id: reply for reply in engine.generate(_requests(renderer, prompts), decoding)}


@pytest.mark.parametrize("prompts", [PROMPTS, SHARING], ids=["nothing shared", "rubric and item shared"])
@pytest.mark.parametrize("batch_size", [1, 3, 8])
def test_greedy_replies_equal_a_plain_loop(renderer: Renderer, prompts: list[str], batch_size: int) -> None:
    model = tiny_model(7)
    replies = _replies(renderer, GREEDY, prompts, batch_size)
    for request in _requests(renderer, prompts):
        ids, completion = list(request.prompt_ids), []
        while len(completion) < 12 and not set(completion) & renderer.stop_ids:
            completion.append(int(model(torch.tensor([ids + completion])).logits[0, -1].argmax()))
        stopped = bool(set(completion) & renderer.stop_ids)
        assert replies[request.request_id] == Reply(
            request.request_id, renderer.decode(completion), not stopped, len(completion)
        )


def test_the_end_of_turn_ends_a_reply(renderer: Renderer) -> None:
    model = tiny_model(7)
    request = _requests(renderer)[0]
    first = int(model(torch.tensor([request.prompt_ids])).logits[0, -1].argmax())
    with torch.no_grad():
        # Swapping two rows of the tied embedding would change the input too, so bias the head instead.
        model.lm_head.bias = torch.nn.Parameter(torch.zeros(model.config.vocab_size))
        model.lm_head.bias[renderer.end_of_turn_id] = 1e4
    reply = next(HFEngine(model, renderer, 1).generate([request], GREEDY))
    assert first != renderer.end_of_turn_id
    assert (reply.text, reply.truncated, reply.completion_tokens) == ("", False, 1)


def test_sampling_is_seeded_and_leaves_the_global_generator_alone(renderer: Renderer) -> None:
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    first = _replies(renderer, SAMPLED)
    assert torch.equal(torch.rand(3), expected)
    assert _replies(renderer, SAMPLED) == first
    assert first != _replies(renderer, GREEDY)


def test_a_sampled_reply_does_not_depend_on_its_batch(renderer: Renderer) -> None:
    assert _replies(renderer, SAMPLED, SHARING, 1) == _replies(renderer, SAMPLED, SHARING, 8)


def test_sampled_tokens_follow_the_nucleus_of_the_tempered_distribution() -> None:
    scores = torch.tensor([[2.0, 1.0, 0.0, -6.0]])
    draws = [int(SeededSampling(2.0, 0.95, [seed])(torch.empty(1, 0), scores).argmax()) for seed in range(4000)]
    kept = torch.softmax(scores[0, :3].double() / 2.0, dim=-1)
    counts = torch.bincount(torch.tensor(draws), minlength=4)
    assert counts[3] == 0
    assert chisquare(counts[:3], kept * len(draws)).pvalue > 1e-3


def test_repeats_of_one_prompt_differ(renderer: Renderer) -> None:
    ids = _requests(renderer)[1].prompt_ids
    engine = HFEngine(tiny_model(7), renderer, 8)
    replies = list(engine.generate([Request(f"r{i}", ids, seed=i) for i in range(8)], SAMPLED))
    assert len({reply.text for reply in replies}) > 1
