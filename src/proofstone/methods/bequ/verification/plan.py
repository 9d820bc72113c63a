"""Read both sides, store them by entity on disk, and sample the triples to verify."""

from __future__ import annotations

import tempfile
from array import array
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import accumulate, chain, islice
from pathlib import Path
from types import TracebackType
from typing import Generic, TypeVar, get_args, overload

import msgspec
from msgspec import Struct, structs

from proofstone.documents.sources import bare_name, read_documents
from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.files.csv import missing_file
from proofstone.files.fields import Fields, read_json
from proofstone.files.tables import read_checked
from proofstone.method import find_method
from proofstone.methods.bequ.bank import (
    DOMAIN,
    IDENTITY,
    KIND,
    NamedReference,
    read_reference,
    read_tier,
)
from proofstone.methods.bequ.entities import plain_name
from proofstone.methods.bequ.records import (
    EntityFacts,
    GivenTriple,
    Group,
    ReferenceRow,
    ReferenceTriple,
    SamplingMethod,
    VerifySettings,
    object_text,
)
from proofstone.records.ids import Draws, short
from proofstone.records.knowledge import BuiltFact, Fact
from proofstone.records.tables import Row
from proofstone.session.session import Target, find_target
from proofstone.store.lookup import Found
from proofstone.store.provenance import Origin
from proofstone.store.store import Store

# Sampling of triples: as in the paper, or uniformly over triples.
#
# The paper samples an entity, then one of its triples. An entity with three triples is as likely as
# one with ninety, and the mean is over entities as long as they have triples left. In uniform
# sampling, entities weigh by their number of triples. Both sample without replacement. A longer
# sample starts with the shorter one of the same seed, so it can grow without repeated verification.

SAMPLING_METHODS: tuple[SamplingMethod, ...] = get_args(SamplingMethod)


def sample_places(
    counts: Sequence[int], n: int, search_method: SamplingMethod, *, seed: int, purpose: str
) -> list[tuple[int, int]]:
    """Sample ``n`` distinct (entity, triple) places in random order; all places if there are fewer.

    ``counts`` are the triples of each entity. 0 means all, in their order.
    """
    total = sum(counts)
    if not n:
        return [(entity, place) for entity, n in enumerate(counts) for place in range(n)]
    draws = Draws(seed, 0, f"bequ {search_method} {purpose}")
    drawn = (
        _by_entity(counts, draws)
        if search_method == "entities"
        else _by_triple(counts, total, draws)
    )
    return list(islice(drawn, min(n, total)))


def _by_entity(counts: Sequence[int], draws: Draws) -> Iterator[tuple[int, int]]:
    """Sample an entity with triples left, uniformly, then one of its triples."""
    left = {entity: _Pool(n) for entity, n in enumerate(counts) if n}
    alive = list(left)
    while alive:
        at = draws.below(len(alive))
        entity = alive[at]
        yield entity, left[entity].take(draws)
        if not left[entity].n:
            alive[at] = alive[-1]
            alive.pop()


def _by_triple(counts: Sequence[int], total: int, draws: Draws) -> Iterator[tuple[int, int]]:
    ends = list(accumulate(counts))
    pool = _Pool(total)
    while pool.n:
        place = pool.take(draws)
        entity = bisect_right(ends, place)
        yield entity, place - (ends[entity] - counts[entity])


class _Pool:
    """Sample the places 0 to n - 1 without replacement; memory grows with the sample only."""

    __slots__ = ("_moved", "n")

    def __init__(self, n: int) -> None:
        self.n = n
        self._moved: dict[int, int] = {}

    def take(self, draws: Draws) -> int:
        """Sample one of the remaining places."""
        at = draws.below(self.n)
        self.n -= 1
        last = self._moved.pop(self.n, self.n)
        if at == self.n:
            return last
        taken = self._moved.get(at, at)
        self._moved[at] = last
        return taken


# Entities by name and identity; entities with the same name need an identity, or are an error.


_TELL = "add a column wikidata_id to distinguish them"


class Entities:
    """Number entities in order of appearance.

    An identity (a Wikidata id) distinguishes entities with the same name. A row without one means
    the only entity of its name. If a second one appears later, such rows are ambiguous, and an
    error is raised.
    """

    def __init__(self) -> None:
        self.facts: list[EntityFacts] = []
        self._named: dict[str, list[int]] = {}
        self._unsaid: set[int] = set()  # names with a row that lacks an identity

    def __len__(self) -> int:
        return len(self.facts)

    def find(self, name: str, identity: str = "") -> int:
        """Return the number of a row's entity, adding it if it is new.

        Raises BadInput if several have the name and the row gives no identity.
        """
        same = self._named.setdefault(plain_name(name), [])
        found = self._found(same, identity)
        if found is None and ((len(same) > 1 and not identity) or self._unsaid & {*same}):
            identities = [self.facts[number].identity for number in same]
            identities += [identity] if identity else []
            named = ", ".join(each or "none" for each in identities)
            many = f'{len(identities)} entities are named "{name}" ({named})'
            raise BadInput(f"{many}, and some rows have no identity; {_TELL}")
        if found is None:
            found = len(self.facts)
            same.append(found)
            self.facts.append(EntityFacts(" ".join(name.replace("_", " ").split()), identity))
        if not identity:
            self._unsaid.add(found)
        return found

    def _found(self, same: Sequence[int], identity: str) -> int | None:
        """Return the entity with this name and identity.

        The only entity of a name matches if either side lacks an identity, which is then recorded.
        """
        for number in same:
            if identity == self.facts[number].identity:
                return number
        if len(same) != 1 or (identity and self.facts[same[0]].identity):
            return None
        if identity:
            self.facts[same[0]] = structs.replace(self.facts[same[0]], identity=identity)
        return same[0]

    def describe(self, number: int, domain: str, popularity: str) -> None:
        """Record a row's additional fields; the first value is kept."""
        facts = self.facts[number]
        domain, popularity = facts.domain or domain, facts.popularity or popularity
        if (domain, popularity) != (facts.domain, facts.popularity):
            self.facts[number] = structs.replace(facts, domain=domain, popularity=popularity)


# Records on disk by key: millions of rows are read once, then looked up by key.

Key = TypeVar("Key", bound=Hashable)


Record = TypeVar("Record", bound=msgspec.Struct)


_SIZE = 4  # bytes of a record's length field


class Spool(Generic[Key, Record]):
    """Store records of one kind in an anonymous temporary file, deleted when its ``with`` ends.

    Memory use is eight bytes per record.
    """

    def __init__(self, kind: type[Record]) -> None:
        self._file = tempfile.TemporaryFile(prefix="proofstone-")  # noqa: SIM115 - closed by __exit__
        self._starts: dict[Key, array[int]] = {}
        self._end = 0
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(kind).decode

    def __enter__(self) -> Spool[Key, Record]:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, key: Key, record: Record) -> None:
        """Append a record to a key. No record may be added after the first read."""
        body = self._encode(record)
        self._file.write(len(body).to_bytes(_SIZE, "little") + body)
        starts = self._starts.get(key)
        if starts is None:
            starts = self._starts[key] = array("q")
        starts.append(self._end)
        self._end += _SIZE + len(body)

    def __iter__(self) -> Iterator[Key]:
        """Iterate over the keys, in the order of their first records."""
        return iter(self._starts)

    def count(self, key: Key) -> int:
        """Return the number of records of a key."""
        return len(self._starts.get(key, ()))

    def read(self, key: Key, place: int) -> Record:
        """Return the record of a key at this position."""
        return self._read(self._starts[key][place])

    def of(self, key: Key) -> list[Record]:
        """Return all records of a key in order; empty for an unknown key."""
        return [self._read(start) for start in self._starts.get(key, ())]

    def _read(self, start: int) -> Record:
        self._file.seek(start)
        size = int.from_bytes(self._file.read(_SIZE), "little")
        return self._decode(self._file.read(size))


# Elicited triples from the rows of any file, read one by one.


class ElicitedRow(Struct, frozen=True, gc=False):
    """Hold a row: the triple, its entity, and the model."""

    group: Group
    name: str
    identity: str
    domain: str
    popularity: str
    triple: GivenTriple


def read_elicited(row: Row, model: str, problems: list[Problem]) -> ElicitedRow | None:
    """Parse a triple row. Returns None for a row with a problem, which is recorded.

    The entity is ``subject_name``, or the subject if that is missing. ``model`` is used if the row
    has no model column. An object may be text, a number, a list of these (joined) or missing. A
    triple without an object states nothing, and is counted.
    """
    fields = Fields(row, problems)
    subject = fields.label("subject")
    name = fields.label("subject_name", "entity") or subject
    if not name.strip():
        fields.wrong("subject_name", "is missing or empty")
    predicate, value = fields.required_text("predicate"), row.values.get("object")
    if isinstance(value, str) and value.startswith("["):
        listed = read_json(value)
        value = listed if isinstance(listed, list) else value
    found = ElicitedRow(
        group=Group(fields.label("model") or model, fields.label("setting")),
        name=name,
        identity=fields.label(*IDENTITY),
        domain=fields.label(*DOMAIN),
        popularity=read_tier(fields),
        triple=GivenTriple(subject=subject or name, predicate=predicate, object=object_text(value)),
    )
    return found if fields.is_sound else None


# Both sides, read once.

_MOST_PROBLEMS = 1_000


class Told(Struct, frozen=True, kw_only=True):
    """Count the data read, and its anomalies.

    Anomalies are entities with triples but no reference, triples about another subject, and those
    without an object.
    """

    groups: int
    elicited: int
    entities: int
    reference_entities: int
    reference_triples: int
    without_reference: tuple[str, ...]
    of_others: int
    without_object: int


class Gathered:
    """Hold the data read.

    ``elicited`` has the triples of each (group, entity), ``reference`` the rows of each entity.
    Keys are places in ``groups`` and ``entities``.
    """

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
        self._whole: dict[int, str] = {}  # location of the row that lists an entity's triples
        self._odd: Counter[str] = Counter()

    @classmethod
    @contextmanager
    def opened(cls) -> Iterator[Gathered]:
        """Open a collection that keeps its triples on disk, deleted when its ``with`` ends."""
        with (
            Spool[tuple[int, int], GivenTriple](GivenTriple) as elicited,
            Spool[int, ReferenceRow](ReferenceRow) as reference,
        ):
            yield cls(elicited, reference)

    @property
    def groups(self) -> Sequence[Group]:
        """Return the groups, in order of appearance."""
        return self._groups

    @property
    def entities(self) -> Sequence[EntityFacts]:
        """Return all entities, those of the reference first."""
        return self._entities.facts

    @property
    def by_name(self) -> Sequence[int]:
        """Return entity numbers in the order of names and identities.

        Counting and sampling use this order, which is independent of row order.
        """
        facts = self.entities
        return sorted(range(len(facts)), key=lambda each: (facts[each].name, facts[each].identity))

    @property
    def named(self) -> Sequence[EntityFacts]:
        """Return all entities in that order; ``Verified`` refers to entities by their place in
        it."""
        return [self.entities[each] for each in self.by_name]

    def take_reference(self, rows: Iterable[Row]) -> None:
        """Read the rows of a reference. Raises BadInput with every problem."""
        problems: list[Problem] = []
        for row in rows:
            found = read_reference(row, problems)
            where = f"{row.place}, field entity"
            entity = None if found is None else self._find(found, where, problems)
            if found is None or entity is None:
                continue
            if found.is_whole and entity in self._whole:
                first = self._whole[entity]
                what = f'two entities are named "{found.name}" (the other: {first})'
                problems.append(Problem(where, f"{what}; {_TELL}"))
                continue
            if found.is_whole:
                self._whole[entity] = row.place
            self._entities.describe(entity, found.domain, found.popularity)
            self.reference.add(entity, found.row)
            self._known[entity] += len(found.row.triples)
        _refuse(problems)

    def _find(
        self, found: NamedReference | ElicitedRow, where: str, problems: list[Problem]
    ) -> int | None:
        """Return a row's entity; None if its name is ambiguous, which is recorded."""
        try:
            return self._entities.find(found.name, found.identity)
        except BadInput as same:
            problems.append(Problem(where, same.message))
            return None

    def begin_group(self, group: Group) -> int:
        """Start a group and return its number, even if another one has its name."""
        self._groups.append(group)
        return len(self._groups) - 1

    def find_entity(self, name: str, identity: str, domain: str, popularity: str) -> int:
        """Return the number of a listed entity, after the reference was read.

        Raises BadInput if several have its name, and not all a Wikidata number.
        """
        entity = self._entities.find(name, identity)
        self._entities.describe(entity, domain, popularity)
        return entity

    def take_elicited(
        self, rows: Iterable[Row], *, model: str = "", group: int | None = None
    ) -> None:
        """Read elicited triples, after the reference was read.

        They belong to a started ``group``, or to those that the rows name. Raises BadInput with
        every problem.
        """
        numbers = {who: number for number, who in enumerate(self._groups)}
        problems: list[Problem] = []
        unclear: set[str] = set()  # names already reported
        for row in rows:
            found = read_elicited(row, model, problems)
            if found is None:
                continue
            told = problems if found.name not in unclear else []
            entity = self._find(found, f"{row.place}, field subject_name", told)
            if entity is None:
                unclear.add(found.name)
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
        """Return True if the reference has triples of an entity."""
        return self.reference.count(entity) > 0

    def count_known(self, entity: int) -> int:
        """Return the number of reference triples of an entity."""
        return self._known[entity]

    def told(self) -> Told:
        """Return the counts, with the names of entities without a reference in order."""
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


def _refuse(problems: list[Problem]) -> None:
    if problems:
        raise BadInput("the rows cannot be read", problems[:_MOST_PROBLEMS])


# The sample of both directions, by entity.


class Sampled(Struct, frozen=True, gc=False, array_like=True):
    """Hold a triple by its position in its entity, and its number in the random order, from 1.

    The number is 0 if all triples are taken.
    """

    place: int
    drawn: int


class Asked(Struct, frozen=True):
    """Hold the prompted entities, where known.

    These are the entities that ``were_listed``, and those with a response of each group, with or
    without triples.
    """

    were_listed: Container[int]
    replied: Sequence[Container[int]]


class VerifyPlan(Struct, frozen=True, kw_only=True):
    """Hold the sample: ``given`` triples of each (group, entity), and ``known`` ones of each
    entity.

    ``known`` applies to all ``recalled`` groups; if ``asked`` is set, only to those with a
    response. ``entities`` are all in the sample.
    """

    settings: VerifySettings
    given: Mapping[tuple[int, int], Sequence[Sampled]]
    known: Mapping[int, Sequence[Sampled]]
    recalled: Sequence[int]
    entities: Sequence[int]
    asked: Asked | None = None

    def recalled_of(self, entity: int) -> Sequence[int]:
        """Return the groups whose recall includes the reference triples of an entity."""
        asked = self.asked
        if asked is None:
            return self.recalled
        return [group for group in self.recalled if entity in asked.replied[group]]

    @property
    def n_given(self) -> int:
        """Return the number of triples for precision, over all groups."""
        return sum(map(len, self.given.values()))

    @property
    def n_known(self) -> int:
        """Return the number of reference triples for recall, per group."""
        return sum(map(len, self.known.values()))

    def n_of(self, group: int) -> int:
        """Return the number of triples of a group, in both directions."""
        given = sum(len(drawn) for (whose, _entity), drawn in self.given.items() if whose == group)
        return given + sum(
            len(drawn) for entity, drawn in self.known.items() if group in self.recalled_of(entity)
        )


def make_plan(
    gathered: Gathered, settings: VerifySettings, asked: Asked | None = None
) -> VerifyPlan:
    """Sample the collected triples; the sample is independent of entity order.

    Groups share the random order: groups with the same triples of the same entities have the same
    sample. Recall covers groups with a triple about a reference entity, since prompts of others are
    unknown. If the prompts are known, it covers all prompted groups and listed entities.
    """
    order = gathered.by_name
    given: dict[tuple[int, int], Sequence[Sampled]] = {}
    for group in range(len(gathered.groups)):
        counts = {entity: gathered.elicited.count((group, entity)) for entity in order}
        drawn = _drawn(gathered, counts, settings, "precision")
        given |= {(group, entity): sampled for entity, sampled in drawn.items()}
    said_of = {entity for _group, entity in gathered.elicited}
    counts = {
        entity: gathered.count_known(entity)
        for entity in order
        if (settings.over == "reference" or entity in said_of)
        and (asked is None or entity in asked.were_listed)
    }
    known = _drawn(gathered, counts, settings, "recall")
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
    """Return the reference triples of an entity in order: places in a plan refer to it."""
    return [triple for row in gathered.reference.of(entity) for triple in row.triples]


def _drawn(
    gathered: Gathered, counts: Mapping[int, int], settings: VerifySettings, purpose: str
) -> dict[int, Sequence[Sampled]]:
    """Return the sample by entity, over triples in ``counts``; each part has its own sample."""
    held = {entity: n for entity, n in counts.items() if n}
    if not settings.sample:
        return {entity: _All(n) for entity, n in held.items()}
    parts: dict[str, list[int]] = defaultdict(list)
    for entity in held:
        facts, per = gathered.entities[entity], settings.sample_per
        parts["" if per == "all" else getattr(facts, per)].append(entity)
    found: dict[int, list[Sampled]] = defaultdict(list)
    for part, own in sorted(parts.items()):
        places = sample_places(
            [held[entity] for entity in own],
            settings.sample,
            settings.sampling,
            seed=settings.seed,
            purpose=f"{purpose} {part}" if part else purpose,
        )
        for number, (at, place) in enumerate(places, start=1):
            found[own[at]].append(Sampled(place, number))
    return {**found}


class _All(Sequence[Sampled]):
    """Stand for all ``n`` triples of an entity without storing their places."""

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


# References: a bank of the workspace, a file, or a folder.

TakeRows = Callable[[Iterable[Row]], None]


_TEXT_SUFFIXES = (".txt", ".text", ".md", ".markdown")


_PIECE = 2**20


class Reference(Struct, frozen=True):
    """Describe a reference and how to read it.

    Its rows are passed to a function, any number of times. ``label`` is its name and the first
    digits of its ``id``; ``origins`` says where its texts come from.
    """

    id: bytes
    name: str
    take: Callable[[TakeRows], None]
    origins: Callable[[], Sequence[Origin]]

    @property
    def label(self) -> str:
        """Return its name with digits that distinguish it from others of that name."""
        return f"{self.name}-{short(self.id)}"


def find_reference(store: Store, reference: Target | Path, encoding: str = "") -> Reference:
    """Return the reference of this name: a file or folder if there is one, otherwise a bank.

    Raises NotFound, and BadUsage for a bank of another kind.
    """
    if isinstance(reference, str | Path) and Path(reference).exists():
        return _of_files(Path(reference), encoding)
    if isinstance(reference, Path):
        raise missing_file(reference, "name a file, a folder or a bank")
    return _of_bank(store, find_target(store, reference, ("bank",)))


def reference_files(reference: Path) -> list[Path]:
    """Return the files of a reference: itself, or those of a folder by name."""
    if not reference.is_dir():
        if not reference.exists():
            raise missing_file(reference, "name a file or a folder")
        return [reference]
    files = sorted(each for each in reference.iterdir() if each.is_file())
    files = [each for each in files if not each.name.startswith(".")]
    if not files:
        raise BadUsage(f"{reference}: the folder has no files")
    return files


def take_file(take: TakeRows, file: Path, encoding: str) -> None:
    """Read one file of a reference: rows, or the text of the entity in its file name."""
    if file.suffix.lower() in _TEXT_SUFFIXES:
        (document,) = read_documents(file)
        take([Row(file.name, {"entity": bare_name(file), "text": document.pages[None]})])
        return
    read_checked(file, take, encoding=encoding)


def _of_files(path: Path, encoding: str) -> Reference:
    files = reference_files(path)

    def take(rows: TakeRows) -> None:
        for file in files:
            take_file(rows, file, encoding)

    origin = Origin(path.name, "", len(files), (path.name,))
    return Reference(_content_of(files), path.name, take, lambda: [origin])


def _content_of(files: Sequence[Path]) -> bytes:
    """Return the digest of files and their names, since a name may identify an entity."""
    state = sha256()
    for file in files:
        name = file.name.encode()
        state.update(len(name).to_bytes(4, "big") + name)
        size = 0
        with file.open("rb") as body:
            while piece := body.read(_PIECE):
                state.update(piece)
                size += len(piece)
        state.update(size.to_bytes(8, "big"))
    return state.digest()


def _of_bank(store: Store, found: Found) -> Reference:
    bank = store.knowledge.bank(found.id)
    method = find_method(bank.method)
    first = next(store.knowledge.pages_of_bank(found.key, 1), [])
    if not first or first[0].kind != KIND:
        raise BadUsage(
            f"bank {found.name} has no reference triples",
            hint="build one: proofstone build reference ENTITIES --corpus ... -m PROVIDER/NAME",
        )

    def facts() -> Iterator[Fact]:
        return chain.from_iterable(store.knowledge.pages_of_bank(found.key))

    def take(rows: TakeRows) -> None:
        rows(
            Row(f"fact:{short(fact.id)}", method.write_fact(BuiltFact(fact), {}))
            for fact in facts()
        )

    def origins() -> list[Origin]:
        return store.origins.of_facts([fact.id for fact in facts()], found.name)

    return Reference(found.id, found.name, take, origins)
