"""Verify triples in both directions: precision of elicited triples, recall of reference triples."""
