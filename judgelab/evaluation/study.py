"""The parts of a judge study that training and evaluation share: pool, base model, prompts, test split."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgelab.config.schema import TrainRoot
from judgelab.data.records import Pool
from judgelab.engines.hf import HFEngine
from judgelab.evaluation.judging import Evaluation, evaluate_rows
from judgelab.judges.prompts import prompt_sha
from judgelab.judges.rendering import Renderer
from judgelab.models.adapter import JudgeCard
from judgelab.models.base import BaseModel, load_base
from judgelab.scoring.requests import Asking, Judge
from judgelab.scoring.score import Progress, score
from judgelab.scoring.store import ReplyStore


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
        engine = HFEngine(model, self.renderer, config.hardware.engine_batch_size)
        asking = Asking(judge, config.criterion, self.renderer, config.decoding, config.trainer.max_length, config.seed)
        requests = asking.pointwise(self.pool.test, config.format, config.evaluation.runs)
        formats = {config.format.name: config.format}
        store, progress = ReplyStore(shards), Progress(f"judging ({judge.label})", len(requests), 0)
        rows = score(requests, engine, formats, config.decoding, store, progress)
        evaluation = evaluate_rows(judge.label, self.pool.test, rows)
        return Judged(evaluation, rows, sum(r.cut_tokens > 0 for r in requests if r.repeat == 0))
