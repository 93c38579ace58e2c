"""Verdict maps of number scales, as resolvers that a format's YAML calls (Format paper §2)."""

import math

from omegaconf import DictConfig


def scale(low: int, high: int) -> DictConfig:
    """`${scale:1,5}`: every whole number from low to high, mapped linearly onto 0…1."""
    return DictConfig({str(verdict): (verdict - low) / (high - low) for verdict in range(low, high + 1)})


def signed_scale(low: int, high: int) -> DictConfig:
    """`${signed_scale:-2,2}`: the same with a sign before every number but 0, as comparisons use it."""
    return DictConfig({_signed(verdict): (verdict - low) / (high - low) for verdict in range(low, high + 1)})


def logistic_scale(low: int, high: int) -> DictConfig:
    """`${logistic_scale:-2,2}`: signed numbers v mapped to σ(v), a soft win of Response A."""
    return DictConfig({_signed(verdict): 1 / (1 + math.exp(-verdict)) for verdict in range(low, high + 1)})


def _signed(verdict: int) -> str:
    return f"{verdict:+d}" if verdict else "0"
