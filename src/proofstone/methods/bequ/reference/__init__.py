"""What is known of entities: texts from a corpus, and the triples that they state."""

from proofstone.methods.bequ.reference.facts import ReferenceFact, read_facts, write_fact
from proofstone.methods.bequ.reference.pipeline import PIPELINES

__all__ = ["PIPELINES", "ReferenceFact", "read_facts", "write_fact"]
