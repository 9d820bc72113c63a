"""BeQu (under review at ARR, 2026): what a model says of an entity of its own accord, as triples.

Read in this order: records, entities, ask, response_triples, verification, score, measures;
README.md says what of the paper is where.
"""
