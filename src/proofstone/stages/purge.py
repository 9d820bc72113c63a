"""Purging a source: what would go, doing it, and what it touched."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, structs

from proofstone.engines.store import (
    Found,
    HeldBy,
    PurgePlan,
    Store,
    Tombstone,
    copies_of,
    empty_rows,
    held_by,
    plan_purge,
    refuse_held,
    rewrite,
    sources_sharing,
)
from proofstone.errors import BadUsage
from proofstone.identity import short
from proofstone.ports import Clock
from proofstone.stages.acting import acting_person, stated_reason

__all__ = ["PurgeReport", "lift_tombstone", "preview_purge", "purge_source"]


class PurgeReport(Struct, frozen=True, kw_only=True):
    """Texts by kind that go or went, and the banks, forms and runs that held the source.

    ``copies`` are sources of the same content under another title or license, which go with it;
    ``sharing`` others that hold some of the same passages, which stay. ``files`` are those that
    the workspace keeps of it beside the database, relative to its folder, and those that commands
    wrote of it; ``changed`` were changed after they were written, and stay.
    ``tombstone`` is None where nothing was done.
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


def preview_purge(store: Store, source: Found) -> PurgeReport:
    """What a purge would take out; changes nothing."""
    with store.database.reading() as connection:
        return _report(connection, source)[0]


def purge_source(
    store: Store, source: Found, *, reason: str, name: str, clock: Clock
) -> PurgeReport:
    """Takes every text of a source, of its copies and of what was derived from them out of the
    database for good.

    Rows keep their hashes, scores and calls their values, usage and costs; a tombstone for each
    source says that the person whom ``name`` means did it, when and why. Doing it again finishes a
    purge that was cut off. Raises RunInUse while a run is worked on, BadUsage without a reason,
    WorkspaceInUse where another process keeps the old texts in the log.
    """
    reason = stated_reason(reason, "a purge")
    now = clock.now()
    refuse_held(store.database, now)
    who = acting_person(store, name, clock)
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


def lift_tombstone(
    store: Store, source: Found, *, reason: str, name: str, clock: Clock
) -> Tombstone:
    """Lets a purged source be taken in again, and its copies with it; that too is recorded. Brings
    no text back.

    Raises BadUsage without a reason, and where the source is not purged.
    """
    reason = stated_reason(reason, "lifting a tombstone")
    with store.database.reading() as connection:
        stone = store.tombstones.newest(connection, source.id)
        copies = copies_of(connection, source.key)
    if stone is None or stone.kind == "lifted":
        raise BadUsage(f"source:{short(source.id)} is not purged", hint="there is nothing to lift")
    who = acting_person(store, name, clock)
    with store.database.writing() as connection:
        lifted = [
            store.tombstones.add(connection, "lifted", each.key, who, reason, clock.now())
            for each in copies
            if (stone := store.tombstones.newest(connection, each.id)) is not None
            and stone.kind == "purged"
        ]
    return lifted[0]
