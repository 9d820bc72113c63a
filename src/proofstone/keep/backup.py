"""Backup, restore, move, merge and migration of a workspace."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from proofstone import __version__
from proofstone.errors import BadUsage, Problem, SourcePurged, StoreFailed, WorkspaceUnusable
from proofstone.files.csv import missing_file
from proofstone.records.ids import short
from proofstone.session.folders import (
    CONFIG_NAME,
    MARK,
    create_folder,
    database_url,
    find_folder,
)
from proofstone.session.session import Session
from proofstone.store import schema
from proofstone.store.copies import (
    MergeReport,
    check_copy,
    copy_database,
    copy_file,
    merge,
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
from proofstone.store.purge import purged_there

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


def backup(session: Session, target: Path | str) -> BackedUp:
    """Copies the workspace, as it is at this moment, into one file that is checked whole.

    ``target`` is the new file, or a folder in which it gets a name with the time. Raises BadUsage
    where the file is there already, StoreFailed where it cannot be written.
    """
    now, file = datetime.now(UTC), Path(target)
    if file.is_dir():
        file /= f"{session.folder.absolute().name}-{now:%Y%m%d-%H%M%S}.sqlite"
    _refuse_present(file)
    copy_database(session.store.database, file, _notes(session.folder, now))
    return BackedUp(file, file.stat().st_size)


def restore_workspace(file: Path, folder: Path) -> str:
    """Makes the new folder ``folder`` the workspace that ``file`` is a backup of; returns the
    backup's time. Raises BadUsage where something is in the folder, and what ``check_copy`` does.
    """
    if not file.is_file():
        raise missing_file(file, "name the file of a backup")
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
    with closing(Database(database_url(folder))) as database:
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


def merge_workspace(
    session: Session, other: Path | str, *, take_purged: bool = False
) -> MergeReport:
    """Adds every row of another workspace, or of a backup's file, that this one lacks.

    The other one is only read, as it is at this moment. Names of people do not come along. Raises
    SourcePurged where it holds what was purged here, unless ``take_purged``.
    """
    database = session.store.database
    url = _url_of(Path(other))
    if url == database.url:
        raise BadUsage(f"{other} is this workspace itself", hint="name another one")
    with _at_one_moment(session.folder, url) as there:
        stones = [] if take_purged else purged_there(there, database)
        if stones:
            raise SourcePurged(
                f"{other} holds what was purged here; nothing was merged",
                [Problem(f"source:{short(stone.source)}", str(stone)) for stone in stones],
                hint="purge it there first, or take what is new of it with --take-purged",
            )
        return merge(there, database)


def migrate_workspace(folder: Path | None, *, with_backup: bool = True) -> Migrated:
    """Upgrade a workspace's schema to this version's, after a backup next to the database.

    A database on a server is not backed up. Does nothing if the schema is current.
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
    """Return the metadata that a copy stores: time, version and settings."""
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
            f"{other} is neither a workspace nor a backup",
            hint="name a workspace's folder, or a file that 'workspace backup' wrote",
        )
    return database_url(other)


@contextmanager
def _at_one_moment(folder: Path, url: str) -> Iterator[Readable]:
    """Open another database for reading, at one moment and with this version's schema.

    An SQLite file is copied first and never changed: it may be a backup, or have an older schema.
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
        with closing(Database(url)) as other, snapshot(other) as frozen:
            yield frozen
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
