"""Purging a source: what would go, doing it, and what it touched."""

from __future__ import annotations

from msgspec import Struct

from proofstone.engines.store import (
    Found,
    HeldBy,
    Store,
    Tombstone,
    empty_rows,
    held_by,
    plan_purge,
    refuse_held,
    rewrite,
)
from proofstone.errors import BadUsage
from proofstone.identity import short
from proofstone.ports import Clock
from proofstone.stages.acting import acting_person, stated_reason

__all__ = ["PurgeReport", "lift_tombstone", "preview_purge", "purge_source"]


class PurgeReport(Struct, frozen=True, kw_only=True):
    """Texts by kind that go or went, and the banks, forms and runs that held the source.

    ``files`` are those that the workspace keeps of it beside the database, relative to its folder,
    and those that commands wrote of it; ``changed`` were changed after they were written, and stay.
    ``tombstone`` is None where nothing was done.
    """

    source: bytes
    title: str
    removed: dict[str, int]
    held_by: tuple[HeldBy, ...]
    files: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    tombstone: Tombstone | None = None


def preview_purge(store: Store, source: Found) -> PurgeReport:
    """What a purge would take out; changes nothing."""
    with store.database.reading() as connection:
        plan = plan_purge(connection, source.key)
        return PurgeReport(
            source=source.id,
            title=source.name,
            removed=plan.counts(),
            held_by=tuple(held_by(connection, plan.facts, plan.items)),
        )


def purge_source(
    store: Store, source: Found, *, reason: str, name: str, clock: Clock
) -> PurgeReport:
    """Takes every text of a source and of what was derived from it out of the database for good.

    Rows keep their hashes, scores and calls their values, usage and costs; a tombstone says that
    the person whom ``name`` means did it, when and why. Doing it again finishes a purge that was
    cut off. Raises RunInUse while a run is worked on, BadUsage without a reason, WorkspaceInUse
    where another process keeps the old texts in the log.
    """
    reason = stated_reason(reason, "a purge")
    now = clock.now()
    refuse_held(store.database, now)
    who = acting_person(store, name, clock)
    with store.database.writing() as connection:
        plan = plan_purge(connection, source.key)
        holders, counts = tuple(held_by(connection, plan.facts, plan.items)), plan.counts()
        empty_rows(connection, plan)
        stone = store.tombstones.newest(connection, source.id)
        if stone is None or stone.kind == "lifted" or any(counts.values()):
            add = store.tombstones.add
            stone = add(connection, "purged", source.key, who, reason, now, counts)
    store.items.forget()
    store.outcomes.forget()
    rewrite(store.database)
    return PurgeReport(
        source=source.id, title=source.name, removed=counts, held_by=holders, tombstone=stone
    )


def lift_tombstone(
    store: Store, source: Found, *, reason: str, name: str, clock: Clock
) -> Tombstone:
    """Lets a purged source be taken in again; that too is recorded. Brings no text back.

    Raises BadUsage without a reason, and where the source is not purged.
    """
    reason = stated_reason(reason, "lifting a tombstone")
    with store.database.reading() as connection:
        stone = store.tombstones.newest(connection, source.id)
    if stone is None or stone.kind == "lifted":
        raise BadUsage(f"source:{short(source.id)} is not purged", hint="there is nothing to lift")
    who = acting_person(store, name, clock)
    with store.database.writing() as connection:
        return store.tombstones.add(connection, "lifted", source.key, who, reason, clock.now())
