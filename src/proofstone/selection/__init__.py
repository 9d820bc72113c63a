"""Choosing few items that cover many references, with a proven bound on what was missed."""
