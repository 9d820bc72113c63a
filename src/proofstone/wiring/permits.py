"""What a person has allowed to leave, kept in the workspace's folder: one line a permission."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from proofstone.errors import StoreFailed, WorkspaceUnusable

__all__ = ["Permits"]

_NAME = "permitted.jsonl"


class _Line(Struct, frozen=True):
    """To which host, which titles, when (seconds since the epoch), and how it was said."""

    host: str
    titles: tuple[str, ...]
    at: float
    by: str


class Permits:
    """The permissions of one workspace, on this machine: never merged or exported. A line that is
    deleted is a permission withdrawn."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _NAME

    def titles(self, host: str) -> frozenset[str]:
        """What may go to a host. Raises WorkspaceUnusable where the file cannot be read."""
        try:
            lines = self._path.read_bytes().splitlines()
            read = [msgspec.json.decode(line, type=_Line) for line in lines if line.strip()]
        except FileNotFoundError:
            return frozenset()
        except (OSError, msgspec.MsgspecError) as error:
            raise WorkspaceUnusable(
                f"{self._path} cannot be read: {error}",
                hint="delete it, and you are asked again before anything is sent",
            ) from error
        return frozenset(title for line in read if line.host == host for title in line.titles)

    def add(self, host: str, titles: Iterable[str], *, at: float, by: str) -> None:
        """Keeps a permission. Raises StoreFailed where it cannot: it would be asked for again."""
        line = msgspec.json.encode(_Line(host, tuple(sorted(titles)), at, by))
        try:
            with self._path.open("ab") as file:
                file.write(line + b"\n")
        except OSError as error:
            raise StoreFailed(f"cannot write {self._path}: {error.strerror or error}") from error
