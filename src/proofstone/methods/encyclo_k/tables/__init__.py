"""Fact tables: rows of named values, the sentences they bear out and those they contradict."""
