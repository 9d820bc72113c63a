"""Audit of results that somebody else made."""
