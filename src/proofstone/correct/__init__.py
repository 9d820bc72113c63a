"""Correct items and verdicts: edit, exclude, override, and flagged items."""
