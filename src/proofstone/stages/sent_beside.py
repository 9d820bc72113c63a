"""What left besides the calls of models: queries to searches, addresses of pages, texts to embed.

No text is kept of it, only that it was sent, where to, and of which sources: a line a lot, in a
file of this machine that is in no backup, export or merge.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

__all__ = ["BesideKind", "SentBeside", "SentLog"]

_NAME = "sent.jsonl"
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
        self._path = folder / _NAME

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
