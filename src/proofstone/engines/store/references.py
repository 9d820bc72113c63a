"""What facts name of other rows: it must be here, and stored before them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proofstone.errors import BadInput, Problem
from proofstone.identity import short
from proofstone.ports import BuiltFact
from proofstone.records import Fact

__all__ = ["generations", "refuse_absent"]


def refuse_absent(
    built: Sequence[BuiltFact],
    sources: Mapping[bytes, int],
    passages: Mapping[Any, int],
    facts: Mapping[Any, int],
) -> None:
    """Raises BadInput where a fact names a source, passage or fact that is neither here nor
    coming."""
    coming = {b.fact.id for b in built}
    problems = []
    for fact in (b.fact for b in built):
        place = f"fact {short(fact.id)}"
        if fact.source and fact.source not in sources:
            what = f"source {short(fact.source)} is not in this workspace"
            problems.append(Problem(place, what))
        if fact.passage and fact.passage not in passages:
            what = f"passage {short(fact.passage)} is not in this workspace"
            problems.append(Problem(place, what))
        if fact.corrects and fact.corrects not in facts and fact.corrects not in coming:
            what = f"the fact {short(fact.corrects)} that it corrects is not in this workspace"
            problems.append(Problem(place, what))
    if problems:
        raise BadInput(
            "these facts name what this workspace does not hold; nothing was stored",
            problems,
            hint="first ingest the documents of the passages, and import what is corrected",
        )


def generations(built: Sequence[BuiltFact]) -> Iterator[list[Fact]]:
    """The facts in groups, each after the group with what it corrects.

    Ids are content hashes that cover what is corrected: there is no ring.
    """
    waiting = {b.fact.id: b.fact for b in built}
    while waiting:
        ready = [fact for fact in waiting.values() if fact.corrects not in waiting]
        yield ready
        for fact in ready:
            del waiting[fact.id]
