"""BeQu (under review at ARR, 2026): open elicitation of triples about an entity.

Read in this order: records, entities, ask, response_triples, verification, score, measures.
README.md maps the paper to the modules.
"""
