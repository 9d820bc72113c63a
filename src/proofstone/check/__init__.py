"""Checks of a bank: answers that give themselves away, contradictions, what it covers."""
