"""Purge a source, and repair banks and forms that held its texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, structs

from proofstone.errors import BadInput, BadUsage, TextPurged
from proofstone.ingest.wiki import pages_of
from proofstone.records.calls import Clock
from proofstone.records.ids import short
from proofstone.records.items import ItemSet, LoadedItem, corrected_set
from proofstone.records.knowledge import Bank
from proofstone.search.index import parts_of
from proofstone.search.web import searches_of
from proofstone.search.web_finder import pages_from
from proofstone.session.folders import delete_files
from proofstone.session.session import Session, Target, acting_name, acting_person, stated_reason
from proofstone.store.database import refuse_held
from proofstone.store.lookup import Found
from proofstone.store.provenance import HeldBy, held_by, sources_sharing
from proofstone.store.purge import PurgePlan, Tombstone, copies_of, empty_rows, plan_purge, rewrite
from proofstone.store.store import Store


class PurgeReport(Struct, frozen=True, kw_only=True):
    """Report the texts to delete or deleted by kind, and the banks, forms and runs that held the
    source.

    ``copies`` are sources of the same content under another title or license, deleted with it.
    ``sharing`` are others with some of the same passages, which stay. ``files`` are the workspace's
    files next to the database (relative paths), and files that commands wrote. ``changed`` were
    changed after they were written, and stay. ``tombstone`` is None if nothing was done.
    """

    source: bytes
    title: str
    removed: dict[str, int]
    held_by: tuple[HeldBy, ...]
    copies: tuple[Found, ...] = ()
    sharing: tuple[HeldBy, ...] = ()
    files: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    tombstone: Tombstone | None = None


def purge(
    session: Session,
    source: Target,
    *,
    reason: str = "",
    name: str | None = None,
    dry_run: bool = False,
) -> PurgeReport:
    """Delete the texts of a source, of its copies, and all texts derived from them permanently.

    Rows keep their hashes; scores and calls keep values, usage and cost. A deletion record of each
    source states who deleted it, when and why. Deleted as well are its stored wiki page, its index
    entries, its stored searches, and unchanged files that exports, pages, review spreadsheets and
    ``start`` wrote of it.

    ``name`` is the person who deletes (default: the user of this computer). With ``dry_run``
    nothing is changed, and the report states what would be deleted. A repetition completes an
    interrupted purge. Raises RunInUse while a run is active, BadUsage without a reason,
    WorkspaceInUse if another process keeps the old texts in the log.
    """
    store, found = session.store, session.find(source, "source")
    with store.database.reading() as connection:
        preview, _plan = _report(connection, found)
    sources = (found, *preview.copies)
    files = tuple(dict.fromkeys(file for each in sources for file in _files_of(session, each)))
    held = {each.id for each in sources} | {each.id for each in preview.held_by}
    written = store.written.holding(held)
    files = (*files, *(file.path for file in written if file.is_same))
    changed = tuple(file.path for file in written if not file.is_same)
    if dry_run:
        return structs.replace(preview, files=files, changed=changed)
    report = _purged(session, found, reason, acting_name(name))
    delete_files(session.folder, files)
    return structs.replace(report, files=files, changed=changed)


def _files_of(session: Session, source: Found) -> Iterator[str]:
    """Yield the files of a source that the workspace keeps next to the database."""
    yield from pages_of(session.folder, session.store, source)
    yield from parts_of(session.folder, source.id)
    yield from searches_of(session.folder, source.id)
    yield from pages_from(session.folder, source.id)


def _purged(session: Session, source: Found, reason: str, name: str) -> PurgeReport:
    """What was taken out of the database."""
    store, now = session.store, session.clock.now()
    reason = stated_reason(reason, "a purge")
    refuse_held(store.database, now)
    who = acting_person(store, name, session.clock)
    with store.database.writing() as connection:
        report, plan = _report(connection, source)
        empty_rows(connection, plan)
        stones = []
        for each in (source, *report.copies):
            stone = store.tombstones.newest(connection, each.id)
            if stone is None or stone.kind == "lifted" or any(report.removed.values()):
                add = store.tombstones.add
                stone = add(connection, "purged", each.key, who, reason, now, report.removed)
            stones.append(stone)
    store.items.forget()
    store.outcomes.forget()
    rewrite(store.database)
    return structs.replace(report, tombstone=stones[0])


def _report(connection: Any, source: Found) -> tuple[PurgeReport, PurgePlan]:
    _source, *copies = copies_of(connection, source.key)
    keys = [source.key, *(copy.key for copy in copies)]
    plan = plan_purge(connection, keys)
    report = PurgeReport(
        source=source.id,
        title=source.name,
        removed=plan.counts(),
        held_by=tuple(held_by(connection, plan.facts, plan.items)),
        copies=tuple(copies),
        sharing=tuple(sources_sharing(connection, keys)),
    )
    return report, plan


def lift_purge(
    session: Session, source: Target, *, reason: str, name: str | None = None
) -> Tombstone:
    """Lets a purged source be taken in again, and its copies with it; that too is recorded. Brings
    no text back.

    Raises BadUsage without a reason, and where the source is not purged.
    """
    store, clock, found = session.store, session.clock, session.find(source, "source")
    by = acting_name(name)
    reason = stated_reason(reason, "lifting a tombstone")
    with store.database.reading() as connection:
        stone = store.tombstones.newest(connection, found.id)
        copies = copies_of(connection, found.key)
    if stone is None or stone.kind == "lifted":
        raise BadUsage(f"source:{short(found.id)} is not purged", hint="there is nothing to lift")
    who = acting_person(store, by, clock)
    with store.database.writing() as connection:
        lifted = [
            store.tombstones.add(connection, "lifted", each.key, who, reason, clock.now())
            for each in copies
            if (stone := store.tombstones.newest(connection, each.id)) is not None
            and stone.kind == "purged"
        ]
    return lifted[0]


# Versions of banks and forms without what a purge emptied, so that work on them can go on.

_PAGE = 256


class Repaired(Struct, frozen=True, kw_only=True):
    """A version of a bank or form that holds ``n`` of the ``total`` rows of the one it replaces."""

    kind: str
    id: bytes
    name: str
    n: int
    total: int


def repair_form(session: Session, target: Target) -> list[Repaired]:
    """Makes the version of a bank without its purged facts, and that of each of its forms without
    the purged items, or of a form alone; the plain name then means the new version.

    Raises BadUsage where nothing of it was purged, BadInput where nothing is left.
    """
    store, clock, found = session.store, session.clock, session.find(target, "bank", "form")
    if found.kind == "form":
        form = _repaired_form(store, store.items.item_set(found.id), None, clock)
        if form is None:
            raise BadUsage(f"nothing of {found.name} was purged", hint="it can be used as it is")
        return [form]
    bank = store.knowledge.bank(found.id)
    facts, total = bank.readable_facts(), bank.n_facts()
    if len(facts) == total:
        raise BadUsage(f"nothing of {found.name} was purged", hint="it can be used as it is")
    if not facts:
        raise BadInput(f"nothing of {found.name} is left", hint="build another bank")
    built = store.knowledge.built_facts(facts)
    made, _is_new = store.knowledge.add_bank(bank.name, bank.method, built, clock.now())
    store.knowledge.correct_bank(made, bank.id)
    whole = Repaired(kind="bank", id=made.id, name=made.name, n=len(facts), total=total)
    forms = [store.items.item_set(each) for each in store.items.sets_of_bank(bank.id)]
    repaired = [_repaired_form(store, form, made, clock) for form in forms if form.bank == bank.id]
    return [whole, *(form for form in repaired if form is not None)]


def _repaired_form(store: Store, form: ItemSet, bank: Bank | None, clock: Clock) -> Repaired | None:
    """The form without its purged items, of the repaired bank where there is one; None where it
    lost none, or all."""
    kept = list(_readable(store, form))
    if len(kept) == form.n_items or not kept:
        return None
    made = corrected_set(form, [each.item for each in kept])
    if bank is not None:
        made = structs.replace(made, bank=bank.id)
    labels = [each.label for each in kept]
    store.items.add_set(made, [each.item for each in kept], clock.now(), labels)
    return Repaired(kind="form", id=made.id, name=made.name, n=len(kept), total=form.n_items)


def _readable(store: Store, form: ItemSet) -> Iterator[LoadedItem]:
    after = -1
    while places := store.items.places(form.id, after, _PAGE):
        for _position, key in places:
            try:
                yield store.items.one(key)
            except TextPurged:
                continue
        after = places[-1][0]
