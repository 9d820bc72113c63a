"""Runs: what is asked of models, the run loop, and scoring."""
