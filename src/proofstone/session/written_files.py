"""Several files put into a folder together: whole or not at all, and never over another's."""

from __future__ import annotations

import hashlib
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from proofstone.errors import BadUsage, ProofstoneError, StoreFailed
from proofstone.files.tables import read_rows
from proofstone.files.write import write_rows

# Files of flagged items: decisions that a person entered are never overwritten.


def write_flagged_items_file(
    path: Path, rows: Iterable[Mapping[str, Any]], *, columns: Sequence[str] | None = None
) -> int:
    """Write rows of flagged items, and return their number.

    Raises BadUsage if the file exists and contains other decisions on listed items. Otherwise as
    ``write_rows``.
    """
    listed = list(rows)
    proposed = {str(row.get("target", "")): str(row.get("decision") or "") for row in listed}
    kept = _decisions(path).items()
    lost = sum(proposed.get(target, decision) != decision for target, decision in kept)
    if lost:
        raise BadUsage(
            f"{path} holds {lost} decisions that would be lost",
            hint="apply them first (proofstone correct apply FILE), or name another file",
        )
    return write_rows(path, listed, columns=columns)


def _decisions(path: Path) -> dict[str, str]:
    """Return the decisions in a file by target; empty if the file has no such rows."""
    if not path.is_file():
        return {}
    try:
        rows = [row.values for row in read_rows(path)]
    except ProofstoneError:
        return {}
    return {
        str(row["target"]): str(row["decision"]).strip()
        for row in rows
        if row.get("target") and str(row.get("decision") or "").strip()
    }


class Shelf(Struct, frozen=True):
    """What kind of files a folder is for: their name in sentences, the index that lists them, and
    the option that names the folder."""

    what: str
    index: str
    option: str


TABLES = Shelf("tables", "tables.json", "--tables-to")


FIGURES = Shelf("figures", "figures.json", "--figures-to")


HELD = Shelf("rows", "rows.json", "-o")


class OwnFile(Struct, frozen=True):
    """A file that was written: what it holds, and the digest of its bytes."""

    name: str
    about: str
    sha256: str


class _Index(Struct, frozen=True):
    made_by: str
    files: tuple[OwnFile, ...]


def check_folder(folder: Path, names: Sequence[str], shelf: Shelf = TABLES) -> None:
    """Raise BadUsage if one of these files exists and is not an unchanged file of ours. Also raises
    it if ``folder`` is a file or has no parent folder."""
    if not folder.exists():
        if not folder.parent.is_dir():
            raise BadUsage(
                f"{folder}: there is no folder {folder.parent}", hint="make it, or name another"
            )
        return
    if not folder.is_dir():
        raise BadUsage(
            f"{folder} is a file, not a folder", hint=f"name another: {shelf.option} DIR"
        )
    own = _untouched(folder, shelf.index)
    foreign = [
        name for name in (*names, shelf.index) if (folder / name).exists() and name not in own
    ]
    if foreign:
        shown = ", ".join(foreign[:5]) + (f" and {len(foreign) - 5} more" * (len(foreign) > 5))
        raise BadUsage(
            f"{folder} holds files that are not as they were written here: {shown}",
            hint=f"move them away, or name another folder: {shelf.option} DIR",
        )


@contextmanager
def files_into(
    folder: Path, made_by: str, shelf: Shelf = TABLES
) -> Iterator[tuple[Path, dict[str, str]]]:
    """Open a folder to write files in, and a mapping to fill with each file's name and contents.

    At the end the files are moved into ``folder`` with an index. Unchanged files of an earlier
    index are replaced or removed. After an error everything is as before. Raises what
    ``check_folder`` does, and StoreFailed.
    """
    is_new = not folder.exists()
    about: dict[str, str] = {}
    stage = folder / f".{shelf.what}-{secrets.token_hex(4)}.part"
    try:
        stage.mkdir(parents=True)
        (stage / "new").mkdir()
        (stage / "old").mkdir()
        yield stage / "new", about
        check_folder(folder, list(about), shelf)
        _write_index(stage / "new" / shelf.index, about, made_by)
        _swap(folder, stage, [*about], shelf.index)
    except OSError as cause:
        raise StoreFailed(
            f"the {shelf.what} were not written to {folder}: {cause.strerror or cause}.",
            hint="Check the folder, its permissions and the free space; what was there still is.",
        ) from cause
    finally:
        shutil.rmtree(stage, ignore_errors=True)
        if is_new and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def take_away(folder: Path, shelf: Shelf) -> None:
    """Remove the unchanged files that were written into a folder, and the folder if it is then
    empty. Raises StoreFailed if a file cannot be removed."""
    if not (folder / shelf.index).is_file():
        return
    try:
        for name in _untouched(folder, shelf.index):
            (folder / name).unlink(missing_ok=True)
        if not any(folder.iterdir()):
            folder.rmdir()
    except OSError as cause:
        raise StoreFailed(
            f"the {shelf.what} in {folder} were not removed: {cause.strerror or cause}.",
            hint="Check the folder and its permissions; remove it by hand.",
        ) from cause


def _swap(folder: Path, stage: Path, names: Sequence[str], index: str) -> None:
    """Moves what is replaced or no more written out of the way, then the new files in; where a
    move fails, back."""
    gone = [name for name in _untouched(folder, index) if (folder / name).exists()]
    moved: list[tuple[Path, Path]] = []
    try:
        moves = [(folder / name, stage / "old" / name) for name in gone]
        moves += [(stage / "new" / name, folder / name) for name in [*names, index]]
        for before, after in moves:
            before.replace(after)
            moved.append((before, after))
    except OSError:
        for before, after in reversed(moved):
            after.replace(before)
        raise


def _untouched(folder: Path, index: str) -> list[str]:
    """Return the unchanged files that the index lists, and the index itself."""
    try:
        known = msgspec.json.decode((folder / index).read_bytes(), type=_Index)
    except (OSError, msgspec.DecodeError):
        return []
    plain = [file for file in known.files if Path(file.name).name == file.name]
    same = [file.name for file in plain if _digest(folder / file.name) == file.sha256]
    return [*same, index]


def _write_index(path: Path, about: Mapping[str, str], made_by: str) -> None:
    files = tuple(
        OwnFile(name, what, _digest(path.with_name(name))) for name, what in about.items()
    )
    encoded = msgspec.json.format(msgspec.json.encode(_Index(made_by, files)), indent=1)
    path.write_bytes(encoded + b"\n")


def _digest(path: Path) -> str:
    """The digest of a file; empty where there is none."""
    if not path.is_file():
        return ""
    return hashlib.sha256(path.read_bytes()).hexdigest()
