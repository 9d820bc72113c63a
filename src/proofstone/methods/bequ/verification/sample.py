"""What is to be verified: the sample of both directions, by entity."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import overload

from msgspec import Struct

from proofstone.methods.bequ.records import ReferenceTriple, VerifySettings
from proofstone.methods.bequ.verification.plan import Gathered, sample_places


class Sampled(Struct, frozen=True, gc=False, array_like=True):
    """A triple of an entity by its place, and its number in the order of drawing, from 1 (0 where
    all are taken)."""

    place: int
    drawn: int


class Asked(Struct, frozen=True):
    """What was asked, where that is known: the entities that ``were_listed``, and those of which
    each group gave a reply, with or without triples."""

    were_listed: Container[int]
    replied: Sequence[Container[int]]


class VerifyPlan(Struct, frozen=True, kw_only=True):
    """The sample: ``given`` of each (group, entity), ``known`` of each entity, which holds for
    all ``recalled`` groups, but of what was ``asked`` only for those that replied. ``entities`` are
    all that are in it."""

    settings: VerifySettings
    given: Mapping[tuple[int, int], Sequence[Sampled]]
    known: Mapping[int, Sequence[Sampled]]
    recalled: Sequence[int]
    entities: Sequence[int]
    asked: Asked | None = None

    def recalled_of(self, entity: int) -> Sequence[int]:
        """The groups in which the reference triples of an entity are looked for."""
        asked = self.asked
        if asked is None:
            return self.recalled
        return [group for group in self.recalled if entity in asked.replied[group]]

    @property
    def n_given(self) -> int:
        """Triples whose precision is looked at, over all groups."""
        return sum(map(len, self.given.values()))

    @property
    def n_known(self) -> int:
        """Reference triples that are looked for, in each group."""
        return sum(map(len, self.known.values()))

    def n_of(self, group: int) -> int:
        """The triples of a group, of both directions."""
        given = sum(len(drawn) for (whose, _entity), drawn in self.given.items() if whose == group)
        return given + sum(
            len(drawn) for entity, drawn in self.known.items() if group in self.recalled_of(entity)
        )


def make_plan(
    gathered: Gathered, settings: VerifySettings, asked: Asked | None = None
) -> VerifyPlan:
    """The sample of what was gathered; the same for the same rows in any order of entities. Groups
    share their draws: those that said the same of the same entities have the same sample.

    Recall is measured of groups that gave a triple of an entity with a reference: of others it is
    not known that they were asked. Where that is known, it is measured of all that were, and over
    entities that were listed.
    """
    order = gathered.by_name
    given: dict[tuple[int, int], Sequence[Sampled]] = {}
    for group in range(len(gathered.groups)):
        held = [entity for entity in order if gathered.elicited.count((group, entity))]
        counts = [gathered.elicited.count((group, entity)) for entity in held]
        drawn = _drawn(gathered, held, counts, settings, "precision")
        given |= {(group, entity): sampled for entity, sampled in drawn.items()}
    said_of = {entity for _group, entity in gathered.elicited}
    held = [
        entity
        for entity in order
        if gathered.count_known(entity)
        and (settings.over == "reference" or entity in said_of)
        and (asked is None or entity in asked.were_listed)
    ]
    counts = [gathered.count_known(entity) for entity in held]
    known = _drawn(gathered, held, counts, settings, "recall")
    within = {entity for entity in order if gathered.has_reference(entity)}
    recalled = sorted({group for group, entity in gathered.elicited if entity in within})
    if asked is not None:
        recalled = list(range(len(gathered.groups)))
    wanted = {entity for _group, entity in given} | (set(known) if recalled else set())
    return VerifyPlan(
        settings=settings,
        given=given,
        known=known if recalled else {},
        recalled=recalled,
        entities=sorted(wanted),
        asked=asked,
    )


def known_triples(gathered: Gathered, entity: int) -> list[ReferenceTriple]:
    """The reference triples of an entity in their order: what places in a plan mean."""
    return [triple for row in gathered.reference.of(entity) for triple in row.triples]


def _drawn(
    gathered: Gathered,
    held: Sequence[int],
    counts: Sequence[int],
    settings: VerifySettings,
    purpose: str,
) -> dict[int, Sequence[Sampled]]:
    """The sample of each entity of which anything was drawn; of each part one of its own."""
    if not settings.sample:
        return {entity: _All(n) for entity, n in zip(held, counts, strict=True)}
    parts: dict[str, list[tuple[int, int]]] = {}
    for entity, n in zip(held, counts, strict=True):
        parts.setdefault(_part_of(gathered, entity, settings), []).append((entity, n))
    found: dict[int, list[Sampled]] = {}
    for part, own in sorted(parts.items()):
        places = sample_places(
            [n for _entity, n in own],
            settings.sample,
            settings.sampling,
            seed=settings.seed,
            purpose=f"{purpose} {part}" if part else purpose,
        )
        for number, (at, place) in enumerate(places, start=1):
            found.setdefault(own[at][0], []).append(Sampled(place, number))
    return {**found}


def _part_of(gathered: Gathered, entity: int, settings: VerifySettings) -> str:
    if settings.sample_per == "all":
        return ""
    part: str = getattr(gathered.entities[entity], settings.sample_per)
    return part


class _All(Sequence[Sampled]):
    """All ``n`` triples of an entity: of millions none is held."""

    __slots__ = ("_n",)

    def __init__(self, n: int) -> None:
        self._n = n

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, place: int) -> Sampled: ...
    @overload
    def __getitem__(self, place: slice) -> list[Sampled]: ...
    def __getitem__(self, place: int | slice) -> Sampled | list[Sampled]:
        if isinstance(place, slice):
            return [Sampled(each, 0) for each in range(self._n)[place]]
        return Sampled(range(self._n)[place], 0)
