"""The protocol of a wiki's web API: what to ask for, and what its answers say.

Nothing is sent here. A page that was fetched is kept as a file, which is read as any document.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec
from msgspec import Struct

from proofstone.engines.ingest.languages import said_language
from proofstone.engines.ingest.lines import read_whole_file
from proofstone.engines.ingest.wiki.answers import COMMON, Page, Revision, Rights, read_answer
from proofstone.engines.ingest.wiki.cleaning import article_blocks
from proofstone.engines.ingest.written import Written
from proofstone.errors import BadInput, BadUsage

__all__ = [
    "AT_ONCE",
    "PAGE_READER",
    "WIKI_SUFFIX",
    "WikiAddress",
    "WikiFile",
    "WikiFound",
    "WikiPage",
    "page_query",
    "parse_query",
    "read_address",
    "read_fetched",
    "read_found",
    "read_html",
    "read_titles",
    "read_wiki_file",
]

WIKI_SUFFIX = ".wikipage"
PAGE_READER = "mediawiki page 1"  # a number of its own for every change that can move a text
AT_ONCE = 50  # titles that a wiki takes in one request
_MAX_FILE = 64 * 2**20
_YEAR = re.compile(r"(1[5-9]\d\d|20\d\d)-")
_LICENCE = re.compile(
    r"creativecommons\.org/(licenses/(by(?:-nc)?(?:-sa|-nd)?)/(\d\.\d)|publicdomain/zero)"
)


class WikiAddress(Struct, frozen=True):
    """A wiki's API and the title of one of its pages; ``revision`` is 0 for the newest."""

    api: str
    title: str
    revision: int = 0


class WikiPage(Struct, frozen=True, kw_only=True):
    """A page as a wiki knows it. ``asked`` is the title that was asked for; one that is absent has
    no revision. ``address`` is where people read it, ``wikidata`` its Q number; ``is_meanings``: it
    only lists what its name may mean."""

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
    """An answer about pages: what the wiki is, the pages, and what to ask on with."""

    pages: tuple[WikiPage, ...] = ()
    going_on: dict[str, str] = {}
    site: str = ""
    language: str = ""
    licence: str = ""
    base: str = ""


class WikiFile(Struct, frozen=True, kw_only=True):
    """A fetched page as it is kept: one revision of it, and what the wiki says of itself."""

    title: str
    revision: int
    timestamp: str
    address: str
    site: str
    language: str
    licence: str
    html: str


def read_address(url: str, api: str = "") -> WikiAddress:
    """The page that an address in a browser shows: /wiki/Title, or index.php?title=Title.

    Without ``api`` it is taken to be at /w/api.php, beside index.php where that is named. Raises
    BadUsage where the address names no page.
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
            f"{url} names no page of a wiki.",
            hint="Use an address such as https://en.wikipedia.org/wiki/Copper, or give --wiki-api.",
        )
    old = next(iter(asked.get("oldid", [])), "")
    return WikiAddress(
        api or f"{parts.scheme}://{parts.netloc}{folder}/api.php",
        " ".join(title.replace("_", " ").split()),
        int(old) if old.isascii() and old.isdigit() and len(old) < 16 else 0,
    )


def read_titles(file: Path) -> tuple[str, ...]:
    """The titles that a file lists, a line each. Raises NotFound, BadInput where it is no UTF-8."""
    try:
        lines = read_whole_file(file).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as cause:
        raise BadInput(f"{file.name} is not UTF-8 ({cause}).") from cause
    return tuple(dict.fromkeys(line.strip() for line in lines if line.strip()))


def page_query(titles: Sequence[str], going_on: Mapping[str, str] = {}) -> dict[str, str]:
    """What asks for the newest revisions of pages, what is known of these, and what the wiki is."""
    return {
        **COMMON,
        "action": "query",
        "titles": "|".join(titles),
        "redirects": "1",
        "prop": "revisions|pageprops|info",
        "rvprop": "ids|timestamp",
        "ppprop": "disambiguation|wikibase_item",
        "inprop": "url",
        "meta": "siteinfo",
        "siprop": "general|rightsinfo",
        **going_on,
    }


def parse_query(revision: int) -> dict[str, str]:
    """What asks for the text of a revision, with its templates expanded."""
    return {
        **COMMON,
        "action": "parse",
        "oldid": str(revision),
        "prop": "text|revid",
        "disableeditsection": "1",
        "disabletoc": "1",
        "disablelimitreport": "1",
    }


def read_found(body: bytes, asked: Sequence[str]) -> WikiFound:
    """What a wiki answered to ``page_query``; of a page that is in several parts of an answer what
    this one says. Raises WikiError for its own errors and for what is no answer of a wiki."""
    answer = read_answer(body)
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
        going_on=answer.going_on,
        site=query.general.sitename,
        language=said_language(query.general.lang),
        licence=_licence(query.rightsinfo),
        base=query.general.base,
    )


def _page(asked: str, page: Page) -> WikiPage:
    revision = page.revisions[0] if page.revisions else Revision()
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


def read_html(body: bytes) -> str:
    """The HTML that a wiki answered to ``parse_query``. Raises WikiError."""
    return read_answer(body, "parse").parse.text


def _licence(rights: Rights) -> str:
    """A licence by its short name where its address is one of Creative Commons'."""
    found = _LICENCE.search(rights.url)
    if found is None:
        return rights.text.strip()[:200]
    return f"CC-{found[2].upper()}-{found[3]}" if found[2] else "CC0-1.0"


def read_fetched(path: Path) -> WikiFile:
    """A kept page. Raises BadInput for what is none."""
    try:
        return msgspec.json.decode(read_whole_file(path, limit=_MAX_FILE), type=WikiFile)
    except (msgspec.DecodeError, UnicodeDecodeError) as cause:
        raise BadInput(f"{path.name} is no page of a wiki that was kept here ({cause}).") from cause


def read_wiki_file(path: Path) -> Written:
    """A kept page as a document. Raises BadInput for what is none, or has no text."""
    page = read_fetched(path)
    blocks = article_blocks(page.html.encode(), page.title)
    if not any(block.kind != "heading" for block in blocks):
        raise BadInput(f"{page.title} holds no text that could be a passage.")
    year = _YEAR.match(page.timestamp)
    return Written(
        pages=[blocks],
        title=page.title,
        authors=(page.site,) if page.site else (),
        year=int(year[1]) if year else None,
        language=page.language or "en",
        licence=page.licence,
        origin=page.address,
        detail=f"revision {page.revision} of {page.timestamp}",
    )
