"""From score rows to one score per candidate, as the format defines it (Format paper §2)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judgelab.config.schema import Comparison
from judgelab.evaluation.levels import Codes, Floats
from judgelab.run.randomness import derived_seed
from judgelab.scoring.schedule import LISTING, REVERSE

BOTH_ORDERS = " (both orders)"
KEY = ["prompt_id", "candidate_id"]


@dataclass(frozen=True)
class RatedPool:
    """The candidates of a pool in listing order: number of their prompt, position in it, reference (NaN: none)."""

    index: pd.MultiIndex
    prompts: Codes
    positions: Codes
    reference: Floats

    def keys(self, seed: int) -> Codes:
        """A seeded random number per candidate, which breaks its ties."""
        return np.array([derived_seed(seed, "tie", *key) for key in self.index], dtype=np.int64)


def rated_pool(pool: pd.DataFrame) -> RatedPool:
    """The arrays of a table with prompt_id, candidate_id, position and reference."""
    return RatedPool(
        index=pd.MultiIndex.from_frame(pool[KEY]),
        prompts=pd.factorize(pool["prompt_id"])[0].astype(np.int64),
        positions=pool["position"].to_numpy(np.int64),
        reference=pool["reference"].to_numpy(float),
    )


@dataclass(frozen=True)
class Reading:
    """Rows that give one table row of scores: the format's own, or a comparison's in both orders."""

    name: str
    rows: pd.DataFrame


def readings(name: str, rows: pd.DataFrame) -> Iterator[Reading]:
    """The rows of a format as the paper asks them, and beside it both orders where every comparison has both."""
    orders = set(rows["order"].dropna())
    pairs = rows.groupby(["prompt_id", "candidate_id", "other_id"], dropna=False).ngroups
    if orders == {LISTING, REVERSE} and (rows["order"] == LISTING).sum() * 2 == len(rows) and pairs:
        yield Reading(name, rows[rows["order"] == LISTING])
        yield Reading(name + BOTH_ORDERS, rows)
    else:
        yield Reading(name, rows)


def candidate_scores(rows: pd.DataFrame, comparison: Comparison, pool: RatedPool) -> Floats:
    """One score per candidate of the pool, NaN where none was read; repeats and orders are averaged.

    A candidate's score is its own verdict's, in a comparison its share of it (1 − s where it was Response B); under
    all_pairs the mean over its matches, each order being one match. A missing match drops for both sides.
    """
    judged = rows.groupby([*KEY, "other_id", "order"], sort=False, dropna=False)["score"].mean().reset_index()
    forward, reverse = judged[judged["order"] != REVERSE], judged[judged["order"] == REVERSE]
    sides = {
        Comparison.none: [_own(judged)],
        Comparison.anchor: [_own(forward), _others(reverse)],
        Comparison.all_pairs: [_own(judged), _others(judged)],
    }[comparison]
    means = pd.concat(sides).groupby(level=[0, 1])["score"].mean()  # leaves out what was not read
    return means.reindex(pool.index).to_numpy(float)


def _own(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.set_index(KEY)[["score"]]


def _others(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(candidate_id=rows["other_id"], score=1 - rows["score"]).set_index(KEY)[["score"]]


@dataclass(frozen=True)
class Matches:
    """Comparisons as asked forward (the first response in slot A) and in reverse; verdicts favour slot A, NaN: unread.

    `gap` is the reference of the first response minus that of the second; `alone` says that both are one response.
    """

    forward: Floats
    reverse: Floats
    gap: Floats
    alone: np.ndarray


def matches(rows: pd.DataFrame, pool: RatedPool) -> Matches:
    """The comparisons of one format; repeats are averaged, and a single-order comparison has NaN in the other."""
    first = rows["candidate_id"].where(rows["order"] == LISTING, rows["other_id"])
    second = rows["other_id"].where(rows["order"] == LISTING, rows["candidate_id"])
    verdicts = pd.to_numeric(rows["verdict"])
    keyed = rows.assign(first=first, second=second, v=verdicts)
    table = keyed.groupby(["prompt_id", "first", "second", "order"])["v"].mean().unstack("order")
    table = table.reindex(columns=[LISTING, REVERSE])
    prompt, one, other = (table.index.get_level_values(level) for level in range(3))
    ratings = [pool.reference[pool.index.get_indexer(pd.MultiIndex.from_arrays([prompt, ids]))] for ids in (one, other)]
    return Matches(
        forward=table[LISTING].to_numpy(float),
        reverse=table[REVERSE].to_numpy(float),
        gap=ratings[0] - ratings[1],
        alone=np.asarray(one == other),
    )
