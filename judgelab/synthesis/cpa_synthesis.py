"""Counterfactual pairs and rationales for the training items of a pool (CPA §4)."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from judgelab.config.schema import SynthesisConfig, SynthesisRoot
from judgelab.data.records import Item, Pool
from judgelab.errors import ConfigError
from judgelab.synthesis.counterfactuals import Answers, Attempt, Outcome, Writer, accepted, check_offered
from judgelab.synthesis.cpa_rows import PairRationales
from judgelab.synthesis.rationales import Rationale, pair_rationales, pointwise_rationales


@dataclass(frozen=True)
class Synthesis:
    """What came of it: the items with all tries, and by item id the accepted pair and the rationales."""

    items: tuple[Item, ...]
    attempts: tuple[Attempt, ...]
    pairs: Mapping[str, Attempt]
    rationales: Mapping[str, list[Rationale]]
    pair_rationales: Mapping[str, PairRationales]

    def counts(self) -> dict[str, int]:
        """Items, outcomes of the tries, what was dropped, and rationales by who wrote them."""
        outcomes = Counter(attempt.outcome.name for attempt in self.attempts)
        of_items = Counter(each.writer for found in self.rationales.values() for each in found)
        of_pairs = Counter(each.writer for found in self.pair_rationales.values() for each in found if each)
        writers = ("student", "auditor")
        return {
            "items": len(self.items),
            "pairs_accepted": len(self.pairs),
            "pairs_dropped": len(self.items) - len(self.pairs),
            **{f"attempts_{outcome.name}": outcomes[outcome.name] for outcome in Outcome},
            **{f"rationales_{writer}": of_items[writer] for writer in writers},
            "items_without_rationale": sum(not found for found in self.rationales.values()),
            **{f"pair_rationales_{writer}": of_pairs[writer] for writer in writers},
            "pairs_without_rationale": sum(not all(found) for found in self.pair_rationales.values()),
        }


def synthesize(pool: Pool, root: SynthesisRoot, roles: Mapping[str, Answers]) -> Synthesis:
    """Counterfactuals, audits and rationales for the training and validation items of a pool, never the test's.

    `roles` are synthesizer, auditor and student. Raises ConfigError for settings out of range.
    """
    check_settings(root.synthesis)
    items = tuple(sorted(pool.train + pool.validation, key=lambda item: item.item_id))
    check_offered(items, pool.test)
    writer = Writer(root.criterion, root.pair_format, root.synthesis, roles["synthesizer"], roles["auditor"])
    attempts = writer.write(items)
    pairs = accepted(attempts)
    by_student_first = {name: roles[name] for name in ("student", "auditor")}
    rationales = pointwise_rationales(items, root.criterion, root.format, root.synthesis, by_student_first)
    of_pairs = pair_rationales(items, pairs, writer, roles["student"])
    return Synthesis(items, tuple(attempts), pairs, rationales, of_pairs)


def check_settings(config: SynthesisConfig) -> None:
    """ConfigError that names the key of a setting out of range."""
    for key, least in {"attempts": 1, "rationales": 0, "draws": 1}.items():
        value = getattr(config, key)
        if value < least:
            raise ConfigError(f"synthesis.{key}={value}: expected at least {least}")
