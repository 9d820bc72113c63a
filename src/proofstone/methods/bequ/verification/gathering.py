"""Both files read once: what was elicited and what is known, kept apart by entity on disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from proofstone.errors import BadInput, Problem
from proofstone.methods.bequ.names import plain_name
from proofstone.methods.bequ.verification.elicited_rows import read_elicited
from proofstone.methods.bequ.verification.names import Entities, SameName
from proofstone.methods.bequ.verification.records import GivenTriple, ReferenceRow
from proofstone.methods.bequ.verification.reference_rows import NamedReference, read_reference
from proofstone.methods.bequ.verification.spool import Spool
from proofstone.ports import Row
from proofstone.records.triples import EntityFacts, Group

__all__ = ["Gathered", "Told"]

_MOST_PROBLEMS = 1_000


class Told(Struct, frozen=True, kw_only=True):
    """What there is of everything, and what is odd about it: entities with triples and no
    reference, triples whose subject is not their entity, and those without an object."""

    groups: int
    elicited: int
    entities: int
    reference_entities: int
    reference_triples: int
    without_reference: tuple[str, ...]
    of_others: int
    without_object: int


class Gathered:
    """What was read. ``elicited`` has the triples of each (group, entity), ``reference`` the rows
    of each entity, both by numbers: places in ``groups`` and ``entities``."""

    def __init__(
        self,
        elicited: Spool[tuple[int, int], GivenTriple],
        reference: Spool[int, ReferenceRow],
    ) -> None:
        self.elicited = elicited
        self.reference = reference
        self._entities = Entities()
        self._groups: list[Group] = []
        self._known: Counter[int] = Counter()  # reference triples of each entity
        self._whole: dict[int, str] = {}  # where the row that lists an entity's triples stands
        self._odd: Counter[str] = Counter()

    @property
    def groups(self) -> Sequence[Group]:
        """Whose triples they are, in order of appearance."""
        return self._groups

    @property
    def entities(self) -> Sequence[EntityFacts]:
        """All entities, those of the reference first."""
        return self._entities.facts

    @property
    def by_name(self) -> Sequence[int]:
        """The numbers of all entities in the order of their names and identities, which rests on
        no order of rows: so they are counted and drawn."""
        facts = self.entities
        return sorted(range(len(facts)), key=lambda each: (facts[each].name, facts[each].identity))

    @property
    def named(self) -> Sequence[EntityFacts]:
        """All entities in that order: what the entity of a ``Verified`` is a place in."""
        return [self.entities[each] for each in self.by_name]

    def take_reference(self, rows: Iterable[Row]) -> None:
        """Reads the rows of a reference. Raises BadInput with every problem."""
        problems: list[Problem] = []
        for row in rows:
            found = read_reference(row, problems)
            if found is not None:
                self._take_known(row.place, found, problems)
        _refuse(problems)

    def begin_group(self, group: Group) -> int:
        """The number of a group that comes, also of one named like another."""
        self._groups.append(group)
        return len(self._groups) - 1

    def find_entity(self, name: str, identity: str, domain: str, popularity: str) -> int:
        """The number of an entity that was listed, once the reference is read."""
        entity = self._entities.find(name, identity)
        self._entities.describe(entity, domain, popularity)
        return entity

    def take_elicited(
        self, rows: Iterable[Row], *, model: str = "", group: int | None = None
    ) -> None:
        """Reads elicited triples, once the reference is read: of a ``group`` that was begun, or of
        those that the rows name. Raises BadInput with every problem."""
        numbers = {who: number for number, who in enumerate(self._groups)}
        problems: list[Problem] = []
        unclear: set[str] = set()  # names that were told of: once is enough
        for row in rows:
            found = read_elicited(row, model, problems)
            if found is None:
                continue
            try:
                entity = self._entities.find(found.name, found.identity)
            except SameName as same:
                if same.name not in unclear:
                    unclear.add(same.name)
                    problems.append(Problem(f"{row.place}, field subject_name", _which(same)))
                continue
            self._entities.describe(entity, found.domain, found.popularity)
            number = numbers.get(found.group) if group is None else group
            if number is None:
                number = numbers[found.group] = self.begin_group(found.group)
            self.elicited.add((number, entity), found.triple)
            self._odd["all"] += 1
            self._odd["without object"] += not found.triple.object
            self._odd["of others"] += plain_name(found.triple.subject) != plain_name(found.name)
        _refuse(problems)

    def has_reference(self, entity: int) -> bool:
        """Whether anything is known of an entity."""
        return self.reference.count(entity) > 0

    def count_known(self, entity: int) -> int:
        """How many reference triples an entity has."""
        return self._known[entity]

    def told(self) -> Told:
        """The counts. Names of entities without a reference come in their order."""
        asked = dict.fromkeys(entity for _group, entity in self.elicited)
        bare = [entity for entity in asked if not self.has_reference(entity)]
        return Told(
            groups=len(self._groups),
            elicited=self._odd["all"],
            entities=len(asked),
            reference_entities=sum(1 for _entity in self.reference),
            reference_triples=sum(self._known.values()),
            without_reference=tuple(self.entities[entity].name for entity in bare),
            of_others=self._odd["of others"],
            without_object=self._odd["without object"],
        )

    def _take_known(self, place: str, found: NamedReference, problems: list[Problem]) -> None:
        try:
            entity = self._entities.find(found.name, found.identity)
        except SameName as same:
            problems.append(Problem(f"{place}, field entity", _which(same)))
            return
        if found.is_whole and entity in self._whole:
            first = self._whole[entity]
            what = f'two entities are named "{found.name}" (the other: {first})'
            problems.append(Problem(f"{place}, field entity", f"{what}; {_TELL}"))
            return
        if found.is_whole:
            self._whole[entity] = place
        self._entities.describe(entity, found.domain, found.popularity)
        self.reference.add(entity, found.row)
        self._known[entity] += len(found.row.triples)


_TELL = "a column wikidata_id tells them apart"


def _which(same: SameName) -> str:
    named = ", ".join(identity or "none" for identity in same.identities)
    many = f'{len(same.identities)} entities are named "{same.name}" ({named})'
    return f"{many}, and not every row says which; {_TELL}"


def _refuse(problems: list[Problem]) -> None:
    if problems:
        raise BadInput("the rows cannot be read", problems[:_MOST_PROBLEMS])
