"""vLLM's CPU build against the transformers engine on the embedded judge: same prompts, same weights, same replies."""

import os
from pathlib import Path

import pytest
import torch

pytest.importorskip("vllm", reason="vLLM is not installed")

from judgelab.config.compose import compose_config, typed
from judgelab.config.schema import Rescale, ScoreRoot
from judgelab.data.pool_sample import PoolSample
from judgelab.engines.base import Reply, StartedJudge, VerdictEngine
from judgelab.errors import ConfigError
from judgelab.judges.rendering import Renderer
from judgelab.models.adapter import JudgeCard
from judgelab.models.base import load_base
from judgelab.models.lora_factors import read_factors
from judgelab.models.merged import save_checkpoint, with_update
from judgelab.models.merging import dare_linear
from judgelab.scoring.requests import Asking, Judge, ScoreRequest
from judgelab.training.adapter import attach_lora, export_adapter

pytestmark = pytest.mark.vllm
COMMON = ["experiment=formats_sample", "hardware=cpu", "scoring.max_length=1024", "decoding.max_new_tokens=8"]


@pytest.fixture(autouse=True, scope="module")
def in_this_process() -> None:
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"  # a spawned core would import pytest's main module again


def _config(*overrides: str) -> ScoreRoot:
    config = typed(compose_config("score", [*COMMON, *overrides]))
    assert isinstance(config, ScoreRoot)
    return config


def _requests(config: ScoreRoot, judge: StartedJudge) -> list[ScoreRequest]:
    asking = Asking(
        Judge("judge", judge.identity), config.criterion, judge.renderer, config.decoding, config.scoring.max_length, 1
    )
    prompts = PoolSample(name="pool_sample", limit=3).load(1).prompts
    return list(asking.pool(prompts, list(config.formats.values()), config.scoring.schedule, [0]))


def _replies(config: ScoreRoot, most: int | None = None) -> tuple[StartedJudge, dict[str, Reply]]:
    judge = config.engine.start(config)
    requests = [request.request for request in _requests(config, judge)][:most]
    replies = {reply.request_id: reply for reply in judge.engine.generate(requests, config.decoding)}
    assert len(replies) == len({request.request_id for request in requests})
    return judge, replies


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapter that changes every reply of the embedded judge."""
    return _random_adapter(tmp_path_factory.mktemp("adapter"), 0)


def _random_adapter(folder: Path, seed: int) -> Path:
    lora = ["model.lora.r=8", "model.lora.alpha=16"]
    config = typed(compose_config("train", ["experiment=cpa_criminality", "hardware=cpu", *lora]))
    base = load_base(config.model, config.hardware, config.seed)
    model = attach_lora(base.model, config.model.lora, config.model.name, seed=3)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter.normal_(std=0.08, generator=torch.Generator().manual_seed(seed))
    sha = Renderer(base.tokenizer, {}).fingerprint
    card = JudgeCard(config.model.name, base.identity, "criminality", "pointwise", "", {}, sha)
    export_adapter(model, base.tokenizer, folder, card, "# a random adapter\n")
    return folder


def test_vllm_gives_the_replies_of_transformers_and_reads_shared_prompts_once() -> None:
    _, expected = _replies(_config("engine=hf"))
    judge, found = _replies(_config("engine=vllm"))
    assert found.keys() == expected.keys()
    same = sum(found[key].text == expected[key].text for key in expected)
    assert same >= 0.95 * len(expected), f"{same} of {len(expected)} greedy replies agree"
    assert judge.engine.cached_tokens > 0
    assert judge.engine.note().startswith("cached ")


def test_an_adapter_changes_the_replies_as_it_does_in_transformers(adapter: Path) -> None:
    few = 8  # vLLM's CPU build gathers an adapter's weights anew for every prompt token
    base, without = _replies(_config("engine=hf"), few)
    hf, expected = _replies(_config("engine=hf", f"adapter={adapter}"), few)
    vllm, found = _replies(_config("engine=vllm", f"adapter={adapter}"), few)
    assert hf.identity == vllm.identity != base.identity
    same = sum(found[key].text == expected[key].text for key in expected)
    assert same >= 0.95 * len(expected), f"{same} of {len(expected)} greedy replies agree"
    # A request id names the weights, so that the two replies to one prompt meet by its place alone.
    plain = [without[each.request.request_id].text for each in _requests(_config(), base)[:few]]
    adapted = [found[each.request.request_id].text for each in _requests(_config(), vllm)[:few]]
    changed = sum(one != other for one, other in zip(plain, adapted, strict=True))
    assert changed == few, f"the adapter changed {changed} of {few} replies"


def test_verdict_probabilities_are_those_of_transformers() -> None:
    found = {}
    for engine in ("hf", "vllm"):
        config = _config(f"engine={engine}", "decoding=expected", "hardware.dtype=float32")
        judge = config.engine.start(config)
        assert isinstance(judge.engine, VerdictEngine)
        wanted = ("likert5", "numeric100", "tournament")
        requests = [r.request for name in wanted for r in _requests(config, judge) if r.format == name][::6][:8]
        found[engine] = {each.request_id: each.values for each in judge.engine.verdict_probabilities(requests)}
        assert len(found[engine]) == len(requests)
    # Only whole blocks are cached, and one holds 128 tokens on a CPU.
    assert judge.engine.cached_tokens > 0.5 * judge.engine.prompt_tokens
    assert {len(values) for values in found["hf"].values()} >= {5, 101}
    for key, values in found["hf"].items():
        assert 0 < sum(values) <= 1
        assert found["vllm"][key] == pytest.approx(values, rel=1e-3, abs=1e-5)


def test_a_merged_checkpoint_gives_the_probabilities_of_transformers(adapter: Path, tmp_path: Path) -> None:
    experts = read_factors(adapter), read_factors(_random_adapter(tmp_path / "other", 1))
    score = _config("engine=hf", "hardware.dtype=float32")
    base = load_base(score.model, score.hardware, score.seed)
    card = JudgeCard(score.model.name, base.identity, "criminality", "pointwise", "", {}, "")
    merged = tmp_path / "merged"
    with with_update(
        base.model, list(experts[0]), lambda name: dare_linear(experts, name, 0.5, 0.9, Rescale.density, 1)
    ):
        save_checkpoint(base.model, base.tokenizer, merged, card, {})
    found = {}
    for engine, name in (("hf", score.model.name), ("hf", str(merged)), ("vllm", str(merged))):
        own = [] if name == score.model.name else [f"model.name={name}", "model.origin=hub"]
        config = _config(f"engine={engine}", "decoding=expected", "hardware.dtype=float32", *own)
        judge = config.engine.start(config)
        assert isinstance(judge.engine, VerdictEngine)
        requests = [r.request for r in _requests(config, judge) if r.format == "likert5"][:6]
        values = {each.request_id: each.values for each in judge.engine.verdict_probabilities(requests)}
        found[engine, name] = [values[request.request_id] for request in requests]
    base_values, hf, vllm = found.values()
    assert len(vllm) == len(hf) == 6
    for one, other, before in zip(hf, vllm, base_values, strict=True):
        assert other == pytest.approx(one, rel=1e-3, abs=1e-5)
        assert one != pytest.approx(before, rel=1e-2, abs=1e-5)


def test_the_tiny_model_has_no_folder_that_vllm_could_load() -> None:
    config = _config("debug=tiny", "engine=vllm")
    with pytest.raises(ConfigError, match="engine=hf"):
        config.engine.start(config)
