"""Reading triples out of replies."""
