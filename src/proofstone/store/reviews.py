"""Store reviews and spreadsheets, corrections, overrides, and people."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec
from sqlalchemy import Connection, Row, Table, and_, delete, func, or_, select

from proofstone.records.ids import canonical_json, content_id
from proofstone.records.reviews import (
    CHECK_TASKS,
    Correction,
    Override,
    Person,
    Review,
    ReviewPlace,
    ReviewSheet,
    SheetWithdrawal,
)
from proofstone.store import schema
from proofstone.store.calls import StoredResponse
from proofstone.store.rows import (
    StorePart,
    among,
    hash_range,
    insert_dicts,
    insert_missing,
    insert_record,
    insert_rows,
    keys_by,
    of_kind,
    record_of,
    referred_keys,
    row_of,
    with_ids,
)


class ReadItems(msgspec.Struct, frozen=True):
    """Review coverage of some sets' items.

    ``whole``: people reviewed them or all their facts; ``partly``: some of their facts.
    """

    whole: frozenset[bytes] = frozenset()
    partly: frozenset[bytes] = frozenset()
    n_people: int = 0


class _Said(msgspec.Struct, frozen=True, omit_defaults=True):
    """The part of a review stored in its payload."""

    changes: dict[str, Any] = {}
    rubric: dict[str, str | int | float] = {}
    seconds: float | None = None
    answer: str = ""
    urls: tuple[str, ...] = ()


class ReviewStore(StorePart):
    """Add and read reviews and spreadsheets. Adding existing ones changes nothing.

    Decisions of withdrawn spreadsheets are not read.
    """

    def add_sheets(self, sheets: Sequence[ReviewSheet]) -> None:
        """Store spreadsheets with their rows, in one transaction."""
        with self._database.writing() as connection:
            for sheet in sheets:
                _add_sheet(connection, sheet)

    def add(self, reviews: Sequence[Review], actors: Iterable[bytes] = (), now: float = 0.0) -> int:
        """Store reviews of stored targets, in one transaction; return how many are new.

        Corrected reviews must come before their corrections. Unknown ``actors`` are added.
        """
        with self._database.writing() as connection:
            new = {actor: (actor, now) for actor in actors}
            insert_missing(connection, schema.actor, new)
            known = keys_by(connection, schema.review, ("hash",), [one.id for one in reviews])
            first = [one for one in reviews if one.corrects is None]
            later = [one for one in reviews if one.corrects is not None]
            for group in (first, *([one] for one in later)):
                refers = [
                    {
                        **_of_kind(one.kind, one.target),
                        "actor_id": one.reviewer or None,
                        "sheet_id": one.sheet or None,
                        "corrects_id": one.corrects or None,
                    }
                    for one in group
                ]
                keys = referred_keys(connection, schema.review, refers)
                rows = {
                    one.id: row_of(schema.review, one, payload=_said(one), **own)
                    for one, own in zip(group, keys, strict=True)
                }
                insert_dicts(connection, schema.review, rows)
            return len({one.id for one in reviews} - known.keys())

    def sheet(self, digits: str) -> ReviewSheet | None:
        """Return the spreadsheet whose id starts with these hexadecimal digits, with its rows, or
        None.
        """
        found = self._sheets(schema.review_sheet.c.hash.between(*hash_range(digits)))
        return found[0] if len(found) == 1 else None

    def withdraw(self, one: SheetWithdrawal) -> None:
        """Record that a spreadsheet is withdrawn; repeating it changes nothing."""
        with self._database.writing() as connection:
            refers = {"sheet_id": one.sheet, "actor_id": one.actor}
            identity = content_id("withdrawn-sheet", [one.sheet])
            insert_record(connection, schema.withdrawn_sheet, one, refers, hash=identity)

    def withdrawn(self) -> frozenset[bytes]:
        """Return the ids of all withdrawn spreadsheets."""
        sheet = schema.review_sheet
        query = select(sheet.c.hash).where(sheet.c.id.in_(_withdrawn()))
        return frozenset(self._scalars(query))

    def n_decisions(self, sheet: bytes) -> int:
        """Return how many decisions were imported from a spreadsheet."""
        review, of = schema.review, schema.review_sheet
        query = select(func.count()).select_from(review.join(of))
        return int(self._scalar(query.where(of.c.hash == sheet)) or 0)

    def sheets_of(self, target: bytes) -> list[ReviewSheet]:
        """Return all spreadsheets of a bank or form that were not withdrawn, oldest first."""
        of = or_(schema.bank.c.hash == target, schema.item_set.c.hash == target)
        return self._sheets(and_(of, schema.review_sheet.c.id.not_in(_withdrawn())))

    def of_facts(self, facts: Iterable[bytes]) -> list[Review]:
        """Return all reviews of these facts, oldest first."""
        return self._of(schema.fact, "fact_id", facts)

    def of_items(self, items: Iterable[bytes]) -> list[Review]:
        """Return all reviews of these items, oldest first."""
        return self._of(schema.item, "item_id", items)

    def are_of_bank(self, bank: bytes) -> bool:
        """Return True if a bank's facts, or versions that these correct, have reviews.

        Reads no fact's text.
        """
        fact, held, review = schema.fact, schema.bank_fact, schema.review
        own = (
            select(held.c.fact_id)
            .join(schema.bank, schema.bank.c.id == held.c.bank_id)
            .where(schema.bank.c.hash == bank)
        )
        reviewed = select(review.c.fact_id).where(review.c.fact_id.is_not(None), _counts())
        former = select(fact.c.corrects_id).where(fact.c.corrects_id.is_not(None))
        with self._database.reading() as connection:
            query = reviewed.where(review.c.fact_id.in_(own))
            if connection.execute(query.limit(1)).first() is not None:
                return True
            of = set(connection.scalars(reviewed.distinct()))
            older = set(connection.scalars(former.where(fact.c.id.in_(own)))) if of else set()
            while older and older.isdisjoint(of):
                older = {key for (key,) in among(connection, former, fact.c.id, older)}
        return bool(older)

    def checks_of_bank(self, bank: bytes) -> list[Review]:
        """Return the fact-check reviews of a bank's facts, oldest first."""
        held = schema.bank_fact
        query = (
            _select_reviews()
            .join(held, held.c.fact_id == schema.review.c.fact_id)
            .join(schema.bank, schema.bank.c.id == held.c.bank_id)
            .where(schema.bank.c.hash == bank, schema.review.c.task.in_(CHECK_TASKS))
            .order_by(schema.review.c.created_at, schema.review.c.hash)
        )
        return [_review(row) for row in self._rows(query)]

    def read_items(self, item_sets: Sequence[bytes]) -> ReadItems:
        """Return what people have reviewed of the items of these sets.

        A version that corrects a reviewed fact results from that review, and counts as reviewed.
        """
        review, rests, member = schema.review, schema.item_fact, schema.item_set_item
        people = select(review.c.fact_id, review.c.item_id, review.c.actor_id).where(
            review.c.actor_id.is_not(None), _counts()
        )
        within = (
            select(schema.item.c.id, schema.item.c.hash, rests.c.fact_id)
            .select_from(schema.item.join(member).join(schema.item_set))
            .outerjoin(rests, rests.c.item_id == schema.item.c.id)
            .where(schema.item_set.c.hash.in_(item_sets))
            .distinct()
        )
        with self._database.reading() as connection:
            readers = _Readers(connection.execute(people.distinct()).all())
            if not readers:
                return ReadItems()
            readers.follow(connection)
            return readers.of(connection.execute(within).all())

    def _of(self, table: Any, column: str, wanted: Iterable[bytes]) -> list[Review]:
        keys = self._keys_of(table, dict.fromkeys(wanted))
        rows = self._among(_select_reviews(), schema.review.c[column], keys.values())
        return sorted(map(_review, rows), key=lambda one: (one.at, one.id))

    def _sheets(self, condition: Any) -> list[ReviewSheet]:
        table = schema.review_sheet
        query = with_ids(table, bank="bank_id", form="item_set_id", reviewer="actor_id")
        query = query.where(condition).order_by(table.c.created_at, table.c.id)
        with self._database.reading() as connection:
            rows = connection.execute(query).all()
            return [_sheet(row, _places(connection, row.id)) for row in rows]


def _of_kind(kind: str, target: bytes) -> dict[str, bytes | None]:
    """Return a fact or item by the columns that refer to either."""
    is_fact = kind == "fact"
    return {"fact_id": target if is_fact else None, "item_id": None if is_fact else target}


class _Readers:
    """Reviewers of facts and items, by key."""

    def __init__(self, rows: Sequence[Any]) -> None:
        self._facts: dict[int, set[int]] = {}
        self._items: dict[int, set[int]] = {}
        for fact, item, actor in rows:
            of, key = (self._facts, fact) if fact is not None else (self._items, item)
            of.setdefault(key, set()).add(actor)

    def __bool__(self) -> bool:
        return bool(self._facts or self._items)

    def follow(self, connection: Connection) -> None:
        """Count versions that correct a fact as reviewed by the same people."""
        query = select(schema.fact.c.id, schema.fact.c.corrects_id).where(
            schema.fact.c.corrects_id.is_not(None)
        )
        newer = [(key, former) for key, former in connection.execute(query.order_by("id"))]
        for key, former in newer:  # a version is stored after the one that it corrects
            if former in self._facts:
                self._facts.setdefault(key, set()).update(self._facts[former])

    def of(self, rows: Sequence[Any]) -> ReadItems:
        """Return the coverage of ``rows``: items (key, id), each with one of their facts or
        None.
        """
        rests: dict[bytes, list[bool]] = {}
        people: set[int] = set()
        for key, identity, fact in rows:
            readers = self._items.get(key, set()) | self._facts.get(fact, set())
            people |= readers
            rests.setdefault(identity, []).append(bool(readers))
        return ReadItems(
            whole=frozenset(item for item, read in rests.items() if all(read)),
            partly=frozenset(item for item, read in rests.items() if any(read) and not all(read)),
            n_people=len(people),
        )


def _said(one: Review) -> bytes:
    return canonical_json(
        _Said(dict(one.changes), dict(one.rubric), one.seconds, one.answer, one.urls)
    )


def _add_sheet(connection: Connection, sheet: ReviewSheet) -> None:
    refers = {**of_kind(sheet.kind, sheet.target), "actor_id": sheet.reviewer}
    recipe = canonical_json(sheet.recipe)
    own = insert_record(connection, schema.review_sheet, sheet, refers, recipe=recipe)
    named = [_of_kind(place.kind, place.target) for place in sheet.places]
    keys = referred_keys(connection, schema.review_place, named)
    places = [
        (own, position, place.task, of["fact_id"], of["item_id"])
        for position, (place, of) in enumerate(zip(sheet.places, keys, strict=True))
    ]
    insert_rows(connection, schema.review_place, places, or_ignore=True)


def _places(connection: Connection, sheet: int) -> tuple[ReviewPlace, ...]:
    table = schema.review_place
    query = (
        select(table.c.task, schema.fact.c.hash, schema.item.c.hash)
        .outerjoin(schema.fact, schema.fact.c.id == table.c.fact_id)
        .outerjoin(schema.item, schema.item.c.id == table.c.item_id)
        .where(table.c.sheet_id == sheet)
        .order_by(table.c.position)
    )
    return tuple(
        ReviewPlace(task, "item", item) if fact is None else ReviewPlace(task, "fact", fact)
        for task, fact, item in connection.execute(query)
    )


def _withdrawn() -> Any:
    """Select the keys of withdrawn spreadsheets."""
    return select(schema.withdrawn_sheet.c.sheet_id)


def _counts() -> Any:
    """Return the condition that a review is not of a withdrawn spreadsheet."""
    sheet = schema.review.c.sheet_id
    return or_(sheet.is_(None), sheet.not_in(_withdrawn()))


def _select_reviews() -> Any:
    fields = {name: f"{name}_id" for name in ("fact", "item", "sheet", "corrects")}
    return with_ids(schema.review, **fields, reviewer="actor_id").where(_counts())


def _review(row: Row[Any]) -> Review:
    said = msgspec.json.decode(row.payload, type=_Said) if row.payload else _Said()
    kind, target = ("item", row.item) if row.fact is None else ("fact", row.fact)
    own = {"kind": kind, "target": target, "reviewer": row.reviewer or b""}
    return record_of(Review, row, **own, **msgspec.structs.asdict(said))


def _sheet(row: Row[Any], places: tuple[ReviewPlace, ...]) -> ReviewSheet:
    kind, target = ("form", row.form) if row.bank is None else ("bank", row.bank)
    recipe = msgspec.json.decode(row.recipe)
    return record_of(ReviewSheet, row, kind=kind, target=target, recipe=recipe, places=places)


# Corrections of facts, items and forms: edits, exclusions and inclusions.

Kind = Literal["fact", "item", "form"]


_TABLES: dict[str, tuple[Table, str]] = {
    "fact": (schema.fact, "fact_id"),
    "item": (schema.item, "item_id"),
    "form": (schema.item_set, "item_set_id"),
}


class Excluded(msgspec.Struct, frozen=True):
    """The excluded items of some sets, directly or through a fact.

    Their keys and ids, and how many positions of the sets they fill.
    """

    keys: frozenset[int] = frozenset()
    ids: frozenset[bytes] = frozenset()
    n_places: int = 0


class CorrectionStore(StorePart):
    """Add corrections, and find what is excluded."""

    def add(self, corrections: Sequence[Correction]) -> None:
        """Store corrections of stored targets, in one transaction."""
        with self._database.writing() as connection:
            for one in corrections:
                refers = dict.fromkeys(column for _table, column in _TABLES.values())
                refers |= {_TABLES[one.kind][1]: one.target}
                refers |= {"actor_id": one.actor, "follows_id": one.follows}
                insert_record(connection, schema.correction, one, refers)

    def of(self, kind: str, key: int) -> list[Correction]:
        """Return the corrections of one fact, item or form, oldest first."""
        query = _select_corrections().where(schema.correction.c[_TABLES[kind][1]] == key)
        return [_correction(row) for row in self._rows(query)]

    def exclusion(self, kind: str, key: int) -> Correction | None:
        """Return the newest exclusion or inclusion of a fact or item, which is its current
        state.
        """
        rows = [one for one in self.of(kind, key) if one.action != "edit"]
        return rows[-1] if rows else None

    def newer(self, kind: str, key: int) -> list[bytes]:
        """Return the ids of the versions that directly correct a fact, item or form, oldest
        first.
        """
        table, _column = _TABLES[kind]
        query = select(table.c.hash).order_by(table.c.id)
        if kind == "form":
            made = schema.corrected_set
            query = query.join(made, made.c.item_set_id == table.c.id)
            query = query.where(made.c.corrects_id == key)
        else:
            query = query.where(table.c.corrects_id == key)
        return self._scalars(query)

    def newer_bank(self, bank: bytes) -> bytes | None:
        """Return the newest bank that directly corrects this one, or None."""
        made, former = schema.corrected_bank, schema.bank.alias("former")
        query = (
            select(schema.bank.c.hash)
            .join(made, made.c.bank_id == schema.bank.c.id)
            .join(former, former.c.id == made.c.corrects_id)
            .where(former.c.hash == bank)
            .order_by(schema.bank.c.created_at.desc(), schema.bank.c.hash)
            .limit(1)
        )
        found: bytes | None = self._scalar(query)
        return found

    def former(self, kind: str, key: int) -> bytes | None:
        """Return the id of the version that a fact, item or form corrects, or None."""
        table, _column = _TABLES[kind]
        old = table.alias("old")
        query = select(old.c.hash)
        if kind == "form":
            made = schema.corrected_set
            query = query.join(made, made.c.corrects_id == old.c.id)
            query = query.where(made.c.item_set_id == key)
        else:
            query = query.join(table, table.c.corrects_id == old.c.id).where(table.c.id == key)
        found: bytes | None = self._scalar(query)
        return found

    def former_items(self) -> dict[bytes, bytes]:
        """Return every item that corrects another one, with the other's id."""
        table, old = schema.item, schema.item.alias("old")
        query = select(table.c.hash, old.c.hash).join(old, old.c.id == table.c.corrects_id)
        return {row[0]: row[1] for row in self._rows(query)}

    def excluded(self, item_sets: Sequence[bytes], until: float | None = None) -> Excluded:
        """Return the excluded items of these sets, now or at an earlier time."""
        items = self._excluded_keys("item_id", until)
        facts = self._excluded_keys("fact_id", until)
        if not items and not facts:
            return Excluded()
        member, rests = schema.item_set_item, schema.item_fact
        by_fact = select(rests.c.item_id).where(rests.c.fact_id.in_(facts))
        query = (
            select(member.c.item_id, schema.item.c.hash, func.count())
            .select_from(member.join(schema.item).join(schema.item_set))
            .where(
                schema.item_set.c.hash.in_(item_sets),
                or_(member.c.item_id.in_(items), member.c.item_id.in_(by_fact)),
            )
            .group_by(member.c.item_id, schema.item.c.hash)
        )
        rows = self._rows(query)
        return Excluded(
            frozenset(key for key, _identity, _n in rows),
            frozenset(identity for _key, identity, _n in rows),
            sum(n for _key, _identity, n in rows),
        )

    def excluded_alone(self, items: Sequence[int]) -> set[int]:
        """Return which of these items are excluded themselves, not through a fact."""
        return set(items) & set(self._excluded_keys("item_id"))

    def excluded_facts(self, facts: Iterable[bytes]) -> list[bytes]:
        """Return which of these facts are excluded, in order."""
        excluded = self._excluded_keys("fact_id")
        keys = self._keys_of(schema.fact, dict.fromkeys(facts))
        return [identity for identity, key in keys.items() if key in excluded]

    def former_facts(self, item_set: bytes) -> set[bytes]:
        """Return the ids of all former versions of the facts of a set's items."""
        fact, old, member, rests = (
            schema.fact, schema.fact.alias("old"), schema.item_set_item, schema.item_fact
        )  # fmt: skip
        corrected = (
            select(fact.c.corrects_id)
            .join(rests, rests.c.fact_id == fact.c.id)
            .join(member, member.c.item_id == rests.c.item_id)
            .join(schema.item_set, schema.item_set.c.id == member.c.item_set_id)
            .where(schema.item_set.c.hash == item_set, fact.c.corrects_id.is_not(None))
            .distinct()
        )
        found: set[bytes] = set()
        with self._database.reading() as connection:
            keys = set(connection.scalars(corrected))
            while keys:
                query = select(old.c.hash, old.c.corrects_id).where(old.c.id.in_(keys))
                rows = connection.execute(query).all()
                found |= {identity for identity, _former in rows}
                keys = {former for _identity, former in rows if former is not None}
        return found

    def _excluded_keys(self, column: str, until: float | None = None) -> list[int]:
        table = schema.correction
        query = (
            select(table.c[column], table.c.action)
            .where(table.c[column].is_not(None), table.c.action != "edit")
            .order_by(table.c.created_at, table.c.hash)
        )
        if until is not None:
            query = query.where(table.c.created_at <= until)
        newest = {row[0]: row[1] for row in self._rows(query)}
        return [key for key, action in newest.items() if action == "exclude"]


def _select_corrections() -> Any:
    table = schema.correction
    columns = {kind: column for kind, (_table, column) in _TABLES.items()}
    query = with_ids(table, **columns, actor="actor_id", follows="follows_id")
    return query.order_by(table.c.created_at, table.c.hash)


def _correction(row: Row[Any]) -> Correction:
    kind = next(kind for kind in _TABLES if getattr(row, kind) is not None)
    return record_of(Correction, row, kind=kind, target=getattr(row, kind))


# Actors and people: rows have random actor ids, one table holds the names.


class PeopleStore(StorePart):
    """Add, read and erase people. An actor's id is random and reveals nothing."""

    def add(self, name: str, now: float, mail: str = "", pay_details: str = "") -> Person:
        """Store a person under a new actor id."""
        with self._database.writing() as connection:
            return _add_person(connection, name, now, mail, pay_details)

    def of_name(self, name: str) -> list[Person]:
        """Return the people with this name, oldest first."""
        return self._people(schema.person.c.name == name)

    def like(self, digits: str) -> list[Person]:
        """Return the people whose actor ids start with these hexadecimal digits."""
        return self._people(schema.actor.c.hash.between(*hash_range(digits)))

    def every(self) -> list[Person]:
        """Return all people with known names, oldest first."""
        return self._people()

    def person(self, actor: bytes) -> Person | None:
        """Return the person of an actor; None if erased or unknown."""
        return next(iter(self._people(schema.actor.c.hash == actor)), None)

    def _people(self, *conditions: Any) -> list[Person]:
        query = with_ids(schema.person, actor="actor_id").order_by(schema.actor.c.id)
        return [record_of(Person, row) for row in self._rows(query.where(*conditions))]

    def erase(self, actor: bytes) -> bool:
        """Delete a person's name and details; the actor's id and work are kept. False if
        unknown.
        """
        with self._database.writing() as connection:
            key = keys_by(connection, schema.actor, ("hash",), [actor]).get(actor)
            statement = delete(schema.person).where(schema.person.c.actor_id == key)
            return connection.execute(statement).rowcount == 1


def _add_person(
    connection: Connection, name: str, now: float, mail: str = "", pay_details: str = ""
) -> Person:
    person = Person(actor=secrets.token_bytes(32), name=name, mail=mail, pay_details=pay_details)
    row = {person.actor: (person.actor, now)}
    key = insert_missing(connection, schema.actor, row)[person.actor]
    values = {"actor_id": key, "name": name, "mail": mail, "pay_details": pay_details}
    connection.execute(schema.person.insert(), values)
    return person


# Overrides of responses by people. An override refers to the item and the call, so it applies in
# every run that uses this response, and in no other.


class OverrideInForce(msgspec.Struct, frozen=True, gc=False):
    """The newest override of a response: the keys of run and item, and the sample."""

    run: int
    item: int
    sample: int
    override: Override


class OverrideStore(StorePart):
    """Add overrides and read those in force."""

    def add(self, override: Override, response: StoredResponse) -> None:
        """Store an override of ``response``."""
        with self._database.writing() as connection:
            insert_record(
                connection, schema.override, override,
                {"actor_id": override.actor, "replaces_id": override.replaces},
                item_id=response.item, call_id=response.call, run_id=response.run,
            )  # fmt: skip

    def over(self, response: StoredResponse) -> list[Override]:
        """Return all overrides of ``response``, oldest first; the last one applies."""
        table = schema.override
        query = _select_overrides().where(
            table.c.item_id == response.item, table.c.call_id == response.call
        )
        return [record_of(Override, row) for row in self._rows(query)]

    def in_force(self, runs: Sequence[int], until: float | None = None) -> list[OverrideInForce]:
        """Return the overrides in force in these runs, one per (item, sample), oldest first.

        The newest of several for one response applies. With ``until``, only those made by then.
        """
        table, response = schema.override, schema.response
        query = (
            _select_overrides()
            .add_columns(
                response.c.run_id.label("served_run"),
                response.c.sample.label("served_sample"),
                table.c.item_id.label("item_key"),
            )
            .join(
                response,
                (response.c.item_id == table.c.item_id) & (response.c.call_id == table.c.call_id),
            )
            .where(response.c.run_id.in_(runs))
            .order_by(response.c.run_id, response.c.item_id, response.c.sample)
        )
        if until is not None:
            query = query.where(table.c.created_at <= until)
        newest: dict[tuple[int, int, int], OverrideInForce] = {}
        for row in self._rows(query):
            place = (row.served_run, row.item_key, row.served_sample)
            newest.pop(place, None)
            newest[place] = OverrideInForce(*place, record_of(Override, row))
        return list(newest.values())

    def n_runs(self, response: StoredResponse) -> int:
        """Return how many runs use ``response`` for this item."""
        table = schema.response
        query = select(func.count(table.c.run_id.distinct())).where(
            table.c.item_id == response.item, table.c.call_id == response.call
        )
        return int(self._scalar(query))


def _select_overrides() -> Any:
    """Select overrides, oldest first; equal times from merged workspaces are ordered by id."""
    table = schema.override
    query = with_ids(table, run="run_id", item="item_id", actor="actor_id", replaces="replaces_id")
    return query.order_by(table.c.created_at, table.c.hash)
