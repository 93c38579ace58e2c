"""What scoring costs: shared prefixes, resuming, memory, diagnostics. Run by hand, one part at a time or all.

python tests/bench/scoring.py --part sharing            hf: three formats together against three passes
python tests/bench/scoring.py --part sharing --vllm     the same on vLLM, with its prefix-cache hit rate
python tests/bench/scoring.py --part resume             a finished grid of 15,406 candidates
python tests/bench/scoring.py --part memory             10 thousand against 1 million rows
python tests/bench/scoring.py --part diagnostics        15,406 candidates x 5 formats x 3 judges
"""

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from pathlib import Path

import diagnostics
from diagnostics import made_pool

from judgelab.config.compose import compose_config, typed
from judgelab.config.schema import DecodingConfig, FormatConfig, ScoreRoot
from judgelab.data.candidates import Candidate, CandidatePool, PoolPrompt
from judgelab.engines.base import Engine, Reply, Request
from judgelab.judges.rendering import Renderer
from judgelab.models.tiny import tiny_tokenizer
from judgelab.scoring.pool import PoolScoring
from judgelab.scoring.requests import Asking, Judge

POINTWISE = ("binary", "likert5", "numeric100")
TOKENS = 800


def scoring_config(*words: str) -> ScoreRoot:
    """The configuration of formats_sample on a CPU."""
    config = typed(compose_config("score", ["experiment=formats_sample", "hardware=cpu", *words]))
    assert isinstance(config, ScoreRoot)
    return config


def long_prompts(config: ScoreRoot, renderer: Renderer, count: int) -> list[PoolPrompt]:
    """Prompts with one response of about 800 tokens each, strung together from the bundled pool."""
    texts = [candidate.text for prompt in config.data.load(0).prompts for candidate in prompt.candidates]
    prompts = []
    for number in range(count):
        text, start = "", number * len(texts) // count
        while len(renderer.tokenizer(text)["input_ids"]) < TOKENS:
            text += texts[start % len(texts)] + "\n\n"
            start += 1
        candidate = Candidate(f"c{number}", f"p{number}", text)
        prompts.append(PoolPrompt(f"p{number}", f"Tell me about topic number {number}, please.", (candidate,)))
    return prompts


def time_sharing(repeats: int, count: int, words: Sequence[str]) -> None:
    """Seconds for three formats item by item in one call, against one call per format; the replies are the same."""
    config = scoring_config(*words)
    judge = config.engine.start(config)
    asking = Asking(Judge("judge", judge.identity), config.criterion, judge.renderer, config.decoding, 2048, 0)
    formats = [config.formats[name] for name in POINTWISE]
    prompts = long_prompts(config, judge.renderer, count)
    together = [[each.request for each in asking.pool(prompts, formats, config.scoring.schedule, [0])]]
    apart = [[each.request for each in asking.pool(prompts, [fmt], config.scoring.schedule, [0])] for fmt in formats]
    lengths = [len(request.prompt_ids) for request in together[0]]
    print(f"{len(lengths)} requests of {min(lengths)} to {max(lengths)} tokens, {config.engine.name}")
    seconds: dict[str, list[float]] = {"together": [], "apart": []}
    for _ in range(repeats):
        replies = {}
        for name, calls in (("together", together), ("apart", apart)):
            taken, replies[name], cached = _timed(judge.engine, calls, config.decoding)
            seconds[name].append(taken)
            print(f"  {name}: {taken:.1f} s{cached}")
        same = sum(replies["apart"][key] == text for key, text in replies["together"].items())
        print(f"  equal replies: {same} of {len(lengths)}")
    ratio = statistics.median(seconds["apart"]) / statistics.median(seconds["together"])
    print(f"three separate passes take {ratio:.2f} times the seconds (median of {repeats})")


def _timed(
    engine: Engine, calls: Sequence[Sequence[Request]], decoding: DecodingConfig
) -> tuple[float, dict[str, str], str]:
    """Seconds, replies, and what the engine says of its cache, which is emptied before every call."""
    replies, notes, taken = {}, [], 0.0
    for requests in calls:
        _forget(engine)
        start = time.perf_counter()
        replies.update({reply.request_id: reply.text for reply in engine.generate(requests, decoding)})
        taken += time.perf_counter() - start
        notes.append(engine.note())
    said = [note for note in notes if note]
    return taken, replies, f" ({', '.join(said)})" if said else ""


def _forget(engine: Engine) -> None:
    """Empty vLLM's prefix cache and its counters; hf keeps nothing between calls."""
    if hasattr(engine, "llm"):
        engine.llm.reset_prefix_cache()
        engine.prompt_tokens = engine.cached_tokens = 0


class InstantEngine:
    """A judge that answers at once, for what scoring itself costs."""

    def generate(self, requests: Sequence[Request], decoding: DecodingConfig) -> Generator[Reply]:
        """The same verdict for everything."""
        for request in requests:
            yield Reply(request.request_id, "4", False, 1)

    def note(self) -> str:
        """Nothing."""
        return ""


def instant_scoring(folder: Path, formats: dict[str, FormatConfig]) -> PoolScoring:
    """Scoring of any pool by the instant judge."""
    config = scoring_config()
    renderer = Renderer(tiny_tokenizer(), {})
    asking = Asking(Judge("judge", "instant"), config.criterion, renderer, config.decoding, 8192, 0)
    return PoolScoring(asking, InstantEngine(), formats, config.scoring, folder)


def time_resume(repeats: int) -> None:
    """Seconds that a second run over a finished grid takes, for one judge under five formats."""
    pool = CandidatePool(tuple(made_pool()), (), {}, {})
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "scores"
        scoring = instant_scoring(folder, scoring_config().formats)
        start = time.perf_counter()
        scoring.run(pool, 2048)
        scoring.combine(Path(made) / "scores.parquet")
        print(f"first run: {time.perf_counter() - start:.1f} s")
        for _ in range(repeats):
            start = time.perf_counter()
            scoring.run(pool, 2048)
            finished = time.perf_counter()
            scoring.combine(Path(made) / "scores.parquet")
            end = time.perf_counter()
            print(f"resumed: {end - start:.2f} s ({finished - start:.2f} to see that it is done, the rest to combine)")


def memory_of(rows: int) -> None:
    """Peak memory of scoring so many rows, beyond what the process held with the pool in memory."""
    pool = CandidatePool(
        tuple(PoolPrompt(f"p{p}", "", (Candidate(f"c{p}", f"p{p}", ""),)) for p in range(rows)), (), {}, {}
    )
    with tempfile.TemporaryDirectory() as made:
        scoring = instant_scoring(Path(made) / "scores", {"likert5": scoring_config().formats["likert5"]})
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        scoring.run(pool, 2048)
        scored = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        scoring.combine(Path(made) / "scores.parquet")
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{rows:,} rows: {before / 1024:.0f} MiB with the pool, "
        f"+{(scored - before) / 1024:.0f} MiB scoring, +{(after - scored) / 1024:.0f} MiB combining"
    )


def main() -> None:
    """Run one part, or all that need no vLLM."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("sharing", "resume", "memory", "diagnostics"))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--texts", type=int, default=24)
    parser.add_argument("--vllm", action="store_true")
    parser.add_argument("--rows", type=int, help="measure the memory of so many rows in this process")
    arguments = parser.parse_args()
    if arguments.rows:
        memory_of(arguments.rows)
        return
    if arguments.part in (None, "sharing"):
        time_sharing(arguments.repeats, arguments.texts, ["engine=vllm"] if arguments.vllm else [])
    if arguments.part in (None, "resume"):
        time_resume(arguments.repeats)
    if arguments.part in (None, "memory"):
        for rows in (10_000, 100_000, 1_000_000):
            subprocess.run([sys.executable, __file__, "--rows", str(rows)], check=True)
    if arguments.part in (None, "diagnostics"):
        diagnostics.time_diagnostics(arguments.repeats)


if __name__ == "__main__":
    main()
