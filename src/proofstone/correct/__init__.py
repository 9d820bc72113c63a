"""Corrections: edit, retire, rule, and the work list."""
