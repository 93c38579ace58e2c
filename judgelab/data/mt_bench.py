"""MT-bench: first-turn answers of several models, with GPT-4's single-answer grades where there are any."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from judgelab.data.candidate_filters import EMPTY, pool_of
from judgelab.data.candidate_rows import candidate_row, content_id
from judgelab.data.candidates import CandidatePool, CandidateSource
from judgelab.data.mt_bench_files import Answer, Key, Rated, answers, first_turn, grades
from judgelab.data.rows import Row, Table, distinct
from judgelab.data.tables import file_table, tables
from judgelab.errors import ConfigError, DataError

SETTING = "data.path=FOLDER, the mt_bench folder with question.jsonl and model_answer/"
JUDGMENTS = "data.judgments=FILE or FOLDER with rows of gpt-4_single.jsonl"


@dataclass
class MTBench(CandidateSource):
    """The first message of a question is the prompt; the answers are those of `path`/model_answer/MODEL.jsonl.

    `judgments`, a gpt-4_single.jsonl file or a folder of such files, gives first-turn grades from 1 to 10: the
    reference of an answer is the mean of its grades, and a grade of -1 (GPT-4's reply held none) is no reference.
    A graded model without an answer file takes its answers from the grading prompts, each different text as a
    candidate of its own; then model_answer/ may be absent. Grades of later turns are left out and counted.
    `models` keeps the candidates of those models alone. Listing order: file by file in the order of names.
    """

    judgments: str | None = None
    models: list[str] | None = None

    def load(self, seed: int) -> CandidatePool:
        """The pool of the files; raises DataError naming file and row."""
        if self.path is None:
            raise DataError(f"data={self.name} reads a local copy and data.path is null; set {SETTING}")
        questions = file_table(str(Path(self.path) / "question.jsonl"), SETTING)
        graded = () if self.judgments is None else tables(self.judgments, JUDGMENTS)
        written = self._answer_files(Path(self.path) / "model_answer")
        counts: Counter[str] = Counter()
        asked, counts["dropped_duplicate_rows"] = distinct(questions.rows, lambda row: row.identifier("question_id"))
        prompts = {str(row.value("question_id")): row for row in asked}
        texts = [_known(answer, prompts) for table in written for answer in answers(table, counts)]
        rated = [(_known(answer, prompts), grade) for table in graded for answer, grade in grades(table, counts)]
        rows = [_candidate(answer, reference, prompts) for answer, reference in self._chosen(_joined(texts, rated))]
        counts[EMPTY] = len(prompts.keys() - {str(row.value("prompt_id")) for row in rows})
        return pool_of(self, [questions, *written, *graded], rows, counts, seed)

    def _answer_files(self, folder: Path) -> tuple[Table, ...]:
        if self.judgments is not None and not folder.expanduser().exists():
            return ()
        return tables(str(folder), SETTING)

    def _chosen(self, found: Sequence[Rated]) -> list[Rated]:
        existing = {answer.model for answer, _ in found}
        chosen = existing if self.models is None else set(self.models)
        if chosen - existing:
            raise ConfigError(f"data.models={self.models}: expected some of {', '.join(sorted(existing))}, or null")
        return [(answer, reference) for answer, reference in found if answer.model in chosen]


def _joined(written: Sequence[Answer], graded: Iterable[Rated]) -> list[Rated]:
    """Every answer, then every graded text of a model without an answer file, with the mean of its grades."""
    answered = {answer.key[:2]: answer for answer in written}
    texts = {answer.key for answer in written}
    further: dict[Key, Answer] = {}
    scores: dict[Key, list[float]] = defaultdict(list)
    for answer, grade in graded:
        if answer.key not in texts:
            earlier = answered.get(answer.key[:2])
            if earlier is not None:
                raise DataError(
                    f"{answer.row.place}: the graded text is not the answer of {answer.model!r} in "
                    f"{earlier.row.place}; remove the grade or the answer file"
                )
            further.setdefault(answer.key, answer)
        if grade is not None:
            scores[answer.key].append(grade)
    everything = [*written, *further.values()]
    return [(answer, fmean(scores[answer.key]) if scores[answer.key] else None) for answer in everything]


def _known(answer: Answer, prompts: Mapping[str, Row]) -> Answer:
    """The answer; DataError where question.jsonl lacks its question, or has the id as another type."""
    question = prompts.get(str(answer.question_id))
    if question is None or question.value("question_id") != answer.question_id:
        near = f"; there it is {question.value('question_id')!r}" if question else ""
        raise DataError(f"{answer.row.place}: question_id {answer.question_id!r} is not in question.jsonl{near}")
    return answer


def _candidate(answer: Answer, reference: float | None, prompts: Mapping[str, Row]) -> Row:
    question_id, model, text = answer.key
    prompt = first_turn(prompts[question_id]).text("turns")
    candidate_id = f"{question_id}:{model}:{content_id(text)[:8]}"
    return candidate_row(answer.row, (answer.question_id, prompt), candidate_id, text, reference, model)
