"""What a person has allowed to leave, kept in the workspace's folder: one line a permission."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from proofstone.errors import StoreFailed, WorkspaceUnusable

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


# What left besides the calls of models: queries to searches, addresses of pages, texts to embed.
#
# No text is kept of it, only that it was sent, where to, and of which sources: a line a lot, in a
# file of this machine that is in no backup, export or merge.

_SENT_BESIDE_NAME = "sent.jsonl"


BesideKind = Literal["embedded", "searched", "fetched"]


class SentBeside(Struct, frozen=True, kw_only=True):
    """Requests that went to one endpoint (its address without credentials) for one reason, by a
    model or search of this name; the titles of the ``sources`` that they were made from."""

    at: float
    endpoint: str
    what: BesideKind
    by: str
    requests: int
    n_bytes: int = 0
    tokens: int = 0
    cost_usd: float | None = None
    sources: tuple[str, ...] = ()


class SentLog:
    """The lines of one folder. One that cannot be read is left out; one that cannot be written
    ends nothing: the request has left."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _SENT_BESIDE_NAME

    def lines(self) -> list[SentBeside]:
        """All of them, in the order in which they were written."""
        found = []
        with suppress(OSError):
            for line in self._path.read_bytes().splitlines():
                with suppress(msgspec.MsgspecError, UnicodeDecodeError):
                    found.append(msgspec.json.decode(line, type=SentBeside))
        return found

    def add(self, lines: Sequence[SentBeside]) -> None:
        """Adds lines."""
        with suppress(OSError), self._path.open("ab") as file:
            file.write(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
