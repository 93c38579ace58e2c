"""What a training batch amounted to: sums and counts per format, and the work that sharing saved."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from judgelab.training.losses import FormatLoss
from judgelab.training.prefix_tree import PrefixTree


@dataclass
class BatchStatistics:
    """Additive statistics of one or more micro-batches."""

    formats: dict[str, list[float]]
    """Format -> [summed nats, targets, verdicts, correct verdicts]."""
    nodes: float = 0.0
    unshared_positions: float = 0.0

    @classmethod
    def zero(cls, formats: Sequence[str]) -> "BatchStatistics":
        """Nothing counted yet; the formats are fixed so that all devices sum the same layout."""
        return cls({name: [0.0] * 4 for name in formats})

    def add(self, losses: Mapping[str, FormatLoss], tree: PrefixTree) -> None:
        """Add one micro-batch."""
        for name, loss in losses.items():
            parts = (float(loss.nll_sum.detach()), loss.targets, loss.verdicts, loss.correct_verdicts)
            self.formats[name] = [a + b for a, b in zip(self.formats[name], parts, strict=True)]
        self.nodes += tree.num_nodes
        self.unshared_positions += tree.unshared_positions

    def summed(self, reduce: Callable[[Tensor], Tensor]) -> "BatchStatistics":
        """The same statistics after `reduce` summed them over devices."""
        names = sorted(self.formats)
        flat = [
            *(value for name in names for value in self.formats[name]),
            self.nodes,
            self.unshared_positions,
        ]
        values = reduce(torch.tensor(flat)).tolist()
        formats = {name: values[4 * i : 4 * i + 4] for i, name in enumerate(names)}
        return BatchStatistics(formats, values[-2], values[-1])

    def means(self) -> dict[str, float]:
        """Loss in nats per target token, verdict accuracy per format, and the batch's size in tokens."""
        targets = sum(sums[1] for sums in self.formats.values())
        metrics = {
            "loss": sum(sums[0] for sums in self.formats.values()) / targets,
            "target_tokens": targets,
            "model_positions": self.nodes,
            "saved_positions": self.unshared_positions - self.nodes,
        }
        for name, (nats, count, verdicts, correct) in self.formats.items():
            if not verdicts:  # a small batch may hold one format only
                continue
            metrics[f"{name}_loss"] = nats / count
            metrics[f"{name}_verdict_accuracy"] = correct / verdicts
            metrics[f"{name}_examples"] = verdicts
        return metrics
