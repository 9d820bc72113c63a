"""What is known of entities: texts from a corpus, and the triples that they state."""

from proofstone.methods.bequ.reference.facts import ReferenceFact, write_fact
from proofstone.methods.bequ.reference.pipeline import PIPELINES
from proofstone.methods.bequ.reference.reading import (
    has_knowledge,
    read_facts,
    recognises,
    triples_in,
)

__all__ = [
    "PIPELINES",
    "ReferenceFact",
    "has_knowledge",
    "read_facts",
    "recognises",
    "triples_in",
    "write_fact",
]
