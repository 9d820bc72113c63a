"""Subject, predicate and object: read from what models reply, and told apart from repetitions."""

from proofstone.engines.triples.folding import SaidTriple, fold_triples, plain_triple
from proofstone.engines.triples.found import (
    FAULTS,
    UNREAD,
    Fault,
    FoundTriple,
    ReadTriples,
    Unread,
    UnreadWhy,
)
from proofstone.engines.triples.reading import read_triples

__all__ = [
    "FAULTS",
    "UNREAD",
    "Fault",
    "FoundTriple",
    "ReadTriples",
    "SaidTriple",
    "Unread",
    "UnreadWhy",
    "fold_triples",
    "plain_triple",
    "read_triples",
]
