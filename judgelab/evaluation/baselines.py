"""A baseline without a language model: what the words alone give away."""

from collections.abc import Sequence

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from judgelab.data.records import Item


def tfidf_verdicts(train: Sequence[Item], test: Sequence[Item]) -> list[int]:
    """Verdicts on the test items of a logistic regression over TF-IDF words of query and response."""
    model = make_pipeline(TfidfVectorizer(sublinear_tf=True), LogisticRegression(max_iter=1000))
    model.fit([_text(item) for item in train], [item.label for item in train])
    return [int(verdict) for verdict in model.predict([_text(item) for item in test])]


def _text(item: Item) -> str:
    return f"{item.query}\n{item.response}"
