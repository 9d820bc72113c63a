"""Parse responses of a wiki's web API, as MediaWiki and Wikibase document them.

Nothing is sent here. A fetched page is stored as a file, which is read like any document.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec
from msgspec import Struct

from proofstone.documents.passages import Written, check_text, stated_year
from proofstone.documents.wiki import WikiArticle, article_blocks, html_article
from proofstone.errors import BadInput, BadUsage
from proofstone.files.csv import read_whole_file
from proofstone.texts.languages import said_language

# Structures of a wiki's API responses (MediaWiki, format version 2), and its errors.

_MAX_LAG_S = 5


# Parameters of every request: the format, and waiting while databases lag behind.
COMMON = {"format": "json", "formatversion": "2", "maxlag": str(_MAX_LAG_S)}


class WikiError(Exception):
    """An error reported by a wiki: its code and message."""

    def __init__(self, code: str, info: str) -> None:
        super().__init__(f"{info} ({code})")
        self.code = code


class _Revision(Struct, frozen=True):
    revid: int = 0
    timestamp: str = ""


class _Page(Struct, frozen=True):
    """A page in a response; fields that were not requested are empty.

    ``id`` replaces ``pageid`` in lists of random pages.
    """

    title: str = ""
    ns: int = 0
    id: int = 0
    pageid: int = 0
    missing: bool = False
    invalid: bool = False
    revisions: tuple[_Revision, ...] = ()
    pageprops: dict[str, str | int] = {}
    fullurl: str = ""
    canonicalurl: str = ""

    def prop(self, name: str) -> str:
        """Return a property of the page; empty if it has none of this name."""
        return str(self.pageprops.get(name, ""))


class _Renamed(Struct, frozen=True):
    from_: str = msgspec.field(name="from", default="")
    to: str = ""


class _General(Struct, frozen=True):
    sitename: str = ""
    lang: str = ""
    base: str = ""


class _Rights(Struct, frozen=True):
    url: str = ""
    text: str = ""


class _Url(Struct, frozen=True):
    base: str = ""
    scriptpath: str = ""


class _Repository(Struct, frozen=True):
    url: _Url = _Url()


class _Wikibase(Struct, frozen=True):
    repo: _Repository = _Repository()


class _Query(Struct, frozen=True):
    pages: tuple[_Page, ...] = ()
    random: tuple[_Page, ...] = ()
    normalized: tuple[_Renamed, ...] = ()
    redirects: tuple[_Renamed, ...] = ()
    general: _General = _General()
    rightsinfo: _Rights = _Rights()
    wikibase: _Wikibase = _Wikibase()


class _Parsed(Struct, frozen=True):
    text: str
    revid: int = 0


class _Error(Struct, frozen=True):
    """An error: its message is ``info``, or ``text`` or ``html`` in newer error formats."""

    code: str = ""
    info: str = ""
    text: str = ""
    html: str = ""

    @property
    def words(self) -> str:
        return (self.info or self.text or self.html)[:300]


class Answer(Struct, frozen=True):
    """A response; ``continue_`` holds the parameters for the rest."""

    query: _Query = _Query()
    parse: _Parsed = _Parsed("")
    error: _Error | None = None
    errors: tuple[_Error, ...] = ()
    continue_: dict[str, str | int] = msgspec.field(name="continue", default_factory=dict)

    @property
    def going_on(self) -> dict[str, str]:
        """Return the parameters that request the rest; empty if this is all."""
        return {key: str(value) for key, value in self.continue_.items()}


def read_answer(body: bytes, part: Literal["query", "parse"] = "query") -> Answer:
    """Return a response that has this part.

    Raises WikiError for a wiki's errors and for other content. A query without results has no part,
    but is marked as complete.
    """
    try:
        answer = msgspec.json.decode(body, type=Answer)
        parts = msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError) as cause:
        raise WikiError("unreadable", f"not a response of a wiki's API: {cause}") from cause
    for error in filter(None, (answer.error, *answer.errors)):
        raise WikiError(error.code, error.words)
    is_query = part == "query" and (
        parts.keys() & {"batchcomplete", "continue"}
        or parts.get("query", {}).keys() & set(_Query.__struct_fields__)
    )
    if not is_query and (part == "query" or "parse" not in parts):
        told = ", ".join(sorted(parts)[:5]) or "nothing"
        raise WikiError("unreadable", f"not a response of a wiki's API: it holds {told}")
    return answer


WIKI_SUFFIX = ".wikipage"


PAGE_READER = "mediawiki page 1"  # change this with every change that can alter a text


AT_ONCE = 50  # titles that a wiki takes in one request


_MAX_FILE = 64 * 2**20


_LICENSE = re.compile(
    r"creativecommons\.org/(licenses/(by(?:-nc)?(?:-sa|-nd)?)/(\d\.\d)|publicdomain/zero)"
)


class WikiAddress(Struct, frozen=True):
    """A wiki's API and the title of one of its pages; ``revision`` is 0 for the newest."""

    api: str
    title: str
    revision: int = 0


class WikiPage(Struct, frozen=True, kw_only=True):
    """A page as a wiki describes it.

    ``asked`` is the requested title; a missing page has no revision. ``address`` is its web
    address, ``wikidata`` its Q number. ``is_meanings``: it is a disambiguation page.
    """

    asked: str
    title: str
    revision: int = 0
    timestamp: str = ""
    namespace: int = 0
    page_id: int = 0
    address: str = ""
    wikidata: str = ""
    is_meanings: bool = False


class WikiFound(Struct, frozen=True, kw_only=True):
    """A response about pages: the wiki, and the pages."""

    pages: tuple[WikiPage, ...] = ()
    site: str = ""
    language: str = ""
    license: str = ""
    base: str = ""


class WikiFile(Struct, frozen=True, kw_only=True):
    """A fetched page as stored: one revision of it, and the wiki's description of itself."""

    title: str
    revision: int
    timestamp: str
    address: str
    site: str
    language: str
    license: str
    html: str


def read_address(url: str, api: str = "") -> WikiAddress:
    """Return the page of a browser address: /wiki/Title, or index.php?title=Title.

    Without ``api`` it is assumed at /w/api.php, or next to index.php if that is in the address.
    Raises BadUsage if the address names no page.
    """
    parts = urlsplit(url)
    asked = parse_qs(parts.query)
    title = next(iter(asked.get("title", [])), "")
    folder = "/w"
    if parts.path.endswith("/index.php"):
        folder = parts.path.removesuffix("/index.php")
    if not title and "/wiki/" in parts.path:
        title = unquote(parts.path.partition("/wiki/")[2])
    elif not title and api:
        title = unquote(parts.path.rpartition("/")[2])
    if not title.strip() or not parts.hostname:
        raise BadUsage(
            f"{url} is not the address of a wiki page",
            hint=(
                "use an address such as https://en.wikipedia.org/wiki/Copper, or give --wiki-api"
            ),
        )
    old = next(iter(asked.get("oldid", [])), "")
    return WikiAddress(
        api or f"{parts.scheme}://{parts.netloc}{folder}/api.php",
        " ".join(title.replace("_", " ").split()),
        int(old) if old.isascii() and old.isdigit() and len(old) < 16 else 0,
    )


def read_titles(file: Path) -> tuple[str, ...]:
    """Return the titles in a file, one per line. Raises NotFound, BadInput if it is not UTF-8."""
    try:
        lines = read_whole_file(file).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as cause:
        raise BadInput(f"{file.name} is not UTF-8 ({cause})") from cause
    return tuple(dict.fromkeys(line.strip() for line in lines if line.strip()))


def read_found(answer: Answer, asked: Sequence[str]) -> WikiFound:
    """Return a response about the ``asked`` pages; a page may be split over several responses."""
    query = answer.query
    leads = {step.from_: step.to for step in (*query.normalized, *query.redirects)}
    pages = {page.title: page for page in query.pages}
    found = []
    for title in asked:
        at, steps = title, 0
        while at in leads and at not in pages and steps < 5:
            at, steps = leads[at], steps + 1
        page = pages.get(at)
        if page is not None:
            found.append(_page(title, page))
    return WikiFound(
        pages=tuple(found),
        site=query.general.sitename,
        language=said_language(query.general.lang),
        license=_license(query.rightsinfo),
        base=query.general.base,
    )


def _page(asked: str, page: _Page) -> WikiPage:
    revision = page.revisions[0] if page.revisions else _Revision()
    return WikiPage(
        asked=asked,
        title=page.title,
        revision=revision.revid,
        timestamp=revision.timestamp,
        namespace=page.ns,
        page_id=page.pageid,
        address=page.canonicalurl or page.fullurl,
        wikidata=page.prop("wikibase_item"),
        is_meanings="disambiguation" in page.pageprops,
    )


def _license(rights: _Rights) -> str:
    """Return a license's short name if its address is one of Creative Commons'."""
    found = _LICENSE.search(rights.url)
    if found is None:
        return rights.text.strip()[:200]
    return f"CC-{found[2].upper()}-{found[3]}" if found[2] else "CC0-1.0"


def read_fetched(path: Path) -> WikiFile:
    """Return a stored page. Raises BadInput for other files."""
    try:
        return msgspec.json.decode(read_whole_file(path, limit=_MAX_FILE), type=WikiFile)
    except (msgspec.DecodeError, UnicodeDecodeError) as cause:
        raise BadInput(f"{path.name} is not a stored wiki page ({cause})") from cause


def read_wiki_file(path: Path) -> Written:
    """Return a stored page as a document. Raises BadInput for other files, or without text."""
    page = read_fetched(path)
    blocks = article_blocks(page.html.encode(), page.title)
    check_text(blocks, page.title)
    return Written(
        pages=[blocks],
        title=page.title,
        authors=(page.site,) if page.site else (),
        year=stated_year([page.timestamp[:4]]),
        language=page.language or "en",
        license=page.license,
        origin=page.address,
        detail=f"revision {page.revision} of {page.timestamp}",
    )


def fetched_article(path: Path) -> WikiArticle:
    """Return the article of a stored page of a live wiki. Raises BadInput for other files."""
    page = read_fetched(path)
    blank = WikiArticle(
        key=str(page.revision), title=page.title, language=page.language,
        date=page.timestamp[:10], url=page.address,
    )  # fmt: skip
    return html_article(blank, page.html.encode(), page.title)
