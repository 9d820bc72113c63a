"""BeQu's experiments, read from verified runs: a sentence, tables and figures each."""

from proofstone.report.triples.experiments.catalogue import EXPERIMENTS, experiment_sections
from proofstone.report.triples.experiments.evidence import Asked, Experiment, Varied
from proofstone.report.triples.experiments.tallies import SHARES, Tallies

__all__ = [
    "EXPERIMENTS",
    "SHARES",
    "Asked",
    "Experiment",
    "Tallies",
    "Varied",
    "experiment_sections",
]
