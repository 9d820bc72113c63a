"""Several files put into a folder together: whole or not at all, and never over another's."""

from __future__ import annotations

import hashlib
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from proofstone.errors import BadUsage, StoreFailed

__all__ = ["INDEX", "OwnFile", "check_folder", "files_into"]

INDEX = "tables.json"


class OwnFile(Struct, frozen=True):
    """A file that was written: what it holds, and the digest of its bytes."""

    name: str
    about: str
    sha256: str


class _Index(Struct, frozen=True):
    made_by: str
    files: tuple[OwnFile, ...]


def check_folder(folder: Path, names: Sequence[str]) -> None:
    """Raises BadUsage where one of these files is there already and was not written by us, or was
    changed since; where ``folder`` is a file; and where it would stand in a folder that is none."""
    if not folder.exists():
        if not folder.parent.is_dir():
            raise BadUsage(
                f"{folder}: there is no folder {folder.parent}", hint="make it, or name another"
            )
        return
    if not folder.is_dir():
        raise BadUsage(f"{folder} is a file, not a folder", hint="name another: --tables-to DIR")
    own = _untouched(folder)
    foreign = [name for name in (*names, INDEX) if (folder / name).exists() and name not in own]
    if foreign:
        shown = ", ".join(foreign[:5]) + (f" and {len(foreign) - 5} more" * (len(foreign) > 5))
        raise BadUsage(
            f"{folder} holds files that are not as they were written here: {shown}",
            hint="move them away, or name another folder: --tables-to DIR",
        )


@contextmanager
def files_into(folder: Path, made_by: str) -> Iterator[tuple[Path, dict[str, str]]]:
    """A folder to write files in, and a mapping to fill with each one's name and what it holds.

    When the block ends well they take their places in ``folder``, with an index; what an earlier
    index named and nobody changed is replaced, or gone where it is not written again. When anything
    fails all is as before. Raises what ``check_folder`` does, and StoreFailed.
    """
    is_new = not folder.exists()
    about: dict[str, str] = {}
    stage = folder / f".tables-{secrets.token_hex(4)}.part"
    try:
        stage.mkdir(parents=True)
        (stage / "new").mkdir()
        (stage / "old").mkdir()
        yield stage / "new", about
        check_folder(folder, list(about))
        _write_index(stage / "new", about, made_by)
        _swap(folder, stage, [*about, INDEX])
    except OSError as cause:
        raise StoreFailed(
            f"the tables were not written to {folder}: {cause.strerror or cause}.",
            hint="Check the folder, its permissions and the free space; what was there still is.",
        ) from cause
    finally:
        shutil.rmtree(stage, ignore_errors=True)
        if is_new and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _swap(folder: Path, stage: Path, names: Sequence[str]) -> None:
    """Moves what is replaced or no more written out of the way, then the new files in; where a
    move fails, back."""
    gone = [name for name in _untouched(folder) if (folder / name).exists()]
    moved: list[tuple[Path, Path]] = []
    try:
        moves = [(folder / name, stage / "old" / name) for name in gone]
        moves += [(stage / "new" / name, folder / name) for name in names]
        for before, after in moves:
            before.replace(after)
            moved.append((before, after))
    except OSError:
        for before, after in reversed(moved):
            after.replace(before)
        raise


def _untouched(folder: Path) -> list[str]:
    """The files there that the index names and nobody changed, and the index itself."""
    try:
        index = msgspec.json.decode((folder / INDEX).read_bytes(), type=_Index)
    except (OSError, msgspec.DecodeError):
        return []
    plain = [file for file in index.files if Path(file.name).name == file.name]
    same = [file.name for file in plain if _digest(folder / file.name) == file.sha256]
    return [*same, INDEX]


def _write_index(folder: Path, about: Mapping[str, str], made_by: str) -> None:
    files = tuple(OwnFile(name, what, _digest(folder / name)) for name, what in about.items())
    encoded = msgspec.json.format(msgspec.json.encode(_Index(made_by, files)), indent=1)
    (folder / INDEX).write_bytes(encoded + b"\n")


def _digest(path: Path) -> str:
    """The digest of a file; empty where there is none."""
    if not path.is_file():
        return ""
    return hashlib.sha256(path.read_bytes()).hexdigest()
