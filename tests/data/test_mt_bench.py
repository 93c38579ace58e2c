import json
from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean

import pytest

from judgelab.data.mt_bench import MTBench
from judgelab.errors import ConfigError, DataError

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
ANSWERS, GRADES = DATA / "mt_bench", DATA / "mt_bench_gpt4_single" / "model_judgment"
needs_answers = pytest.mark.skipif(not ANSWERS.is_dir(), reason="no shared/data/mt_bench beside the repository")
needs_grades = pytest.mark.skipif(
    not (ANSWERS.is_dir() and GRADES.is_dir()), reason="no shared/data/mt_bench_gpt4_single beside the repository"
)


def load(path, seed=42, **settings):
    settings = {k: str(v) if isinstance(v, Path) else v for k, v in settings.items()}
    return MTBench(name="mt_bench", path=str(path), **settings).load(seed)


def read(path):
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def candidates(pool):
    return [candidate for prompt in pool.prompts for candidate in prompt.candidates]


@needs_answers
def test_prompts_and_first_turn_answers_are_those_of_the_public_files():
    pool = load(ANSWERS)
    questions = {str(row["question_id"]): row["turns"][0] for row in read(ANSWERS / "question.jsonl")}
    assert {prompt.prompt_id: prompt.text for prompt in pool.prompts} == questions
    expected = {
        (str(row["question_id"]), path.stem, row["choices"][0]["turns"][0])
        for path in (ANSWERS / "model_answer").glob("*.jsonl")
        for row in read(path)
    }
    assert {(c.prompt_id, c.model, c.text) for c in candidates(pool)} == {e for e in expected if len(e[2]) >= 20}
    dropped = pool.counts["dropped_blank_responses"] + pool.counts["dropped_short_responses"]
    assert len(candidates(pool)) + dropped == len(expected)
    assert pool.counts["candidates_without_reference"] == len(candidates(pool))
    listed = [[c.model for c in prompt.candidates] for prompt in pool.prompts]
    assert all(models == sorted(models) for models in listed)


@needs_grades
def test_graded_texts_become_candidates_whose_reference_is_the_mean_grade():
    texts, scores = {}, defaultdict(list)
    for path in GRADES.glob("*.jsonl"):
        for row in read(path):
            text = row["user_prompt"].split("[The Start of Assistant's Answer]\n")[1]
            key = str(row["question_id"]), row["model"], text.split("\n[The End of Assistant's Answer]")[0]
            scores[key].append(row["score"])
            texts[key[:2]] = text
    pool = load(ANSWERS, judgments=GRADES)
    graded = {(c.prompt_id, c.model, c.text): c.reference for c in candidates(pool) if c.reference is not None}
    assert graded == pytest.approx({key: mean(values) for key, values in scores.items()})
    # One model was graded twice on every question, with two different texts.
    assert Counter(model for _, model, _ in graded)["mistral-orpo"] == 2 * len(
        {q for q, m, _ in graded if m == "mistral-orpo"}
    )


@needs_grades
def test_models_keeps_those_alone_and_counts_the_prompts_that_are_left_without_any():
    grades = GRADES / "gpt-4_single.mistral-orpo.jsonl"
    pool = load(ANSWERS, judgments=grades, models=["mistral-orpo-mix", "mistral-orpo-trl"])
    assert {c.model for c in candidates(pool)} == {"mistral-orpo-mix", "mistral-orpo-trl"}
    questions = len(read(ANSWERS / "question.jsonl"))
    assert len(pool.prompts) + pool.counts["dropped_prompts_without_candidates"] == questions
    assert pool.counts["candidates_without_reference"] == 0


def question(n):
    return {"question_id": n, "category": "writing", "turns": [f"question {n}", "and then?"]}


def answer(n, text, **more):
    return {
        "question_id": n,
        "model_id": "not the file's name",
        "choices": [{"index": 0, "turns": [text, "more"]}],
    } | more


def grade(n, model, text, score, **more):
    prompt = f"[Question]\nq\n\n[The Start of Assistant's Answer]\n{text}\n[The End of Assistant's Answer]"
    return {"question_id": n, "model": model, "user_prompt": prompt, "score": score, "turn": 1, "tstamp": 0.5} | more


def said(model, n):
    return f"what {model} said to question {n}"


def files():
    return {
        "question.jsonl": [question(n) for n in (81, 82, 83)],
        "model_answer/m1.jsonl": [answer(n, said("m1", n)) for n in (81, 82, 83)],
        "model_answer/m2.jsonl": [answer(n, said("m2", n)) for n in (81, 82, 83)],
        "grades.jsonl": [grade(n, "m1", said("m1", n), 7) for n in (81, 82)],
    }


def write(folder, contents):
    (folder / "model_answer").mkdir(exist_ok=True)
    for name, rows in contents.items():
        (folder / name).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return folder


def references(pool):
    return {(c.prompt_id, c.model): c.reference for c in candidates(pool)}


def test_grades_join_answers_by_question_and_file_name(tmp_path):
    folder = write(tmp_path, files())
    pool = load(folder, judgments=folder / "grades.jsonl")
    assert references(pool) == {
        (str(n), m): 7.0 if m == "m1" and n < 83 else None for n in (81, 82, 83) for m in ("m1", "m2")
    }
    assert [path.rpartition("/")[2] for path in pool.inputs] == [
        "question.jsonl",
        "m1.jsonl",
        "m2.jsonl",
        "grades.jsonl",
    ]
    assert {c.model: c.reference for c in candidates(load(folder))} == {"m1": None, "m2": None}


def test_repeated_grades_average_and_what_has_no_grade_is_counted(tmp_path):
    contents = files()
    first = contents["grades.jsonl"][0]
    contents["grades.jsonl"] += [first, first | {"score": 10, "tstamp": 1.5}, first | {"turn": 2, "user_prompt": "?"}]
    contents["grades.jsonl"] += [grade(83, "m1", said("m1", 83), -1), grade(83, "m2", said("m2", 83), None)]
    contents["question.jsonl"] += [question(84), question(81)]
    folder = write(tmp_path, contents)
    pool = load(folder, judgments=folder / "grades.jsonl")
    assert references(pool)["81", "m1"] == 8.5
    assert {k: v for k, v in pool.counts.items() if v} == {
        "dropped_duplicate_rows": 2,
        "skipped_later_turns": 1,
        "grades_without_score": 2,
        "candidates_without_reference": 4,
        "dropped_prompts_without_candidates": 1,
    }


def test_graded_models_without_an_answer_file_give_one_candidate_a_text(tmp_path):
    contents = files()
    contents["grades.jsonl"] += [grade(81, "m9", text, n) for text, n in ((said("m9", 1), 3), (said("m9", 2), 9))]
    folder = write(tmp_path, contents)
    pool = load(folder, judgments=folder / "grades.jsonl", models=["m9"])
    assert [(c.text, c.reference) for c in candidates(pool)] == [(said("m9", 1), 3.0), (said("m9", 2), 9.0)]
    for path in (folder / "model_answer").iterdir():
        path.unlink()
    (folder / "model_answer").rmdir()
    assert len(candidates(load(folder, judgments=folder / "grades.jsonl"))) == 4


def test_row_order_changes_no_draw_and_every_choice_is_a_candidate(tmp_path):
    contents = files()
    contents["model_answer/m2.jsonl"][0]["choices"].append({"index": 1, "turns": ["a second try at question 81"]})
    forward = load(write(tmp_path, contents), held_out=1, limit=1)
    backward = load(write(tmp_path, {name: rows[::-1] for name, rows in contents.items()}), held_out=1, limit=1)
    assert (forward.prompts, forward.held_out, forward.counts) == (backward.prompts, backward.held_out, backward.counts)
    assert len(candidates(load(tmp_path))) == 7


def test_an_empty_answer_is_dropped_and_counted(tmp_path):
    contents = files()
    contents["model_answer/m1.jsonl"][2] = answer(83, "")
    contents["grades.jsonl"].append(grade(83, "m1", "", 1))
    folder = write(tmp_path, contents)
    assert load(folder, judgments=folder / "grades.jsonl").counts["dropped_blank_responses"] == 1


def edited(name, row, **values):
    contents = files()
    contents[name][row - 1] = contents[name][row - 1] | values
    return contents


BAD = {
    "no question": (edited("model_answer/m1.jsonl", 2, question_id=99), "m1.jsonl, row 2: question_id 99 is not in"),
    "id type": (edited("model_answer/m1.jsonl", 2, question_id="82"), "row 2: question_id '82' .*; there it is 82"),
    "grade's id": (edited("grades.jsonl", 2, question_id=99), "grades.jsonl, row 2: question_id 99 is not in"),
    "turns": (edited("question.jsonl", 2, turns=[]), "question.jsonl, row 2: 'turns' must be a list of texts"),
    "empty prompt": (edited("question.jsonl", 2, turns=[" "]), "question.jsonl, row 2: empty 'turns'"),
    "choices": (edited("model_answer/m1.jsonl", 2, choices=[]), "m1.jsonl, row 2: 'choices' must be a list"),
    "answer": (edited("model_answer/m1.jsonl", 2, choices=[{"turns": [3]}]), "m1.jsonl, row 2: 'turns' is 3, expected"),
    "two answers": (
        edited("model_answer/m1.jsonl", 2, question_id=81),
        "m1.jsonl, row 2: id 81 is already that of .*m1.jsonl, row 1, with other content",
    ),
    "two prompts": (edited("question.jsonl", 2, question_id=81), "question.jsonl, row 2: id 81 is already that of"),
    "score": (edited("grades.jsonl", 2, score="8/10"), "grades.jsonl, row 2: 'score' is '8/10', expected a finite"),
    "infinity": (edited("grades.jsonl", 2, score=float("inf")), "grades.jsonl, row 2: 'score' is inf, expected"),
    "no markers": (edited("grades.jsonl", 2, user_prompt="rate"), "grades.jsonl, row 2: 'user_prompt' must have"),
    "stale": (
        {**files(), "grades.jsonl": [grade(81, "m1", "another text", 7)]},
        "grades.jsonl, row 1: the graded text is not the answer of 'm1' in .*m1.jsonl, row 1",
    ),
}


@pytest.mark.parametrize(("contents", "message"), BAD.values(), ids=BAD)
def test_bad_rows_name_file_and_row(tmp_path, contents, message):
    folder = write(tmp_path, contents)
    with pytest.raises(DataError, match=message):
        load(folder, judgments=folder / "grades.jsonl")


def test_missing_files_say_what_to_set_and_unknown_models_what_there_is(tmp_path):
    with pytest.raises(DataError, match=r"data.path is null; set data.path=FOLDER"):
        MTBench(name="mt_bench").load(42)
    with pytest.raises(DataError, match=r"question.jsonl: no such file; set data.path=FOLDER"):
        load(tmp_path)
    folder = write(tmp_path, files())
    with pytest.raises(DataError, match=r"absent.jsonl: no such file; set data.judgments=FILE"):
        load(folder, judgments=folder / "absent.jsonl")
    with pytest.raises(ConfigError, match=r"data.models=\['m3'\]: expected some of m1, m2, or null"):
        load(folder, models=["m3"])
    for path in (folder / "model_answer").iterdir():
        path.unlink()
    with pytest.raises(DataError, match=r"model_answer: the folder holds no .*; set data.path=FOLDER"):
        load(folder)
