"""The score of a judgment that was asked several times."""

import pandas as pd

JUDGMENT = ["criterion", "format", "judge", "decoding", "prompt_id", "candidate_id", "other_id", "order"]
"""What makes two score rows the same judgment; they differ in their repeat."""


def judgment_scores(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per judgment, in the order of its first score row: the mean of its scores, and of how many it is.

    A sample without a score counts in neither; a judgment without any has a null score.
    """
    grouped = rows.groupby(JUDGMENT, sort=False, dropna=False)["score"]
    return grouped.agg(score="mean", samples="count").reset_index()
