"""What meets where a text is searched for: a workspace's own sources, or the web."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

__all__ = ["FoundText", "Searcher"]


class FoundText(Struct, frozen=True, kw_only=True):
    """A text that a search found. It stands verbatim at [start, end) (code points) of the text of a
    stored ``passage`` (its id), which is of ``source`` (its id) with this title; ``address`` is
    where a page of the web lay, ``is_web`` whether it is one that a search of the web found."""

    text: str
    passage: bytes
    start: int
    end: int
    source: bytes
    title: str
    address: str = ""
    is_web: bool = False


class Searcher(Protocol):
    """Texts near a query, best first; fewer than ``n`` where fewer fit. ``name`` says who searches
    ("local", "brave", "searxng:bing").

    ``made_from`` are the ids of sources whose text stands behind the query: it leaves this machine
    only where each of them may. Raises CallFailed where the search failed, which is not the same as
    nothing found: let it pass, and try again another time.
    """

    name: str

    async def __call__(
        self, query: str, n: int, *, made_from: Sequence[bytes] = ()
    ) -> Sequence[FoundText]: ...
