"""Texts as vectors, and those near each other."""

from proofstone.engines.retrieval.pairs import NearPair, near_pairs
from proofstone.engines.retrieval.sentence_encoder import SentenceEncoder

__all__ = ["NearPair", "SentenceEncoder", "near_pairs"]
