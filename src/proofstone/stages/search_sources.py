"""Where texts are searched for: the workspace's own sources ("local"), or a search of the web."""

from __future__ import annotations

from msgspec import Struct

from proofstone.engines.retrieval import WEB_SEARCHES, WebSearchName
from proofstone.errors import BadUsage

__all__ = ["LOCAL", "SearchSource", "read_search_source"]

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
