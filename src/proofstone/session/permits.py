"""What is about to leave, and what a person has allowed to: a line a permission in the folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, Protocol

import msgspec
from msgspec import Struct

from proofstone.errors import StoreFailed, WorkspaceUnusable
from proofstone.store.provenance import Origin

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


class Outgoing(Struct, frozen=True, kw_only=True):
    """What one or more runs would send to one place: questions, requests (each sample counts, and
    what the cache may spare), characters of their first prompts (estimated from some), origins. Of
    a build the items are rows (``noun``). ``passages`` of the sources are sent in their own words
    with questions; of pages that go as images each is one, and has no characters."""

    items: int = 0
    noun: str = "question"
    requests: int = 0
    characters: int = 0
    origins: tuple[Origin, ...] = ()
    passages: int = 0

    def __add__(self, other: Outgoing) -> Outgoing:
        """Both, of different item sets."""
        return Outgoing(
            items=self.items + other.items,
            noun=other.noun,
            requests=self.requests + other.requests,
            characters=self.characters + other.characters,
            origins=joined_origins([*self.origins, *other.origins], lambda a, b: a + b),
            passages=self.passages + other.passages,
        )

    def again(self, other: Outgoing) -> Outgoing:
        """Both, of one item set: its questions are counted once."""
        return Outgoing(
            items=max(self.items, other.items),
            noun=other.noun,
            requests=self.requests + other.requests,
            characters=self.characters + other.characters,
            origins=joined_origins([*self.origins, *other.origins], max),
            passages=max(self.passages, other.passages),
        )


def joined_origins(
    origins: Iterable[Origin], count: Callable[[int, int], int]
) -> tuple[Origin, ...]:
    """Merge origins with the same title and license; ``count`` combines two numbers."""
    found: dict[tuple[str, str], Origin] = {}
    for origin in origins:
        key = (origin.title, origin.license)
        known = found.get(key)
        if known is not None:
            names = tuple(sorted({*origin.names, *known.names}))
            n_items = count(origin.n_items, known.n_items)
            found[key] = Origin(origin.title, origin.license, n_items, names)
        else:
            found[key] = origin
    return tuple(found[key] for key in sorted(found))


class Leaving(Struct, frozen=True, kw_only=True):
    """What is about to be sent to one host, by which models, and whether it needs a person's word:
    "listed" in the policy, "permitted" before, "new" (the origins in ``asked``), or a "probe" that
    holds nothing of the workspace."""

    to: str
    models: tuple[str, ...]
    state: Literal["listed", "permitted", "new", "probe"]
    outgoing: Outgoing = Outgoing()
    asked: tuple[Origin, ...] = ()


class AskEgress(Protocol):
    """Tells a person what is about to be sent; for a "new" one the answer is how it was permitted
    ("asked", "--yes"), or "" where it was not. For all others the answer means nothing."""

    def __call__(self, leaving: Leaving) -> str:
        """How it was permitted."""
        ...
