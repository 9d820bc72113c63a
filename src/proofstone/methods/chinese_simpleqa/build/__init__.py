"""Building short questions: generated, verified, filtered."""
