"""Sections of a report, one analysis each."""
