"""What meets where rows of a build come from live wikis and searches of the web.

What is asked of them is asked before the steps begin, and kept: reading it again sends nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

__all__ = ["OnlineRows", "OnlineTexts", "OnlineWanted", "WebText", "WikiText"]


class OnlineWanted(Struct, frozen=True, kw_only=True):
    """What a build wants: of the wiki whose API is at ``wiki`` the article of each list of
    ``names`` (that of the first name that leads to one), and ``n_drawn`` that the wiki draws, known
    by ``seed``; with ``statements`` how much Wikidata says of each. Of ``search`` the first
    ``n_pages`` pages for each query. Empty names mean that neither is asked."""

    wiki: str = ""
    names: tuple[tuple[str, ...], ...] = ()
    n_drawn: int = 0
    seed: int = 0
    statements: bool = False
    search: str = ""
    queries: tuple[str, ...] = ()
    n_pages: int = 20


class WikiText(Struct, frozen=True, kw_only=True):
    """An article as it was when it was fetched: ``date`` is the day of its revision, ``content``
    the hex SHA-256 of its text, ``asked`` the name that led to it. ``statements`` is None where
    their number is not known; ``trouble`` says why there is no text."""

    asked: str
    title: str
    text: str = ""
    page_id: str = ""
    url: str = ""
    date: str = ""
    content: str = ""
    language: str = ""
    wikidata: str = ""
    statements: int | None = None
    is_meanings: bool = False
    trouble: str = ""


class WebText(Struct, frozen=True, kw_only=True):
    """A page that a search found: its whole text, or the ``problem`` for which it has none.
    ``shown`` is what the search showed of it, ``date`` the day on which it was fetched, ``content``
    the hex SHA-256 of its bytes, ``source`` the id of the source that it is kept as."""

    url: str
    title: str
    shown: str = ""
    text: str = ""
    date: str = ""
    content: str = ""
    language: str = ""
    source: bytes = b""
    problem: str = ""
    detail: str = ""


class OnlineTexts(Protocol):
    """What was found, as often as it is read."""

    def title(self, names: Sequence[str]) -> str:
        """The title of the article to which the first name leads that leads to one; empty where
        none does."""

    def article(self, names: Sequence[str]) -> WikiText | None:
        """That article; None where there is none."""

    def drawn(self) -> Iterator[WikiText]:
        """The articles that the wiki drew."""

    def pages(self, query: str) -> Sequence[WebText]:
        """The pages for a query, best first, those among them that could not be read."""


class OnlineRows(Struct, frozen=True, kw_only=True):
    """How rows that enter a build come from online: what is wanted for its inputs, parameters,
    ``--per-input`` and seed (None: nothing), and then the rows, each with the id of the source
    that its text is of (empty for none). ``names`` are inputs that mean something online by a plain
    name."""

    wants: Callable[[Sequence[str], Mapping[str, Any], int | None, int], OnlineWanted | None]
    rows: Callable[
        [Sequence[str], Mapping[str, Any], int | None, int, OnlineTexts],
        Iterable[tuple[Struct, bytes]],
    ]
    names: tuple[str, ...] = ()
