"""Where texts are searched for: the workspace's own sources ("local"), or a search of the web."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from proofstone.errors import BadUsage
from proofstone.records.models import WEB_SEARCHES, WebSearchName
from proofstone.session.folders import MARK

if TYPE_CHECKING:
    from proofstone.search.index import PartFiles


LOCAL = "local"


class SearchSource(Struct, frozen=True):
    """A place to search: ``web`` is None for the workspace's own sources, else the search; of
    SearXNG with the ``engines`` that it is to ask ("bing,baidu"), where they are named."""

    web: WebSearchName | None = None
    engines: str = ""

    @property
    def name(self) -> str:
        """As a person writes it: ``local``, ``brave``, ``searxng:bing+baidu``."""
        if self.web is None:
            return LOCAL
        return f"{self.web}:{self.engines.replace(',', '+')}" if self.engines else self.web


def read_search_source(text: str) -> SearchSource:
    """What a name means; engines of SearXNG stand behind a colon, with + between them. Raises
    BadUsage."""
    name, colon, engines = text.partition(":")
    names = [each.strip() for each in engines.split("+") if each.strip()]
    if name == LOCAL and not colon:
        return SearchSource()
    for web in WEB_SEARCHES:
        if name == web and (not colon or (web == "searxng" and names)):
            return SearchSource(web, ",".join(names))
    raise BadUsage(
        f"nothing can be searched by the name {text!r}",
        hint=f"{LOCAL}, {', '.join(WEB_SEARCHES)}, or engines of SearXNG: searxng:bing+baidu",
    )


# Where a workspace keeps its index of passages: derived, beside the database, never copied.


def index_files(folder: Path) -> PartFiles:
    """The files of a workspace's index."""
    from proofstone.search.index import PartFiles  # noqa: PLC0415

    return PartFiles(folder / MARK / "retrieval")


def parts_of(folder: Path, source: bytes) -> tuple[str, ...]:
    """What is kept of a source, relative to the workspace; none where it was never searched."""
    files = index_files(folder).of_source(source)
    return tuple(file.relative_to(folder).as_posix() for file in files)
