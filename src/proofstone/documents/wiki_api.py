"""The answers of a wiki's web API (as MediaWiki's and Wikibase's public documents describe them).

Nothing is sent here. A page that was fetched is kept as a file, which is read as any document.
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

# The shapes of what a wiki's web API answers (MediaWiki, format version 2), and its errors.

_MAX_LAG_S = 5


# What every request says: which format it reads, and that it waits while databases lag behind.
COMMON = {"format": "json", "formatversion": "2", "maxlag": str(_MAX_LAG_S)}


class WikiError(Exception):
    """A wiki's own error: its code, and its words."""

    def __init__(self, code: str, info: str) -> None:
        super().__init__(f"{info} ({code})")
        self.code = code


class _Revision(Struct, frozen=True):
    revid: int = 0
    timestamp: str = ""


class _Page(Struct, frozen=True):
    """A page in an answer; what was not asked for is empty. ``id`` stands for ``pageid`` in lists
    of random pages."""

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
        """A property of the page, empty where it has none of this name."""
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
    """An error: its words are ``info``; ``text`` or ``html`` in the list of newer error formats."""

    code: str = ""
    info: str = ""
    text: str = ""
    html: str = ""

    @property
    def words(self) -> str:
        return (self.info or self.text or self.html)[:300]


class Answer(Struct, frozen=True):
    """An answer; ``continue_`` is what to ask on with."""

    query: _Query = _Query()
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
        or parts.get("query", {}).keys() & set(_Query.__struct_fields__)
    )
    if not is_query and (part == "query" or "parse" not in parts):
        told = ", ".join(sorted(parts)[:5]) or "nothing"
        raise WikiError("unreadable", f"The answer is none of a wiki's API: it holds {told}")
    return answer


WIKI_SUFFIX = ".wikipage"


PAGE_READER = "mediawiki page 1"  # a number of its own for every change that can move a text


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
    """An answer about pages: what the wiki is, and the pages."""

    pages: tuple[WikiPage, ...] = ()
    site: str = ""
    language: str = ""
    license: str = ""
    base: str = ""


class WikiFile(Struct, frozen=True, kw_only=True):
    """A fetched page as it is kept: one revision of it, and what the wiki says of itself."""

    title: str
    revision: int
    timestamp: str
    address: str
    site: str
    language: str
    license: str
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


def read_found(answer: Answer, asked: Sequence[str]) -> WikiFound:
    """What a wiki answered about the pages that were ``asked`` for; of a page that is in several
    parts of an answer what this one says."""
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
    """A licence by its short name where its address is one of Creative Commons'."""
    found = _LICENSE.search(rights.url)
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
    """The article of a page that was fetched from a live wiki and kept as a file. Raises BadInput
    for what is none."""
    page = read_fetched(path)
    blank = WikiArticle(
        key=str(page.revision), title=page.title, language=page.language,
        date=page.timestamp[:10], url=page.address,
    )  # fmt: skip
    return html_article(blank, page.html.encode(), page.title)
