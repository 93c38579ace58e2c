"""Decomposable suites over abstracts: EBM-NLP in two forms, and PICO-Corpus."""

from dataclasses import dataclass

from omegaconf import MISSING

from judgelab.data.biomedical import Examples, SpanExample
from judgelab.data.ebm_nlp import load_ebm_nlp
from judgelab.data.ebm_nlp_archive import load_ebm_nlp_archive
from judgelab.data.pico_corpus import load_pico_corpus
from judgelab.synthesis.operators.spans import SpanMutations, mutable
from judgelab.synthesis.pair_suites import Case, Cases, PairSuite, Shown


@dataclass
class PicoSuite(PairSuite):
    """What both have in common: `candidates` per abstract, and the F1 of a key that is empty on both sides."""

    candidates: int = 10
    both_empty: float = 1.0
    family = "decomposable"

    def cases(self, loaded: Examples[SpanExample]) -> Cases:
        """One case per abstract; those whose spans are only punctuation are counted."""
        usable = [each for each in loaded.examples if mutable(each.spans)]
        cases = (
            Case(each.source, Shown(each.passage), SpanMutations(each, self.candidates, self.both_empty))
            for each in usable
        )
        counts = {**loaded.counts, "dropped_only_punctuation": len(loaded.examples) - len(usable)}
        return Cases(tuple(cases), counts, loaded.inputs)


@dataclass
class EbmNlpSuite(PicoSuite):
    """EBM-NLP in CoNLL form, one file per split."""

    paths: tuple[str, ...] = MISSING

    def load(self, seed: int) -> Cases:
        """One case per abstract."""
        return self.cases(load_ebm_nlp(tuple(self.paths), "pairs.ebm_nlp.paths"))


@dataclass
class EbmNlpArchiveSuite(PicoSuite):
    """EBM-NLP 2.0 as its authors release it: the folder of documents/ and annotations/."""

    path: str = MISSING

    def load(self, seed: int) -> Cases:
        """One case per abstract."""
        return self.cases(load_ebm_nlp_archive(self.path, "pairs.ebm_nlp_archive.path"))


@dataclass
class PicoCorpusSuite(PicoSuite):
    """PICO-Corpus: the folder of .txt and .ann files."""

    path: str = MISSING

    def load(self, seed: int) -> Cases:
        """One case per abstract."""
        return self.cases(load_pico_corpus(self.path, "pairs.pico_corpus.path"))
