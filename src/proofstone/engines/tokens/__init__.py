"""Texts to numbers of tokens, offline and exact."""

from proofstone.engines.tokens.cl100k import CL100K_SHA256, Cl100k, load_cl100k

__all__ = ["CL100K_SHA256", "Cl100k", "load_cl100k"]
