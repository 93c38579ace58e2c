"""The probability-weighted score over a format's whole verdicts, as G-Eval weights single tokens."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from judgelab.config.schema import FormatConfig
from judgelab.judges.parsing import Parsed

DIGITS = 6
"""Significant digits that are kept of a probability; float32 has seven."""


@dataclass(frozen=True)
class Expected:
    """The score as the mean Σ p·s / Σ p with the most likely verdict, and the captured mass Σ p.

    A mass that is 0 or not finite is invalid and has no score; one that is not finite is null itself.
    """

    parsed: Parsed
    mass: float | None


def probabilities_text(fmt: FormatConfig, values: Sequence[float]) -> str:
    """What is kept of a request's probabilities: JSON, verdict by verdict."""
    return json.dumps({v: float(f"{p:.{DIGITS}g}") for v, p in zip(fmt.verdicts, values, strict=True)})


def expected_score(text: str, fmt: FormatConfig) -> Expected:
    """Score and mass from what `probabilities_text` wrote."""
    shares: dict[str, float] = json.loads(text)
    mass = math.fsum(shares.values())
    if not math.isfinite(mass):
        return Expected(Parsed("invalid"), None)
    if mass == 0:
        return Expected(Parsed("invalid"), 0.0)
    score = math.fsum(share * fmt.verdicts[verdict] for verdict, share in shares.items()) / mass
    return Expected(Parsed("ok", max(shares, key=shares.__getitem__), score), mass)
