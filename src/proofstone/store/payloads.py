"""Payload bytes and back: canonical JSON with its kind and schema version.

The store knows no method. Whoever opens it hands in a function from a payload kind
(``method.kind``) to its type, which imports that one method when it is first met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from proofstone.errors import BadInput, Problem, TextPurged, WorkspaceUnusable
from proofstone.method import PayloadType
from proofstone.records.banks import BuiltFact
from proofstone.records.ids import canonical_json, short
from proofstone.records.knowledge import Fact


def is_purged(data: bytes) -> bool:
    """Whether a stored payload lost its text: nothing is left of it, or a list of the ids that it
    named. A payload itself is an object."""
    return not data.startswith(b"{")


class Payloads:
    """Encodes and decodes payloads of every kind that ``find`` knows."""

    def __init__(self, find: Callable[[str], PayloadType]) -> None:
        self._find = find
        self._types: dict[str, PayloadType] = {}
        self._decoders: dict[str, msgspec.json.Decoder[Any]] = {}

    def _type(self, kind: str) -> PayloadType:
        known = self._types.get(kind)
        if known is None:
            known = self._types[kind] = self._find(kind)
            self._decoders[kind] = msgspec.json.Decoder(known.type)
        return known

    def encode(self, kind: str, payload: msgspec.Struct) -> tuple[int, bytes]:
        """The schema version and the canonical bytes of a payload."""
        return self._type(kind).version, canonical_json(payload)

    def decode(self, kind: str, version: int, data: bytes) -> Any:
        """The payload struct of stored bytes; WorkspaceUnusable where its version is unknown,
        TextPurged where the text was purged."""
        if is_purged(data):
            raise TextPurged(
                f"the text of this {kind.partition('.')[2]} was purged with its source",
                hint="make a version without it: proofstone workspace repair BANK; 'proofstone "
                "list source' marks purged sources, 'show' says who, when and why",
            )
        known = self._type(kind)
        if version == known.version:
            return self._decoders[kind].decode(data)
        if version > known.version or known.upgrade is None:
            raise WorkspaceUnusable(
                f"a {kind} of version {version} is stored; this Proofstone reads {known.version}",
                hint="upgrade Proofstone, or the package that provides the method",
            )
        return known.upgrade(version, data)


# What facts name of other rows: it must be here, and stored before them.


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
