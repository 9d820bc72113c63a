"""Refine questions: counter-evidence by search, changes by a model, and no easier version."""
