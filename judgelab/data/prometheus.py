"""The Prometheus benchmarks: responses of four models with three GPT-4 scores each, inside grading prompts."""

import re
from dataclasses import dataclass
from statistics import fmean

from judgelab.data.candidate_filters import pool_of
from judgelab.data.candidate_rows import candidate_row
from judgelab.data.candidates import CandidatePool, CandidateSource
from judgelab.data.references import as_reference
from judgelab.data.rows import Row
from judgelab.data.tables import tables
from judgelab.errors import DataError

SETTING = "data.path=FILE, a vicuna_eval.json or mt_bench_eval.json, or the folder of one"
TASK, RESPONSE, ANSWER = "###The instruction to evaluate:", "###Response to evaluate:", "###Reference Answer"
DIALOGUE = "Here is a previous dialogue"
TURNS = re.compile(r"[^\n]*\nUser: (.*?)\n\nAssistant:(.*)\n\nUser: (.*?)\n\nAssistant: ?", re.DOTALL)


@dataclass
class Prometheus(CandidateSource):
    """`instruction` is a grading prompt that task and response are cut from; the reference is the mean `gpt4_score`.

    The prompt id is `idx`, the model is `response_source`, and a file lists a prompt's models in its own order.
    In the MT-bench file the task is a dialogue that holds the model's own first reply: there the prompt is the two
    messages of the user, and the response both replies, so that the candidates of one `idx` share their prompt. The
    score is GPT-4's of the last reply. Runs without a score (NaN, null, "N/A") leave the mean.
    """

    def load(self, seed: int) -> CandidatePool:
        """The pool of the files; raises DataError naming file and row."""
        if self.path is None:
            raise DataError(f"data={self.name} reads a local copy and data.path is null; set {SETTING}")
        read = tables(self.path, SETTING)
        return pool_of(self, read, [_candidate(row) for table in read for row in table.rows], {}, seed)


def _candidate(row: Row) -> Row:
    idx, model = row.identifier("idx"), row.text("response_source")
    prompt, response = _graded(row)
    if not prompt:
        raise DataError(f"{row.place}: nothing stands under {TASK!r} in 'instruction'")
    return candidate_row(row, (idx, prompt), f"{idx}:{model}", response, _mean_score(row), model)


def _graded(row: Row) -> tuple[str, str]:
    """Task and response of the grading prompt; DataError where its sections are not each there once, in order."""
    text = row.text("instruction")
    for marker in (TASK, RESPONSE, ANSWER):
        if text.count(marker) != 1:
            raise DataError(f"{row.place}: 'instruction' has {marker!r} {text.count(marker)} times, expected once")
    start, middle, end = (text.index(marker) for marker in (TASK, RESPONSE, ANSWER))
    if not start < middle < end:
        raise DataError(f"{row.place}: 'instruction' must have {TASK!r}, {RESPONSE!r} and {ANSWER!r} in this order")
    task, response = _section(text[start + len(TASK) : middle]), _section(text[middle + len(RESPONSE) : end])
    return _dialogue(row, task, response) if task.startswith(DIALOGUE) else (task, response)


def _section(text: str) -> str:
    """What stands under a marker, without the line breaks that set it apart; blank text is empty."""
    return text.removeprefix("\n").removesuffix("\n\n") if text.strip() else ""


def _dialogue(row: Row, task: str, response: str) -> tuple[str, str]:
    turns = TURNS.fullmatch(task)
    if turns is None:
        raise DataError(f"{row.place}: the dialogue in 'instruction' is not User, Assistant, User, Assistant")
    first, reply, second = (text.strip() for text in turns.groups())
    replies = f"Reply to the first message:\n{reply}\n\nReply to the second message:\n{response}"
    return f"First message:\n{first}\n\nSecond message:\n{second}", replies if response else ""


def _mean_score(row: Row) -> float | None:
    runs = row.value("gpt4_score")
    if not isinstance(runs, list):
        raise DataError(f"{row.place}: 'gpt4_score' is {runs!r}, expected a list of scores, one a run")
    scores = [score for run in runs if (score := as_reference(run, "gpt4_score", row.place)) is not None]
    return fmean(scores) if scores else None
