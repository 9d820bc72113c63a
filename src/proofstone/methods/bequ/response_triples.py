"""Parse a response about an entity: distinct triples, unparsed parts, and the outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec import Struct, structs

from proofstone.choices.outcomes import not_read, opens_with_refusal
from proofstone.methods.bequ.ask import (
    MOST_PREDICATES,
    PREDICATES,
    TRIPLES,
    is_of_triples,
    read_predicates,
)
from proofstone.methods.bequ.entities import ElicitedTriple, Entity, plain_name
from proofstone.methods.bequ.records import (
    FoundTriple,
    ReadTriples,
    SaidTriple,
    Unread,
    fold_triples,
)
from proofstone.methods.bequ.response_json import read_triples
from proofstone.records.runs import Outcome, Response

_BETWEEN = "\n\n"  # combined texts of several responses


_KEPT = 128  # responses that are scored together are parsed once


class Elicited(Struct, frozen=True):
    """Hold a parsed response.

    ``answered`` has triples, or none if the response is empty: the model abstained. ``flags`` are
    those of the outcome.
    """

    outcome: Outcome
    triples: tuple[SaidTriple, ...] = ()
    unread: tuple[Unread, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def n_said(self) -> int:
        """Return the number of triples including repetitions."""
        return sum(triple.times for triple in self.triples)

    @property
    def n_recovered(self) -> int:
        """Return the number of recovered triples, without repetitions."""
        return sum(triple.first.is_recovered for triple in self.triples)

    @property
    def has_abstained(self) -> bool:
        """Return True if the model abstained."""
        return self.outcome == "answered" and not self.triples

    def about_others(self, entity: Entity) -> tuple[SaidTriple, ...]:
        """Return the triples whose subject is not one of the entity's names."""
        names = {plain_name(name) for name in entity.names}
        return tuple(
            triple for triple in self.triples if plain_name(triple.first.subject) not in names
        )


def elicited(entity: Entity, responses: Mapping[str, Response]) -> Elicited:
    """Parse the responses about an entity: one response, or one per predicate.

    Positions refer to ``read_text``.
    """
    parts = _of_triples(responses)
    if len(parts) == 1:
        return _of_one(entity, parts[0])
    each = [_of_one(entity, part) for part in parts]
    starts = _starts(parts)
    said = [
        triple
        for part, start in zip(parts, starts, strict=True)
        for triple in _moved(entity, part, start)
    ]
    outcomes = [one.outcome for one in each]
    is_answered = bool(said) or set(outcomes) == {"answered"}
    lost = sum(outcome != "answered" for outcome in outcomes)
    flags = [f"{lost} of {len(each)} responses without triples"] if is_answered and lost else []
    n = len(read_predicates(responses[PREDICATES].text)) if PREDICATES in responses else 0
    flags += [f"{n - MOST_PREDICATES} predicates not requested"] if n > MOST_PREDICATES else []
    return Elicited(
        outcome="answered" if is_answered else next(o for o in outcomes if o != "answered"),
        triples=tuple(fold_triples(said)),
        unread=tuple(
            structs.replace(part, start=part.start + start, end=part.end + start)
            for one, start in zip(each, starts, strict=True)
            for part in one.unread
        ),
        flags=tuple(flags),
    )


def read_text(responses: Mapping[str, Response]) -> str:
    """Return the text that positions of triples refer to: a response, or several concatenated."""
    return _BETWEEN.join(response.text for response in _of_triples(responses))


def _of_triples(responses: Mapping[str, Response]) -> list[Response]:
    """Return the responses that hold triples: numbered steps in order, then the last."""
    steps = [step for step in responses if is_of_triples(step) and step != TRIPLES]
    ordered = sorted(steps, key=lambda step: int(step.rpartition(" ")[2]))
    return [responses[step] for step in (*ordered, TRIPLES)]


def _starts(parts: Sequence[Response]) -> list[int]:
    lengths = [len(part.text) + len(_BETWEEN) for part in parts]
    return [sum(lengths[:place]) for place in range(len(parts))]


def _moved(entity: Entity, part: Response, start: int) -> Sequence[FoundTriple]:
    """Shift the positions of a response's triples to the concatenated text."""
    if not_read(part) is not None:
        return ()
    found = _read(part.text, entity.names, part.finish == "length").triples
    return [structs.replace(each, start=each.start + start, end=each.end + start) for each in found]


def _of_one(entity: Entity, response: Response) -> Elicited:
    unread = not_read(response)
    if unread is not None:
        return Elicited(unread.outcome, flags=unread.flags)
    is_cut = response.finish == "length"
    read = _read(response.text, entity.names, is_cut)
    return Elicited(
        outcome=_outcome(read, response.text, is_cut=is_cut),
        triples=tuple(fold_triples(read.triples)),
        unread=read.unread,
        flags=("truncated",) if is_cut and read.triples else (),
    )


def triple_of(said: SaidTriple) -> ElicitedTriple:
    """Return the triple as stored: as first elicited."""
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
