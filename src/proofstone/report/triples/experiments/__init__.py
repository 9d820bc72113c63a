"""BeQu's experiments, read from verified runs: a sentence, tables and figures each."""

from proofstone.report.triples.experiments.catalogue import EXPERIMENTS, experiment_sections
from proofstone.report.triples.experiments.evidence import Asked, Experiment, Varied
from proofstone.report.triples.experiments.tallies import Tallies

__all__ = ["EXPERIMENTS", "Asked", "Experiment", "Tallies", "Varied", "experiment_sections"]
