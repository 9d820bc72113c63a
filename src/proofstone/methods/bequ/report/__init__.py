"""The page and the tables of a benchmark of triples."""
