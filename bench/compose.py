"""Time composition at the paper's size (5,038 questions, 43,019 statements) and as a long
stream."""

from __future__ import annotations

import sys
import tracemalloc
from hashlib import sha256
from itertools import islice

import msgspec
from measures import Line, print_lines, timed

from proofstone.methods.encyclo_k.compose import compose_items as compose
from proofstone.methods.encyclo_k.compose import recipe
from proofstone.methods.encyclo_k.payloads import Statement
from proofstone.records.knowledge import Fact, Stratum, fact_id

BOOKS, CORRECT, FALSE = 62, 21_525, 21_494
STREAM = 100_000  # of a million: the rate is flat, and so is memory


class Bank:
    """A bank in memory."""

    id = sha256(b"bench").digest()
    name = "bench"

    def __init__(self, facts: list[Fact]) -> None:
        self._facts = sorted(facts, key=lambda fact: fact.id)

    def facts(self) -> list[Fact]:
        """Return all facts in the order of their ids."""
        return self._facts


def paper_sized() -> Bank:
    """Return as many statements as in the paper, of its mean length (334 tokens, about 1,300
    letters)."""
    facts: list[Fact] = []
    for i in range(CORRECT):
        book = i % BOOKS
        stratum = Stratum("d", f"field {book % 44}", f"subfield {book}", f"book {book}")
        text = f"Statement {i} says what is so. " * 42
        true = _fact(Statement(text=text, correct=True), stratum)
        facts.append(true)
        if i < FALSE:
            wrong = Statement(text=f"Not so: {text}", correct=False, origin=true.id)
            facts.append(_fact(wrong, stratum))
    return Bank(facts)


def _fact(payload: Statement, stratum: Stratum) -> Fact:
    fact = Fact(kind="encyclo_k.statement", payload=payload, language="en", stratum=stratum)
    return msgspec.structs.replace(fact, id=fact_id(fact))


def main() -> bool:
    """Compose and print the table."""
    bank = paper_sized()
    one = recipe({})
    list(islice(compose(bank, one, 0), 10))  # phrases and tables are read once a process
    with timed() as form:
        items = list(compose(bank, one, 1))
    endless = recipe({"questions": 1_000_000})
    with timed() as stream:
        for _ in islice(compose(bank, endless, 1), STREAM):
            pass
    tracemalloc.start()
    for _ in islice(compose(bank, endless, 2), 20_000):
        pass
    half = tracemalloc.get_traced_memory()[0]
    for _ in islice(compose(bank, endless, 2), 40_000):
        pass
    growth = (tracemalloc.get_traced_memory()[0] - half) / 1e6
    tracemalloc.stop()
    rate = STREAM / stream.wall_s
    return print_lines(
        f"composing {len(items):,} questions from {CORRECT + FALSE:,} statements",
        [
            Line("a form", f"{form.wall_s:.2f} s", "under 0.5 s", form.wall_s < 0.5),
            Line("a stream", f"{rate:,.0f}/s", "at least 20,000/s", rate >= 20_000),
            Line("memory behind it", f"{growth:+.1f} MB", "flat: under 5 MB", growth < 5),
        ],
    )


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
