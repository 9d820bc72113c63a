"""Check item banks: annotation artifacts, contradictions, and semantic separation."""
