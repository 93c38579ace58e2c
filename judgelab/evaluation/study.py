"""The parts of a judge study that training and evaluation share: pool, base model, prompts, test split."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra.utils import get_class

from judgelab.config.schema import TrainRoot
from judgelab.data.records import Pool
from judgelab.evaluation.judging import Evaluation, evaluate_rows
from judgelab.judges.prompts import prompt_sha
from judgelab.judges.rendering import Renderer
from judgelab.models.base import BaseModel, load_base
from judgelab.scoring.requests import Judge, pointwise_requests
from judgelab.scoring.score import score
from judgelab.scoring.store import ScoreStore
from judgelab.training.adapter import JudgeCard


@dataclass(frozen=True)
class Judged:
    """An evaluation with its score rows, and how many test prompts had to be cut."""

    evaluation: Evaluation
    rows: list[dict[str, Any]]
    items_cut: int


class JudgeStudy:
    """What a study judges and with what; the model may be a base model or one with an adapter on it."""

    def __init__(self, config: TrainRoot) -> None:
        self.config = config
        self.pool: Pool = config.data.load(config.criterion.name, tuple(config.criterion.slots), config.seed)
        self.base: BaseModel = load_base(config.model, config.hardware, config.seed)
        self.renderer = Renderer(self.base.tokenizer, config.model.chat_template_kwargs)

    def card(self) -> JudgeCard:
        """What an adapter of this study must be used with."""
        config = self.config
        return JudgeCard(
            base_model=config.model.name,
            base_identity=self.base.identity,
            criterion=config.criterion.name,
            format=config.format.name,
            prompt_sha=prompt_sha(config.criterion, config.format),
            chat_template_kwargs=dict(config.model.chat_template_kwargs),
            chat_template_sha=self.renderer.fingerprint,
        )

    def judge_test_split(self, model: Any, judge: Judge, shards: Path) -> Judged:
        """Judge every test item once per run; replies that the shards already hold are not asked again."""
        config = self.config
        model = model.to("cuda" if config.hardware.accelerator == "cuda" else "cpu")
        engine = get_class(config.engine._target_)(model, self.renderer, config.hardware.engine_batch_size)
        requests = pointwise_requests(
            self.pool.test,
            judge,
            config.criterion,
            config.format,
            self.renderer,
            config.decoding,
            config.evaluation.runs,
            config.trainer.max_length,
            config.seed,
        )
        store = ScoreStore(shards)
        rows = score(requests, engine, config.format, config.decoding, store, f"judging ({judge.label})")
        evaluation = evaluate_rows(judge.label, self.pool.test, rows)
        return Judged(evaluation, rows, sum(r.cut_tokens > 0 for r in requests if r.repeat == 0))
