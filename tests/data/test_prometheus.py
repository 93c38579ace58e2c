import json
from collections import Counter
from pathlib import Path

import pytest

from judgelab.data.prometheus import Prometheus
from judgelab.errors import DataError

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
VICUNA = DATA / "prometheus_vicuna_eval" / "vicuna_eval.json"
MT_BENCH = DATA / "prometheus_mt_bench_eval" / "mt_bench_eval.json"
needs_vicuna = pytest.mark.skipif(not VICUNA.is_file(), reason="no shared/data/prometheus_vicuna_eval")
needs_mt_bench = pytest.mark.skipif(not MT_BENCH.is_file(), reason="no shared/data/prometheus_mt_bench_eval")


def load(path, seed=42, **settings):
    return Prometheus(name="prometheus", path=str(path), **settings).load(seed)


def by_id(pool):
    return {c.candidate_id: (p, c) for p in pool.prompts for c in p.candidates}


@needs_vicuna
def test_vicuna_prompts_have_four_models_and_the_mean_of_three_scores():
    rows = json.loads(VICUNA.read_text("utf-8"))
    pool = load(VICUNA)
    found = by_id(pool)
    assert len(found) == len(rows)
    assert {len(prompt.candidates) for prompt in pool.prompts} == {4}
    for row in rows:
        prompt, candidate = found[f"{row['idx']}:{row['response_source']}"]
        assert (prompt.prompt_id, candidate.model) == (str(row["idx"]), row["response_source"])
        assert candidate.reference == pytest.approx(sum(row["gpt4_score"]) / len(row["gpt4_score"]))
        grading = row["instruction"]
        assert f"###The instruction to evaluate:\n{prompt.text}\n\n###Response to evaluate:" in grading
        assert f"###Response to evaluate:\n{candidate.text}\n\n###Reference Answer (Score 5):" in grading
    assert [c.candidate_id for c in pool.prompts[0].candidates] == [
        f"{row['idx']}:{row['response_source']}" for row in rows if str(row["idx"]) == pool.prompts[0].prompt_id
    ]


@needs_vicuna
def test_vicuna_prompts_are_the_published_questions():
    questions = DATA / "vicuna_bench" / "question.jsonl"
    if not questions.is_file():
        pytest.skip("no shared/data/vicuna_bench")
    rows = [json.loads(line) for line in questions.read_text("utf-8").split("\n") if line]
    published = {str(row["question_id"]): row["turns"][0] for row in rows}
    shared = [prompt for prompt in load(VICUNA).prompts if prompt.prompt_id in published]
    assert shared
    assert all(prompt.text == published[prompt.prompt_id].strip() for prompt in shared)


@needs_mt_bench
def test_dialogues_of_one_question_share_their_prompt_and_keep_both_replies():
    rows = json.loads(MT_BENCH.read_text("utf-8"))
    pool = load(MT_BENCH, max_characters=20000)
    assert len(pool.prompts) == len({row["idx"] for row in rows})
    assert {len(prompt.candidates) for prompt in pool.prompts} == {4}
    found = by_id(pool)
    for row in rows:
        prompt, candidate = found[f"{row['idx']}:{row['response_source']}"]
        first, second = prompt.text.removeprefix("First message:\n").split("\n\nSecond message:\n")
        replies = candidate.text.removeprefix("Reply to the first message:\n").split("\n\nReply to the second message:")
        for text in (first, second, *replies):
            assert text.strip() in row["instruction"]


@needs_mt_bench
def test_the_users_messages_are_the_published_turns():
    questions = DATA / "mt_bench" / "question.jsonl"
    if not questions.is_file():
        pytest.skip("no shared/data/mt_bench")
    rows = [json.loads(line) for line in questions.read_text("utf-8").split("\n") if line]
    turns = {str(row["question_id"]): [turn.strip() for turn in row["turns"]] for row in rows}
    shared = [prompt for prompt in load(MT_BENCH).prompts if prompt.prompt_id in turns]
    published = ["First message:\n{}\n\nSecond message:\n{}".format(*turns[prompt.prompt_id]) for prompt in shared]
    # One published turn was corrected after these dialogues had been made.
    assert sum(prompt.text != text for prompt, text in zip(shared, published, strict=True)) <= 1
    assert len(shared) > 20


@needs_mt_bench
def test_long_dialogues_are_dropped_and_counted():
    pool = load(MT_BENCH.parent)
    kept = sum(len(prompt.candidates) for prompt in pool.prompts)
    assert kept + pool.counts["dropped_long_responses"] == len(json.loads(MT_BENCH.read_text("utf-8")))


def grading(task, response, answer="###Reference Answer (Score 5):\nthe ideal\n"):
    return f"###Task Description:\nGrade it.\n\n{task}\n\n{response}\n\n{answer}\n###Score Rubrics:\n[good]\n"


def row(n, model="m1", scores=(4, 5, 4), **more):
    task, response = (
        f"###The instruction to evaluate:\ntask {n}",
        f"###Response to evaluate:\nwhat {model} said to task {n}",
    )
    return {
        "idx": n,
        "response_source": model,
        "instruction": grading(task, response),
        "gpt4_score": list(scores),
    } | more


def rows():
    return [row(n, model) for n in range(3) for model in ("m1", "m2")]


def dialogue(model, second="next"):
    return (
        "###The instruction to evaluate:\nHere is a previous dialogue between two.\nUser: first?\n\n"
        f"Assistant:{model}'s reply\n\nUser: to be quoted\n\nUser: {second}\n\nAssistant: "
    )


def write(folder, values):
    path = folder / "eval.json"
    path.write_text(json.dumps(values), encoding="utf-8")
    return path


def test_runs_without_a_score_leave_the_mean(tmp_path):
    values = [row(1, "m1", (4, None, 5)), row(1, "m2", (float("nan"), "N/A")), row(1, "m3", ())]
    (prompt,) = load(write(tmp_path, values)).prompts
    assert [candidate.reference for candidate in prompt.candidates] == [4.5, None, None]


def test_row_order_changes_no_draw_and_duplicates_are_counted(tmp_path):
    forward = load(write(tmp_path, [*rows(), rows()[0]]), held_out=1, min_characters=1)
    by_model = sorted(rows(), key=lambda value: value["response_source"])
    backward = load(write(tmp_path, by_model), held_out=1, min_characters=1)
    assert (forward.prompts, forward.held_out) == (backward.prompts, backward.held_out)
    assert (forward.counts["dropped_duplicate_rows"], backward.counts["dropped_duplicate_rows"]) == (1, 0)


def test_a_dialogue_is_cut_at_its_outermost_turns(tmp_path):
    values = [row(1, m, instruction=grading(dialogue(m), "###Response to evaluate:\nlast")) for m in ("m1", "m2")]
    (prompt,) = load(write(tmp_path, values)).prompts
    assert prompt.text == "First message:\nfirst?\n\nSecond message:\nnext"
    assert [candidate.text for candidate in prompt.candidates] == [
        f"Reply to the first message:\n{m}'s reply\n\nUser: to be quoted\n\nReply to the second message:\nlast"
        for m in ("m1", "m2")
    ]


def test_an_empty_response_is_dropped_and_counted_in_dialogues_too(tmp_path):
    blank = "###Response to evaluate:\n"
    values = [*rows(), row(1, "m3", instruction=grading("###The instruction to evaluate:\ntask 1", blank))]
    values += [row(9, "m1", instruction=grading(dialogue("m1"), blank))]
    counts = Counter(load(write(tmp_path, values), min_characters=1).counts)
    assert (counts["dropped_blank_responses"], counts["dropped_prompts_without_candidates"]) == (2, 1)


TASK, RESPONSE = "###The instruction to evaluate:\ntask 2", "###Response to evaluate:\na response"


def with_second(**change):
    return [row(1), row(2, **change)]


BAD = {
    "no task": (with_second(instruction=grading("task 2", RESPONSE)), "'###The instruction to evaluate:' 0 times"),
    "no response": (with_second(instruction=grading(TASK, "a response")), "'###Response to evaluate:' 0 times"),
    "no answer": (with_second(instruction=grading(TASK, RESPONSE, "")), "'###Reference Answer' 0 times"),
    "twice": (with_second(instruction=grading(TASK, RESPONSE + RESPONSE)), "'###Response to evaluate:' 2 times"),
    "order": (with_second(instruction=grading(RESPONSE, TASK)), "in this order"),
    "empty task": (
        with_second(instruction=grading("###The instruction to evaluate:\n", RESPONSE)),
        "nothing stands under '###The instruction to evaluate:'",
    ),
    "dialogue": (
        with_second(instruction=grading(TASK.replace("task 2", "Here is a previous dialogue\nUser: hi"), RESPONSE)),
        "the dialogue in 'instruction' is not User, Assistant, User, Assistant",
    ),
    "scores": (with_second(gpt4_score=4), "'gpt4_score' is 4, expected a list"),
    "score": (with_second(gpt4_score=[4, "4/5"]), "'gpt4_score' is '4/5', expected a finite number"),
    "infinity": (with_second(gpt4_score=[float("inf")]), "'gpt4_score' is inf, expected a finite number"),
    "model": (with_second(response_source=""), "empty 'response_source'"),
    "id type": ([row(1), row("1", "m2")], "id '1' differs only in type from 1 in .*eval.json, row 1"),
    "two responses": ([row(1), row(1, scores=(1, 1, 1))], "id '1:m1' is already that of .*eval.json, row 1"),
    "two prompts": (
        [row(1), row(1, "m2", instruction=grading(TASK, RESPONSE))],
        "id 1 is already that of .*eval.json, row 1, with other content",
    ),
}


@pytest.mark.parametrize(("values", "message"), BAD.values(), ids=BAD)
def test_bad_rows_name_file_and_row(tmp_path, values, message):
    with pytest.raises(DataError, match=f"eval.json, row 2: .*{message}"):
        load(write(tmp_path, values))


def test_a_missing_path_says_what_to_set(tmp_path):
    with pytest.raises(DataError, match=r"data.path is null; set data.path=FILE, a vicuna_eval.json"):
        Prometheus(name="prometheus").load(42)
    with pytest.raises(DataError, match=r"vicuna_eval.json: no such file; set data.path=FILE"):
        load(tmp_path / "vicuna_eval.json")
