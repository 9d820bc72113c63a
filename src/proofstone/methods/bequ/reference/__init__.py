"""What is known of entities: texts from a corpus, and the triples that they state."""
