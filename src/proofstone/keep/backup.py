"""Keeping a workspace: backup, restore, move, merge and migrate."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from proofstone import __version__
from proofstone.errors import BadUsage, Problem, SourcePurged, StoreFailed, WorkspaceUnusable
from proofstone.ingest.wiki_pages import pages_of
from proofstone.keep.purge import (
    PurgeReport,
    Repaired,
    lift_tombstone,
    preview_purge,
    purge_source,
    repair,
)
from proofstone.records.ids import short
from proofstone.search.index import parts_of
from proofstone.search.web import searches_of
from proofstone.search.web_pages import pages_from
from proofstone.session.folders import (
    CONFIG_NAME,
    MARK,
    create_folder,
    database_url,
    delete_files,
    find_folder,
)
from proofstone.session.people import acting_name
from proofstone.session.session import Session
from proofstone.session.targets import Target, find_target
from proofstone.store import schema
from proofstone.store.copies import (
    check_copy,
    copy_database,
    copy_file,
    schema_version,
    take_notes_out,
)
from proofstone.store.database import (
    Database,
    Readable,
    leave_log,
    refuse_held,
    refuse_unknown,
    snapshot,
    sqlite_file,
)
from proofstone.store.lookup import Found
from proofstone.store.merge import MergeReport, merge
from proofstone.store.purge import Tombstone, purged_there

STORE = "store.sqlite"


class BackedUp(Struct, frozen=True):
    """A backup that was written and found whole, and its size in bytes."""

    file: Path
    n_bytes: int


class Migrated(Struct, frozen=True):
    """The schema before and after; ``backup`` is what was there before, where one was made."""

    before: str
    after: str
    backup: Path | None


def back_up(folder: Path, database: Database, target: Path) -> BackedUp:
    """Copies an open workspace, as it is at this moment, into one file that is checked whole.

    ``target`` is the new file, or a folder in which it gets a name with the time. Raises BadUsage
    where the file is there already, StoreFailed where it cannot be written.
    """
    now = datetime.now(UTC)
    file = target
    if target.is_dir():
        file = target / f"{folder.absolute().name}-{now:%Y%m%d-%H%M%S}.sqlite"
    _refuse_present(file)
    copy_database(database, file, _notes(folder, now))
    return BackedUp(file, file.stat().st_size)


def restore_workspace(file: Path, folder: Path) -> str:
    """Makes the new folder ``folder`` the workspace that ``file`` is a backup of; returns the
    backup's time. Raises BadUsage where something is in the folder, and what ``check_copy`` does.
    """
    if not file.is_file():
        raise BadUsage(f"there is no file {file}", hint="name a backup's file")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadUsage(
            f"{folder} is there already, and nothing is overwritten",
            hint="name a folder that is new or empty",
        )
    check_copy(file)
    was_there = folder.is_dir()
    try:
        create_folder(folder)
        store = folder / MARK / STORE
        copy_file(file, store, {})
        notes = take_notes_out(store)
        _write_settings(folder, notes.get("settings", ""))
        Database(f"sqlite:///{store}").close()  # brought to this version's schema
    except BaseException:
        shutil.rmtree(folder if not was_there else folder / MARK, ignore_errors=True)
        raise
    return notes.get("made_at", "")


def move_workspace(folder: Path, target: Path) -> Path:
    """Moves the workspace in ``folder`` (its rows and settings, no other file) to ``target``.

    Nothing is done where a run is being worked on (RunInUse), where another process has the
    database open (WorkspaceInUse), or where ``target`` has a workspace or settings (BadUsage).
    """
    for name in (MARK, CONFIG_NAME):
        if (target / name).exists():
            raise BadUsage(f"{target / name} is there already, and nothing is overwritten")
    if target.resolve().is_relative_to((folder / MARK).resolve()):
        raise BadUsage(f"{target} is inside the workspace's own folder")
    file = sqlite_file(database_url(folder))
    with _open(folder) as database:
        refuse_held(database, time.time())
    if file is not None:
        leave_log(file)
    is_new = not target.exists()
    settings = folder / CONFIG_NAME
    try:
        target.mkdir(parents=True, exist_ok=True)
        if settings.exists():
            shutil.copy2(settings, target / CONFIG_NAME)
        database_url(target)  # refused where no workspace may be
        shutil.move(folder / MARK, target / MARK)
    except BaseException as error:
        (target / CONFIG_NAME).unlink(missing_ok=True)
        if is_new and target.is_dir():
            shutil.rmtree(target, ignore_errors=True)
        if isinstance(error, OSError):
            raise StoreFailed(f"could not move to {target}: {error.strerror or error}") from error
        raise
    settings.unlink(missing_ok=True)
    return target


def merge_from(
    folder: Path, database: Database, other: Path, *, take_purged: bool = False
) -> MergeReport:
    """Adds every row of another workspace, or of a backup's file, that this one lacks.

    The other one is only read, as it is at this moment. Names of people do not come along. Raises
    SourcePurged where it holds what was purged here, unless ``take_purged``.
    """
    url = _url_of(other)
    if url == database.url:
        raise BadUsage(f"{other} is this workspace itself", hint="name another one")
    with _at_one_moment(folder, url) as there:
        stones = [] if take_purged else purged_there(there, database)
        if stones:
            raise SourcePurged(
                f"{other} holds what was purged here; nothing was merged",
                [Problem(f"source:{short(stone.source)}", str(stone)) for stone in stones],
                hint="purge it there first, or take what is new of it with --take-purged",
            )
        return merge(there, database)


def migrate_workspace(folder: Path | None, *, with_backup: bool = True) -> Migrated:
    """Brings a workspace's schema to that of this version, after a backup beside the database.

    Rows on a server are not backed up here. Nothing is done where the schema is current.
    """
    root = find_folder(folder or Path.cwd())
    url = database_url(root)
    before = schema_version(url)
    if before == schema.HEAD:
        return Migrated(before, schema.HEAD, None)
    if before is not None:
        refuse_unknown(before, str(root))
    file, backup = sqlite_file(url), None
    if file is not None and file.exists() and before and with_backup:
        now = datetime.now(UTC)
        backup = file.with_name(f"schema-{before}-{now:%Y%m%d-%H%M%S}.sqlite")
        copy_file(file, backup, _notes(root, now))
    Database(url).close()
    return Migrated(before or "", schema.HEAD, backup)


def _notes(folder: Path, now: datetime) -> dict[str, str]:
    """What a copy says of itself beside its rows."""
    settings = folder / CONFIG_NAME
    text = settings.read_text(encoding="utf-8-sig") if settings.is_file() else ""
    return {"made_at": f"{now:%Y-%m-%d %H:%M:%S} UTC", "made_by": __version__, "settings": text}


def _write_settings(folder: Path, text: str) -> None:
    """The settings of the workspace that was backed up; its rows are in this folder now, so a
    server that they name is put into a comment."""
    if text:
        here = re.sub(r"(?m)^(\s*database_env\s*=)", r"# of the backed up workspace: \1", text)
        (folder / CONFIG_NAME).write_text(here, encoding="utf-8")


def _refuse_present(file: Path) -> None:
    if file.exists():
        raise BadUsage(f"{file} is there already, and nothing is overwritten", hint="name another")
    if not file.absolute().parent.is_dir():
        raise BadUsage(f"there is no folder {file.absolute().parent}", hint="make it first")


def _url_of(other: Path) -> str:
    """The URL of a workspace's folder or of a backup's file."""
    if other.is_file():
        check_copy(other)
        return f"sqlite:///{other.absolute()}"
    if not (other / MARK).is_dir():
        raise WorkspaceUnusable(
            f"{other} is no workspace, and no file of one",
            hint="name a workspace's folder, or a file that 'workspace backup' wrote",
        )
    return database_url(other)


@contextmanager
def _open(folder: Path) -> Iterator[Database]:
    database = Database(database_url(folder))
    try:
        yield database
    finally:
        database.close()


@contextmanager
def _at_one_moment(folder: Path, url: str) -> Iterator[Readable]:
    """Another database to read from, at one moment and with this version's schema.

    An SQLite file is copied first: it may be a backup, or of an older schema, and is not touched.
    """
    file = sqlite_file(url)
    if file is None:
        version = schema_version(url)
        if version is not None:
            refuse_unknown(version, "the other database")
        if version != schema.HEAD:
            raise WorkspaceUnusable(
                f"the other database has schema {version}, this Proofstone {schema.HEAD}",
                hint="bring it up first: proofstone workspace migrate -w OTHER",
            )
        other = Database(url)
        try:
            with snapshot(other) as frozen:
                yield frozen
        finally:
            other.close()
        return
    scratch = folder / MARK / "merging.sqlite"
    scratch.unlink(missing_ok=True)
    copy_file(file, scratch, {})
    copy = Database(f"sqlite:///{scratch}")
    try:
        yield copy
    finally:
        copy.close()
        for rest in ("", "-wal", "-shm"):
            scratch.with_name(scratch.name + rest).unlink(missing_ok=True)


# What a workspace can do for its own keeping.


def backup(session: Session, target: Path | str) -> BackedUp:
    """Copies the workspace into one file; see ``keeping.back_up``."""

    return back_up(session.folder, session.store.database, Path(target))


def merge_workspace(
    session: Session, other: Path | str, *, take_purged: bool = False
) -> MergeReport:
    """Adds what another workspace or a backup has beyond this one; see ``merge_from``."""

    return merge_from(session.folder, session.store.database, Path(other), take_purged=take_purged)


def purge(
    session: Session,
    source: Target,
    *,
    reason: str = "",
    name: str | None = None,
    dry_run: bool = False,
) -> PurgeReport:
    """Takes a source's texts, those of its copies, and those derived from them out for good;
    see ``purge_source``.
    A page of a wiki that was kept as a file goes as well, what the index keeps of it, and
    searches that were made from it, and files that exports, pages, review sheets and ``start``
    wrote of it, where they are as they were written.

    ``name`` is who does it, by default the user of this computer. With ``dry_run`` nothing is
    changed and the report says what would go.
    """
    found = find_target(session.store, source, ("source",))
    preview = preview_purge(session.store, found)
    sources = (found, *preview.copies)
    files = tuple(dict.fromkeys(file for each in sources for file in _files_of(session, each)))
    held = {each.id for each in sources} | {each.id for each in preview.held_by}
    written = session.store.written.holding(held)
    files = (*files, *(file.path for file in written if file.is_same))
    changed = tuple(file.path for file in written if not file.is_same)
    if dry_run:
        return msgspec.structs.replace(preview, files=files, changed=changed)
    who = acting_name(name)
    report = purge_source(session.store, found, reason=reason, name=who, clock=session.clock)
    delete_files(session.folder, files)
    return msgspec.structs.replace(report, files=files, changed=changed)


def _files_of(session: Session, source: Found) -> Iterator[str]:
    """The files that the workspace keeps of a source beside the database."""
    yield from pages_of(session.folder, session.store, source)
    yield from parts_of(session.folder, source.id)
    yield from searches_of(session.folder, source.id)
    yield from pages_from(session.folder, source.id)


def repair_form(session: Session, target: Target) -> list[Repaired]:
    """Makes the version of a bank or form without what was purged of it; see
    ``stages.repairing.repair``."""
    found = find_target(session.store, target, ("bank", "form"))
    return repair(session.store, found, session.clock)


def lift_purge(
    session: Session, source: Target, *, reason: str, name: str | None = None
) -> Tombstone:
    """Lets a purged source be taken in again; see ``lift_tombstone``."""
    found = find_target(session.store, source, ("source",))
    who = acting_name(name)
    return lift_tombstone(session.store, found, reason=reason, name=who, clock=session.clock)
