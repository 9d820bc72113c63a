"""What a reply says of its entity: its triples, each once, what was left, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

from proofstone.engines.choices.outcome import not_read, opens_with_refusal
from proofstone.engines.triples import ReadTriples, SaidTriple, Unread, fold_triples, read_triples
from proofstone.methods.bequ.ask import TRIPLES
from proofstone.methods.bequ.names import plain_name
from proofstone.methods.bequ.payloads import ElicitedTriple, Entity
from proofstone.records import Outcome, Reply

__all__ = ["Elicited", "elicited", "triple_of"]

_KEPT = 128  # replies that are scored together are read once


class Elicited(Struct, frozen=True):
    """A reply that was read. ``answered`` with triples, or without any where it says nothing: the
    model abstained. ``flags`` are those of the outcome."""

    outcome: Outcome
    triples: tuple[SaidTriple, ...] = ()
    unread: tuple[Unread, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def n_said(self) -> int:
        """The triples with their repetitions."""
        return sum(triple.times for triple in self.triples)

    @property
    def n_recovered(self) -> int:
        """Those that had to be recovered, repetitions left out."""
        return sum(triple.first.is_recovered for triple in self.triples)

    @property
    def has_abstained(self) -> bool:
        """Whether the reply says that nothing is known."""
        return self.outcome == "answered" and not self.triples

    def about_others(self, entity: Entity) -> tuple[SaidTriple, ...]:
        """The triples whose subject is none of the entity's names."""
        names = {plain_name(name) for name in entity.names}
        return tuple(
            triple for triple in self.triples if plain_name(triple.first.subject) not in names
        )


def elicited(entity: Entity, replies: Mapping[str, Reply]) -> Elicited:
    """What the last reply about an entity says."""
    reply = replies[TRIPLES]
    unread = not_read(reply)
    if unread is not None:
        return Elicited(unread.outcome, flags=unread.flags)
    is_cut = reply.finish == "length"
    read = _read(reply.text, entity.names, is_cut)
    return Elicited(
        outcome=_outcome(read, reply.text, is_cut=is_cut),
        triples=tuple(fold_triples(read.triples)),
        unread=read.unread,
        flags=("truncated",) if is_cut and read.triples else (),
    )


def triple_of(said: SaidTriple) -> ElicitedTriple:
    """The triple as it is kept: as it was said first."""
    first = said.first
    return ElicitedTriple(subject=first.subject, predicate=first.predicate, object=first.object)


@lru_cache(maxsize=_KEPT)
def _read(text: str, names: tuple[str, ...], is_cut: bool) -> ReadTriples:
    return read_triples(text, names=names, is_cut=is_cut)


def _outcome(read: ReadTriples, text: str, *, is_cut: bool) -> Outcome:
    if read.triples or read.says_nothing:
        return "answered"
    if is_cut:
        return "truncated"
    return "refused" if opens_with_refusal(text) else "unparsed"
