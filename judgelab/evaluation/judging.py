"""Judging labelled items with a pointwise judge, and what came of it over all runs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from judgelab.data.records import Item
from judgelab.evaluation.classification import Classification, Confusion, classify, confusion, mean_and_sd


@dataclass(frozen=True)
class Evaluation:
    """One judge over one set of items: a classification per run, and counts over all runs."""

    judge: str
    runs: tuple[Classification, ...]
    confusion: Confusion

    def mean_and_sd(self, figure: str) -> tuple[float | None, float | None]:
        """Mean and sample standard deviation over runs of one field of Classification."""
        return mean_and_sd([getattr(run, figure) for run in self.runs])

    def metrics(self) -> dict[str, float | None]:
        """Flat metrics; standard deviations appear where there is more than one run."""
        result: dict[str, float | None] = {"runs": len(self.runs)}
        for figure in asdict(self.runs[0]):
            mean, sd = self.mean_and_sd(figure)
            result[figure] = self.runs[0].n if figure == "n" else mean
            if len(self.runs) > 1 and figure != "n":
                result[f"{figure}_sd"] = sd
        return {f"evaluation/{self.judge}/{name}": value for name, value in result.items()}


def evaluate_rows(judge: str, items: Sequence[Item], rows: Sequence[Mapping[str, Any]]) -> Evaluation:
    """Compare score rows with labels, run by run; every item must have a row in every run."""
    labels = {item.item_id: item.label for item in items}
    repeats = sorted({row["repeat"] for row in rows})
    verdicts = {(row["repeat"], row["candidate_id"]): _verdict(row) for row in rows}
    if len(verdicts) != len(labels) * len(repeats):
        raise ValueError(f"{len(verdicts)} score rows for {len(labels)} items in {len(repeats)} runs")
    per_run = [[verdicts[repeat, item_id] for item_id in labels] for repeat in repeats]
    runs = tuple(classify(list(labels.values()), run) for run in per_run)
    flat = [verdict for run in per_run for verdict in run]
    return Evaluation(judge, runs, confusion(list(labels.values()) * len(repeats), flat))


def evaluate_verdicts(judge: str, items: Sequence[Item], verdicts: Sequence[int]) -> Evaluation:
    """The same figures for a baseline that always gives a verdict."""
    labels = [item.label for item in items]
    return Evaluation(judge, (classify(labels, verdicts),), confusion(labels, verdicts))


def _verdict(row: Mapping[str, Any]) -> int | None:
    return int(row["score"]) if row["status"] == "ok" else None
