"""Seconds per optimizer step here and with TRL's SFTTrainer: same model, same 16 rows, one process.

Run by hand: pip install -e ".[bench]" && python tests/bench/training_step.py
"""

import argparse
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psutil
import torch
from datasets import Dataset
from peft import PeftModel
from transformers import TrainerCallback
from trl import SFTConfig, SFTTrainer

from judgelab.config.compose import compose_config, typed
from judgelab.judges.rendering import Renderer
from judgelab.models.base import load_base
from judgelab.training.batches import epoch_batches
from judgelab.training.job import TrainingJob
from judgelab.training.prefix_tree import Example

ROWS = 16
OVERRIDES = ["experiment=cpa_criminality", "hardware=cpu", "model.lora.dropout=0", "trainer.batch_size=16"]


@dataclass(frozen=True)
class Steps:
    """Seconds of the timed steps, the loss, and the adapter's gradient."""

    seconds: list[float]
    loss: float
    gradient: torch.Tensor

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


class PeakMemory:
    """The largest resident set of this process while it watches, in MiB."""

    def __init__(self) -> None:
        self.peak = 0.0
        self._stop = threading.Event()

    @contextmanager
    def watching(self) -> Iterator[None]:
        watcher = threading.Thread(target=self._watch, daemon=True)
        watcher.start()
        yield
        self._stop.set()
        watcher.join()

    def _watch(self) -> None:
        process = psutil.Process()
        while not self._stop.wait(0.02):
            self.peak = max(self.peak, process.memory_info().rss / 2**20)


def prepare() -> tuple[TrainingJob, list[Example]]:
    """The composed laptop job and the 16 rows of its first optimizer batch."""
    config = typed(compose_config("train", OVERRIDES))
    pool = config.data.load(config.criterion.name, tuple(config.criterion.slots), config.seed)
    base = load_base(config.model, config.hardware, config.seed)
    job = TrainingJob.prepare(config, pool, base, Renderer(base.tokenizer, config.model.chat_template_kwargs))
    with torch.no_grad():  # a zero lora_B would leave lora_A without gradient, and half the comparison empty
        for name, parameter in job.model.named_parameters():
            if "lora_B" in name:
                parameter.normal_(std=0.02, generator=torch.Generator().manual_seed(0))
    return job, list(epoch_batches(job.train, ROWS, True, config.seed, 0)[0])


def judgelab_steps(job: TrainingJob, rows: list[Example], repeats: int) -> Steps:
    """Seconds of each step, loss and gradient; one untimed step first."""
    module = job.module.train()
    module.manual_backward = lambda loss: loss.backward()
    optimizer = torch.optim.AdamW([p for p in module.parameters() if p.requires_grad], lr=0.0, fused=True)
    seconds = []
    for _ in range(repeats + 1):
        optimizer.zero_grad()
        started = time.perf_counter()
        loss = module.accumulate_gradients(rows).means()["loss"]
        gradient = gradients(job.model)
        optimizer.step()
        seconds.append(time.perf_counter() - started)
    return Steps(seconds[1:], loss, gradient)


class StepClock(TrainerCallback):
    """Times optimizer steps and keeps the last gradient before it is clipped or applied."""

    def __init__(self, model: PeftModel) -> None:
        self.model, self.seconds, self.losses = model, [], []

    def on_step_begin(self, args: object, state: object, control: object, **kwargs: object) -> None:
        self._started = time.perf_counter()

    def on_pre_optimizer_step(self, args: object, state: object, control: object, **kwargs: object) -> None:
        self.gradient = gradients(self.model)

    def on_step_end(self, args: object, state: object, control: object, **kwargs: object) -> None:
        self.seconds.append(time.perf_counter() - self._started)

    def on_log(self, args: object, state: object, control: object, logs: dict, **kwargs: object) -> None:
        if "loss" in logs:
            self.losses.append(logs["loss"])


def trl_steps(job: TrainingJob, rows: list[Example], repeats: int, micro_batch_size: int) -> Steps:
    """The same for TRL, completion-only loss, padded batches, as the paper splits them."""
    tokens = [
        {
            "input_ids": list(row.token_ids),
            "completion_mask": [0] * len(row.prompt_ids) + [1] * len(row.completion_ids),
        }
        for row in rows
    ]
    clock = StepClock(job.model)
    job.model.zero_grad()
    with tempfile.TemporaryDirectory() as folder:
        arguments = SFTConfig(
            output_dir=folder,
            per_device_train_batch_size=micro_batch_size,
            gradient_accumulation_steps=ROWS // micro_batch_size,
            max_steps=repeats + 1,
            learning_rate=0.0,
            max_grad_norm=0.0,
            completion_only_loss=True,
            gradient_checkpointing=False,
            max_length=None,
            bf16=False,
            use_cpu=True,
            logging_steps=1,
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
        )
        trainer = SFTTrainer(
            model=job.model,
            args=arguments,
            train_dataset=Dataset.from_list(tokens),
            processing_class=job_tokenizer(job),
            callbacks=[clock],
        )
        trainer.train()
    return Steps(clock.seconds[1:], clock.losses[-1], clock.gradient)


def job_tokenizer(job: TrainingJob) -> object:
    """TRL pads with the tokenizer's pad token; labels mask it, so which one it is does not matter."""
    return load_base(job.config.model, job.config.hardware, job.config.seed).tokenizer


def gradients(model: PeftModel) -> torch.Tensor:
    """All adapter gradients in one vector."""
    return torch.cat([p.grad.flatten().clone() for p in model.parameters() if p.grad is not None])


def measured(work: Callable[[], Steps]) -> tuple[Steps, float]:
    """The work's result with its peak memory in MiB."""
    memory = PeakMemory()
    with memory.watching():
        steps = work()
    return steps, memory.peak


def main() -> None:
    """Print both medians, the ratio, and how far loss and gradient differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--micro-batch-size", type=int, default=4, help="TRL's per-device batch; the paper's is 4")
    options = parser.parse_args()
    job, rows = prepare()
    size = options.micro_batch_size
    ours, our_peak = measured(lambda: judgelab_steps(job, rows, options.repeats))
    theirs, their_peak = measured(lambda: trl_steps(job, rows, options.repeats, size))
    tokens = sum(len(row.token_ids) for row in rows)
    print(f"{ROWS} rows, {tokens} tokens, {torch.get_num_threads()} threads, {options.repeats} timed steps each")
    for name, steps, peak in (("judgelab", ours, our_peak), (f"TRL {size}x{ROWS // size}", theirs, their_peak)):
        each = ", ".join(f"{seconds:.2f}" for seconds in steps.seconds)
        print(f"{name:9s} {steps.median:6.2f} s/step ({each}), loss {steps.loss:.6f}, peak memory {peak:,.0f} MiB")
    difference = torch.linalg.vector_norm(ours.gradient - theirs.gradient) / torch.linalg.vector_norm(theirs.gradient)
    print(f"relative gradient difference {difference.item():.1e}")
    print(f"ratio {theirs.median / ours.median:.2f}")


if __name__ == "__main__":
    main()
