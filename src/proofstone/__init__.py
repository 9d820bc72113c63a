"""Proofstone: build, review, run and audit knowledge benchmarks for language models."""

__version__ = "0.1.0"
