"""The protocols of web searches: what to ask for, and what the answers say. Nothing is sent here.

Brave Search, Google's Custom Search and SearXNG (which passes questions on to Bing, Baidu and
others) as their public documents describe them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from typing import Literal

import msgspec
from msgspec import Struct

from proofstone.records import WEB_SEARCHES, WebSearchName

__all__ = [
    "WEB_SEARCHES",
    "WebFailure",
    "WebHit",
    "WebRequest",
    "WebSearchError",
    "WebSearchName",
    "read_web_hits",
    "web_request",
    "web_requests_for",
]

WebFailure = Literal[
    "rate_limited", "no_credit", "bad_key", "bad_request", "unreadable", "server_error"
]

_ADDRESSES: Mapping[str, str] = {
    "brave": "https://api.search.brave.com/res/v1/web/search",
    "google": "https://www.googleapis.com/customsearch/v1",
}
_MOST: Mapping[str, int] = {"brave": 20, "google": 10, "searxng": 10}  # hits of one request
_DETAIL = 300
# What searches set into titles and texts to show where the words were found.
_INLINE = re.compile(r"</?(?:b|strong|em|i|mark|span|u|wbr|a|code)\b[^<>]{0,300}>", re.IGNORECASE)
_BREAK = re.compile(r"</?(?:br|p|div|li|ul)\b[^<>]{0,300}>", re.IGNORECASE)


class WebHit(Struct, frozen=True, gc=False, kw_only=True):
    """A page that was found: its address, title and what the search shows of it. ``engine`` is who
    found it, where a search asks several; ``published`` as the search says it."""

    url: str
    title: str
    text: str
    engine: str = ""
    published: str = ""


class WebRequest(Struct, frozen=True, kw_only=True):
    """A GET request: address, parameters, and the header that carries the key (empty: none)."""

    url: str
    parameters: Mapping[str, str]
    key_header: str = ""


class WebSearchError(Exception):
    """A search's own error: its kind, and its words."""

    def __init__(self, kind: WebFailure, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail


def web_requests_for(search: WebSearchName, k: int) -> int:
    """How many requests it takes at most to get the first ``k`` hits. Of SearXNG's, which says
    nothing of how many it gives at once, ten are counted on."""
    return max(1, -(-k // _MOST[search]))


def web_request(
    search: WebSearchName, query: str, k: int, *, base: str = "", engine: str = "", page: int = 0
) -> WebRequest:
    """What asks a search for the first ``k`` hits (as many as it gives at once); ``page`` counts
    the requests from 0, each for those behind the ones before.

    ``base`` is the address of a SearXNG instance, or one in place of the provider's own;
    ``engine`` Google's search engine id, or the engines that SearXNG is to ask ("bing,baidu").
    """
    n = str(max(1, min(k, _MOST[search])))
    if search == "brave":
        return WebRequest(
            url=base or _ADDRESSES[search],
            parameters={"q": query, "count": n, **_paged("offset", page, 0)},
            key_header="X-Subscription-Token",
        )  # fmt: skip
    if search == "google":
        # The key goes as a header, as Google's interfaces take it too: an address is logged.
        return WebRequest(
            url=base or _ADDRESSES[search],
            parameters={
                "q": query, "num": n, "cx": engine, **_paged("start", page * _MOST[search], 1),
            },
            key_header="X-Goog-Api-Key",
        )  # fmt: skip
    engines = {"engines": engine} if engine else {}
    url = f"{base.rstrip('/').removesuffix('/search')}/search"
    asked = {"q": query, "format": "json", **engines, **_paged("pageno", page, 1)}
    return WebRequest(url=url, parameters=asked)


def _paged(name: str, at: int, first: int) -> dict[str, str]:
    """The parameter that asks for what is further on, where that is not the beginning."""
    return {name: str(first + at)} if at else {}


def read_web_hits(search: WebSearchName, status: int, body: bytes, k: int) -> list[WebHit]:
    """The hits of an answer, best first, at most ``k``; none where nothing was found. Raises
    WebSearchError for a search's error and for what is no answer of one."""
    if status != 200:
        raise WebSearchError(*_failure(status, body))
    try:
        hits = _READERS[search](body)[:k]
    except (msgspec.DecodeError, UnicodeDecodeError) as cause:
        raise WebSearchError("unreadable", f"no answer of {search}: {cause}") from cause
    if not hits and not _finds_nothing(search, body):
        failure = _failure(status, body)
        detail = failure[1] if failure[1] != f"HTTP {status}" else f"no answer of {search}"
        raise WebSearchError("unreadable" if failure[0] == "bad_request" else failure[0], detail)
    return hits


def _finds_nothing(search: WebSearchName, body: bytes) -> bool:
    """Whether an answer without a hit is the search's own, and no foreign JSON or error."""
    said = msgspec.json.decode(body)
    if not isinstance(said, dict) or said.get("error"):
        return False
    if search == "brave":
        return said.get("type") == "search" or "web" in said
    if search == "google":
        return str(said.get("kind", "")).startswith("customsearch") or "items" in said
    return "results" in said  # SearXNG's reader asks for it


def _plain(text: str) -> str:
    """A text without markup, entities and line ends."""
    return " ".join(unescape(_BREAK.sub(" ", _INLINE.sub("", text))).split())


class _BraveHit(Struct, frozen=True):
    url: str
    title: str = ""
    description: str = ""
    page_age: str = ""


class _BraveWeb(Struct, frozen=True):
    results: tuple[_BraveHit, ...] = ()


class _Brave(Struct, frozen=True):
    web: _BraveWeb | None = None


class _GoogleHit(Struct, frozen=True):
    link: str
    title: str = ""
    snippet: str = ""


class _Google(Struct, frozen=True):
    items: tuple[_GoogleHit, ...] = ()


class _SearxngHit(Struct, frozen=True, rename={"published": "publishedDate"}):
    url: str
    title: str = ""
    content: str | None = ""
    engine: str = ""
    published: str | None = ""


class _Searxng(Struct, frozen=True):
    results: tuple[_SearxngHit, ...]


def _read_brave(body: bytes) -> list[WebHit]:
    web = msgspec.json.decode(body, type=_Brave).web or _BraveWeb()
    return [
        WebHit(
            url=hit.url, title=_plain(hit.title), text=_plain(hit.description),
            published=hit.page_age,
        )
        for hit in web.results
    ]  # fmt: skip


def _read_google(body: bytes) -> list[WebHit]:
    items = msgspec.json.decode(body, type=_Google).items
    return [
        WebHit(url=hit.link, title=_plain(hit.title), text=_plain(hit.snippet)) for hit in items
    ]


def _read_searxng(body: bytes) -> list[WebHit]:
    return [
        WebHit(
            url=hit.url, title=_plain(hit.title), text=_plain(hit.content or ""),
            engine=hit.engine, published=hit.published or "",
        )
        for hit in msgspec.json.decode(body, type=_Searxng).results
    ]  # fmt: skip


_READERS = {"brave": _read_brave, "google": _read_google, "searxng": _read_searxng}


class _Error(Struct, frozen=True):
    code: str | int = ""
    status: str | int = ""
    detail: str = ""
    message: str = ""
    errors: tuple[dict[str, str | int], ...] = ()


class _ErrorBody(Struct, frozen=True):
    error: _Error | str = ""


def _failure(status: int, body: bytes) -> tuple[WebFailure, str]:
    """The kind of an error and the search's words, from its codes first, else from the status."""
    try:
        found = msgspec.json.decode(body, type=_ErrorBody).error
    except (msgspec.DecodeError, UnicodeDecodeError):
        found = ""
    error = _Error(message=found) if isinstance(found, str) else found
    reasons = {str(each.get("reason", "")) for each in error.errors}
    code = f"{error.code} {error.status} {' '.join(sorted(reasons))}".lower()
    detail = (error.detail or error.message or f"HTTP {status}")[:_DETAIL]
    for kind, signs in _SIGNS:
        if any(sign in code for sign in signs):
            return kind, detail
    if "api key" in detail.lower():  # Google says no more than that of a wrong one
        return "bad_key", detail
    return _by_status(status), detail


_SIGNS: tuple[tuple[WebFailure, tuple[str, ...]], ...] = (
    ("no_credit", ("dailylimitexceeded", "quota_limited", "payment")),
    ("rate_limited", ("rate_limited", "ratelimitexceeded", "resource_exhausted")),
    ("bad_key", ("subscription_token_invalid", "keyinvalid", "api_key_invalid")),
)


def _by_status(status: int) -> WebFailure:
    if status == 429:
        return "rate_limited"
    if status == 402:
        return "no_credit"
    if status in (401, 403):
        return "bad_key"
    return "server_error" if status >= 500 else "bad_request"
