"""Probabilities of verdicts as replies, so that they are kept and resumed like any other."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing

from judgelab.config.schema import FormatConfig
from judgelab.engines.base import Engine, Reply, VerdictEngine
from judgelab.errors import ConfigError
from judgelab.judges.expected import probabilities_text
from judgelab.scoring.requests import ScoreRequest


def expected_replies(
    requests: Sequence[ScoreRequest], engine: Engine, formats: Mapping[str, FormatConfig]
) -> Generator[Reply]:
    """A reply per request, whose text names the probability of every verdict; no token of it was generated.

    Raises ConfigError for an engine that does not see its model's probabilities.
    """
    if not isinstance(engine, VerdictEngine):
        raise ConfigError("decoding=expected needs the judge's probabilities: use engine=hf or engine=vllm")
    asked = {request.request.request_id: formats[request.format] for request in requests}
    with closing(engine.verdict_probabilities([request.request for request in requests])) as found:
        for each in found:
            yield Reply(each.request_id, probabilities_text(asked[each.request_id], each.values), False, 0)
