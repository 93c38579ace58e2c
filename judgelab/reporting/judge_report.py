"""What a person reads after a judge was trained or evaluated: tables, figures, warnings, metrics."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judgelab.config.schema import TrainRoot
from judgelab.data.records import Pool
from judgelab.evaluation.classification import LABELS, UNPARSED
from judgelab.evaluation.judging import Evaluation
from judgelab.evaluation.study import Judged, JudgeStudy
from judgelab.reporting.figures import confusion_figure, loss_figure, save_figure
from judgelab.reporting.report import finish_report
from judgelab.reporting.tables import Table
from judgelab.run.run import Run
from judgelab.training.job import TrainingJob

JUDGES = {
    "before": "base model, before training",
    "after": "trained judge",
    "adapter": "judge with adapter",
    "base": "base model",
    "tfidf": "TF-IDF + logistic regression",
}
FIGURES = ("macro_f1_strict", "macro_f1_parsed", "accuracy_strict", "parse_rate")
GLOSSARY = (
    (
        "macro-F1 strict",
        "Mean of the two classes' F1; a reply without a readable verdict counts as a wrong verdict.",
    ),
    ("macro-F1 parsed", "The same over the items whose reply carried a readable verdict."),
    ("parse rate", "Share of replies with a readable verdict."),
    ("± sd", "Sample standard deviation over inference runs of one judge, not over training seeds."),
)


def judge_table(evaluations: Sequence[Evaluation]) -> Table:
    """One row per judge: means over runs, ± sample sd where there is more than one run."""
    rows = tuple(
        (
            JUDGES[evaluation.judge],
            *(_mean_with_sd(evaluation, figure) for figure in FIGURES),
            evaluation.runs[0].n,
            len(evaluation.runs),
        )
        for evaluation in evaluations
    )
    columns = ("judge", "macro-F1 strict", "macro-F1 parsed", "accuracy", "parse rate", "n", "runs")
    return Table("Test split, pointwise", columns, rows, note="– means undefined: too few replies carried a verdict.")


def _mean_with_sd(evaluation: Evaluation, figure: str) -> str | float | None:
    mean, sd = evaluation.mean_and_sd(figure)
    return mean if mean is None or sd is None else f"{mean:.3f} ± {sd:.3f}"


def confusion_rows(evaluation: Evaluation, labels: Mapping[int, str]) -> tuple[list[list[int]], list[str], list[str]]:
    """Counts over all runs, with row names (label) and column names (verdict, unparsed last)."""
    counts = [[evaluation.confusion.counts[label, verdict] for verdict in (*LABELS, UNPARSED)] for label in LABELS]
    names = [f"{label}: {labels[label]}" for label in LABELS]
    return counts, names, [*(str(label) for label in LABELS), "unparsed"]


def data_table(pool: Pool) -> Table:
    """How much of the data each split holds, and what was left out."""
    splits = (
        ("training items", len(pool.train)),
        ("training pairs", len(pool.train_pairs)),
        ("validation items", len(pool.validation)),
        ("test items", len(pool.test)),
    )
    counted = tuple((name.replace("_", " "), count) for name, count in sorted(pool.counts.items()))
    return Table("Data", ("what", "count"), splits + counted)


def epoch_table(history: Sequence[Mapping[str, float]]) -> Table:
    """Validation metrics after each epoch, per format."""
    rows = [row for row in history if any(name.startswith("validation/") for name in row)]
    shown = (
        "loss",
        "pointwise_loss",
        "pointwise_verdict_accuracy",
        "pairwise_loss",
        "pairwise_verdict_accuracy",
    )
    names = [name for name in shown if any(f"validation/{name}" in row for row in rows)]
    cells = tuple((int(row["epoch"]), *(row.get(f"validation/{name}") for name in names)) for row in rows)
    columns = ("epoch", *(name.replace("_", " ") for name in names))
    return Table("Validation part, by epoch", columns, cells, note="Verdict accuracy given the reference rationale.")


def verdict_samples(pool: Pool, rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, ...], list[list[Any]]]:
    """Columns and rows of a table of verdicts beside their items."""
    items = {item.item_id: item for item in pool.test}
    columns = ("judge", "item", "query", "response", "label", "status", "score", "reply")
    samples = []
    for row in rows:
        item = items[row["candidate_id"]]
        own = (item.item_id, item.query, item.response, item.label)
        samples.append([row["judge"], *own, row["status"], row["score"], row["text"]])
    return columns, samples


def training_warnings(pool: Pool, job: TrainingJob, judged: Sequence[Judged]) -> list[str]:
    """What a reader of the figures should know."""
    warnings = []
    if job.counts["rows_cut"]:
        warnings.append(
            f"{job.counts['rows_cut']} of {job.counts['rows']} training rows lost {job.counts['tokens_cut']} tokens "
            f"of data text to fit trainer.max_length={job.config.trainer.max_length}."
        )
    if job.counts["rows_without_rationale"]:
        warnings.append(
            f"{job.counts['rows_without_rationale']} of {job.counts['rows']} training rows have no rationale: "
            "their target is the verdict alone."
        )
    if judged[0].items_cut:
        warnings.append(f"{judged[0].items_cut} of {len(pool.test)} test prompts were cut to fit.")
    for each in judged:
        rate = each.evaluation.mean_and_sd("parse_rate")[0]
        if rate is not None and rate < 0.95:
            name = JUDGES[each.evaluation.judge]
            warnings.append(f"{name}: only {rate:.0%} of replies carried a readable verdict.")
    return warnings


def report_training(
    run: Run,
    config: TrainRoot,
    study: JudgeStudy,
    job: TrainingJob,
    before: Judged,
    after: Judged,
    baseline: Evaluation,
    history: Sequence[Mapping[str, float]],
) -> None:
    """Metrics, tracked tables, figures, report.html and the final table on the screen."""
    evaluations = (before.evaluation, after.evaluation, baseline)
    steps = [row for row in history if "train/loss" in row]
    targets = int(sum(row["train/target_tokens"] for row in steps))
    positions = int(sum(row["train/model_positions"] for row in steps))
    saved = int(sum(row["train/saved_positions"] for row in steps))
    run.count_tokens("training_targets", targets)
    run.count_tokens("training_positions", positions)
    _count_reply_tokens(run, [*before.rows, *after.rows])
    run.write_metrics(
        {
            **{name: value for evaluation in evaluations for name, value in evaluation.metrics().items()},
            **{name: value for name, value in history[-1].items() if name.startswith("validation/")},
            "train/steps": len(steps),
            "train/examples": len(job.train),
            "train/mixture_w": job.mixture_fraction,
            "train/target_tokens": targets,
            "train/saved_position_share": saved / (saved + positions),
            **{f"train/{name}": count for name, count in job.counts.items()},
        }
    )
    columns, samples = verdict_samples(study.pool, [*after.rows, *before.rows])
    run.tracker.table("verdict samples", columns, samples)
    figures = [("Loss per target token in nats.", save_figure(loss_figure(history), run.folder, "loss"))]
    figures += [_confusion_figure(run.folder, each, config) for each in (before.evaluation, after.evaluation)]
    facts = (
        ("model", config.model.name),
        ("data", config.data.name),
        ("condition", f"{config.method.condition.value}, w = {job.mixture_fraction:.3f}"),
        ("training rows", f"{len(job.train):,}"),
        ("optimizer steps", f"{len(steps):,}"),
        ("positions saved by sharing", f"{saved / (saved + positions):.0%}"),
        ("hardware", config.hardware.name),
        ("seed", str(config.seed)),
    )
    tables = (judge_table(evaluations), epoch_table(history), data_table(study.pool))
    warnings = training_warnings(study.pool, job, (before, after))
    finish_report(run.folder, config, tables, figures, warnings, facts, GLOSSARY)


def report_evaluation(run: Run, config: TrainRoot, study: JudgeStudy, judged: Judged) -> None:
    """The same for a judge that was only evaluated."""
    run.write_metrics(judged.evaluation.metrics())
    _count_reply_tokens(run, judged.rows)
    columns, samples = verdict_samples(study.pool, judged.rows)
    run.tracker.table("verdict samples", columns, samples)
    facts = (("model", config.model.name), ("data", config.data.name), ("hardware", config.hardware.name))
    tables = (judge_table((judged.evaluation,)), data_table(study.pool))
    figures = [_confusion_figure(run.folder, judged.evaluation, config)]
    finish_report(run.folder, config, tables, figures, [], facts, GLOSSARY)


def _confusion_figure(folder: Path, evaluation: Evaluation, config: TrainRoot) -> tuple[str, Path]:
    counts, rows, columns = confusion_rows(evaluation, config.criterion.labels)
    figure = confusion_figure(counts, rows, columns, JUDGES[evaluation.judge])
    return f"Labels against verdicts: {JUDGES[evaluation.judge]}.", save_figure(
        figure, folder, f"confusion_{evaluation.judge}"
    )


def _count_reply_tokens(run: Run, rows: Sequence[Mapping[str, Any]]) -> None:
    run.count_tokens("judge_prompts", sum(row["prompt_tokens"] for row in rows))
    run.count_tokens("judge_replies", sum(row["completion_tokens"] for row in rows))


def model_card(config: TrainRoot, job: TrainingJob) -> str:
    """The adapter's README in the Hugging Face layout: what it is, how to load it, how it was trained."""
    trainer, lora = config.trainer, config.model.lora
    return f"""---
base_model: {config.model.name}
library_name: peft
pipeline_tag: text-generation
tags: [llm-as-a-judge, lora, judgelab]
---

# {config.name}

A pointwise judge of the criterion *{config.criterion.name}*: a LoRA adapter on `{config.model.name}`.
It gives a one-sentence reason, then `{{"{config.format.verdict_key}": …}}`; 1 means that the response satisfies
the criterion.

Chat-template arguments it was trained with, and must be used with:
`{json.dumps(dict(config.model.chat_template_kwargs))}` (recorded, with the prompt's hash, in `judge.json`).

Load it with `PeftModel.from_pretrained(base, folder)`, with vLLM as `--lora-modules judge=folder`, or judge with it:
`python evaluate.py experiment={config.name} adapter=folder`.

Training: {len(job.train)} rows ({config.method.condition.value}, pointwise share {job.mixture_fraction:.3f}) of data
`{config.data.name}`, {trainer.epochs} epochs of batches of {trainer.batch_size}, learning rate
{trainer.learning_rate:g}, weight decay {trainer.weight_decay:g}, rank {lora.r}, alpha {lora.alpha}, dropout
{lora.dropout:g}, seed {config.seed}. The figures are in the run's `metrics.json` and `report.html`.
"""
