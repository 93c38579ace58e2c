"""Scores of judgments against averaging by hand."""

from statistics import mean

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab.scoring.repeats import judgment_scores

SAMPLES = st.lists(
    st.tuples(
        st.sampled_from(["a", "b"]),
        st.sampled_from([None, "a"]),
        st.sampled_from(["listing", "reverse"]),
        st.sampled_from([0.0, 0.25, 1.0, None]),
    ),
    min_size=1,
    max_size=20,
)


@given(SAMPLES)
def test_every_judgment_has_the_mean_of_its_scored_samples(samples: list[tuple]) -> None:
    rows = pd.DataFrame(samples, columns=["candidate_id", "other_id", "order", "score"])
    rows["score"] = rows["score"].astype(float)
    rows = rows.assign(criterion="c", format="f", judge="j", decoding="d", prompt_id="p")
    found = judgment_scores(rows)
    keys = list(dict.fromkeys(sample[:3] for sample in samples))
    assert len(found) == len(keys)
    for key, row in zip(keys, found.to_dict("records"), strict=True):
        scores = [sample[3] for sample in samples if sample[:3] == key and sample[3] is not None]
        assert row["candidate_id"] == key[0]
        assert row["samples"] == len(scores)
        assert row["score"] == pytest.approx(mean(scores)) if scores else pd.isna(row["score"])
