"""Builds: statements and questions made from sources, step by step, resumable."""
