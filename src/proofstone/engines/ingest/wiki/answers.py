"""The shapes of what a wiki's web API answers (MediaWiki, format version 2), and its errors."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct

__all__ = ["COMMON", "Answer", "Page", "Revision", "Rights", "WikiError", "read_answer"]

_MAX_LAG_S = 5
# What every request says: which format it reads, and that it waits while databases lag behind.
COMMON = {"format": "json", "formatversion": "2", "maxlag": str(_MAX_LAG_S)}


class WikiError(Exception):
    """A wiki's own error: its code, and its words."""

    def __init__(self, code: str, info: str) -> None:
        super().__init__(f"{info} ({code})")
        self.code = code


class Revision(Struct, frozen=True):
    """A revision of a page."""

    revid: int = 0
    timestamp: str = ""


class Page(Struct, frozen=True):
    """A page in an answer; what was not asked for is empty. ``id`` stands for ``pageid`` in lists
    of random pages."""

    title: str = ""
    ns: int = 0
    id: int = 0
    pageid: int = 0
    missing: bool = False
    invalid: bool = False
    revisions: tuple[Revision, ...] = ()
    pageprops: dict[str, str | int] = {}
    fullurl: str = ""
    canonicalurl: str = ""

    def prop(self, name: str) -> str:
        """A property of the page, empty where it has none of this name."""
        return str(self.pageprops.get(name, ""))


class Renamed(Struct, frozen=True):
    """A title that stands for another."""

    from_: str = msgspec.field(name="from", default="")
    to: str = ""


class General(Struct, frozen=True):
    """What a wiki is."""

    sitename: str = ""
    lang: str = ""
    base: str = ""


class Rights(Struct, frozen=True):
    """The licence of a wiki's texts."""

    url: str = ""
    text: str = ""


class _Url(Struct, frozen=True):
    base: str = ""
    scriptpath: str = ""


class Repository(Struct, frozen=True):
    """Where the statements about a wiki's pages are kept (Wikidata)."""

    url: _Url = _Url()


class _Wikibase(Struct, frozen=True):
    repo: Repository = Repository()


class Query(Struct, frozen=True):
    """What a query found."""

    pages: tuple[Page, ...] = ()
    random: tuple[Page, ...] = ()
    normalized: tuple[Renamed, ...] = ()
    redirects: tuple[Renamed, ...] = ()
    general: General = General()
    rightsinfo: Rights = Rights()
    wikibase: _Wikibase = _Wikibase()


class _Parsed(Struct, frozen=True):
    text: str
    revid: int = 0


class _Error(Struct, frozen=True):
    """An error: its words are ``info``; ``text`` or ``html`` in the list of newer error formats."""

    code: str = ""
    info: str = ""
    text: str = ""
    html: str = ""

    @property
    def words(self) -> str:
        """What the wiki says of it."""
        return (self.info or self.text or self.html)[:300]


class Answer(Struct, frozen=True):
    """An answer; ``continue_`` is what to ask on with."""

    query: Query = Query()
    parse: _Parsed = _Parsed("")
    error: _Error | None = None
    errors: tuple[_Error, ...] = ()
    continue_: dict[str, str | int] = msgspec.field(name="continue", default_factory=dict)

    @property
    def going_on(self) -> dict[str, str]:
        """What asks for the rest; empty where this is all."""
        return {key: str(value) for key, value in self.continue_.items()}


def read_answer(body: bytes, part: Literal["query", "parse"] = "query") -> Answer:
    """An answer that has this part. Raises WikiError for a wiki's own errors and for what is no
    such answer; a query that finds nothing has no part, but says that it is complete."""
    try:
        answer = msgspec.json.decode(body, type=Answer)
        parts = msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError) as cause:
        raise WikiError("unreadable", f"The answer is none of a wiki's API: {cause}") from cause
    for error in filter(None, (answer.error, *answer.errors)):
        raise WikiError(error.code, error.words)
    is_query = part == "query" and (
        parts.keys() & {"batchcomplete", "continue"}
        or parts.get("query", {}).keys() & set(Query.__struct_fields__)
    )
    if not is_query and (part == "query" or "parse" not in parts):
        told = ", ".join(sorted(parts)[:5]) or "nothing"
        raise WikiError("unreadable", f"The answer is none of a wiki's API: it holds {told}")
    return answer
