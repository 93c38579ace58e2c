"""Atomic suites: MedBullets, MedQA, PubMedQA, and safety pairs on a multiple-choice source."""

from dataclasses import dataclass

from omegaconf import MISSING

from judgelab.data.medbullets import load_medbullets
from judgelab.data.medqa import load_medqa
from judgelab.data.pubmedqa import load_pubmedqa
from judgelab.synthesis.pair_suites import Cases, PairSuite, option_cases, safety_cases


@dataclass
class MedBulletsSuite(PairSuite):
    """MedBullets from `medbullets_op4.csv` or `medbullets_op5.csv`."""

    path: str = MISSING

    def load(self, seed: int) -> Cases:
        """One case per question."""
        loaded = load_medbullets(self.path, "pairs.medbullets.path")
        return Cases(option_cases(loaded.examples), loaded.counts, loaded.inputs)


@dataclass
class MedQaSuite(PairSuite):
    """MedQA from a JSONL file with options by letter."""

    path: str = MISSING

    def load(self, seed: int) -> Cases:
        """One case per question."""
        loaded = load_medqa(self.path, "pairs.medqa.path")
        return Cases(option_cases(loaded.examples), loaded.counts, loaded.inputs)


@dataclass
class PubMedQaSuite(PairSuite):
    """PubMedQA from `ori_pqal.json`, and `test_ground_truth.json` for its official test split."""

    path: str = MISSING
    test_path: str = MISSING

    def load(self, seed: int) -> Cases:
        """One case per question; its three options are yes, no and maybe."""
        loaded = load_pubmedqa(self.path, self.test_path, ("pairs.pubmedqa.path", "pairs.pubmedqa.test_path"))
        return Cases(option_cases(loaded.examples), loaded.counts, loaded.inputs)


@dataclass
class SafetySuite(PairSuite):
    """Safe against dangerous advice under the right answer to MedBullets questions (beyond the paper)."""

    path: str = MISSING
    family = "safety"

    def load(self, seed: int) -> Cases:
        """One case per question."""
        loaded = load_medbullets(self.path, "pairs.safety.path")
        return Cases(safety_cases(loaded.examples, seed), loaded.counts, loaded.inputs)
