"""Questions that enter a build: those of files, or of exported banks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from proofstone.errors import BadInput, Problem
from proofstone.files.tables import read_rows
from proofstone.methods.kina.payloads import Question
from proofstone.methods.kina.questions import read_facts
from proofstone.records.knowledge import Fact, Stratum, fact_id


class Candidate(Struct, frozen=True, kw_only=True):
    """A question that enters a build; ``corrects`` is the id of the version before it."""

    question: Question
    language: str
    stratum: Stratum
    corrects: bytes | None = None

    def fact(self) -> Fact:
        """Return the question as a fact with its id."""
        fact = Fact(
            kind="kina.question",
            payload=self.question,
            language=self.language,
            stratum=self.stratum,
            corrects=self.corrects,
        )
        return structs.replace(fact, id=fact_id(fact))


def candidates(inputs: Sequence[str], _params: Mapping[str, Any]) -> Iterator[Candidate]:
    """Yield the questions of files, or of exported banks, each once.

    Raises BadInput with every problem of a file, and for statements.
    """
    seen: set[bytes] = set()
    for path in inputs:
        rows = list(read_rows(path))
        facts = [built.fact for built in read_facts(rows)]
        problems = [
            Problem(row.place, "is a statement; expected a question")
            for row, fact in zip(rows, facts, strict=True)
            if not isinstance(fact.payload, Question)
        ]
        if problems:
            raise BadInput(
                f"cannot read the questions of {path}",
                problems,
                hint="compose questions of it first",
            )
        for fact in facts:
            if fact.id not in seen:
                seen.add(fact.id)
                yield Candidate(
                    question=fact.payload,
                    language=fact.language,
                    stratum=fact.stratum,
                    corrects=fact.corrects,
                )
