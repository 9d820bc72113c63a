"""A small MediaWiki behind a scripted server, in the shapes that its public documents describe.

Its pages are copper, tin and mercury (which only lists meanings); Cu is a redirect to Copper. It
keeps statements about its pages itself, as a Wikibase, under Q numbers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from scripted_server import Act, ScriptedServer, Seen

__all__ = ["WIKI", "WikiPage", "api_of", "asked_of_wiki", "wiki"]

_RIGHTS = {"url": "https://creativecommons.org/licenses/by-sa/4.0/", "text": "Creative Commons"}
_AT = "2021-02-03T04:05:06Z"


class WikiPage(NamedTuple):
    """A page: its number and text, or where it leads; its Q number with the count of statements."""

    number: int
    text: str = ""
    redirect: str = ""
    wikidata: str = ""
    statements: int | None = None
    is_meanings: bool = False


WIKI = {
    "Copper": WikiPage(
        1, "Copper is a metal. Copper melts at 1085 degrees.", wikidata="Q753", statements=120
    ),
    "Cu": WikiPage(2, redirect="Copper"),
    "Tin": WikiPage(3, "Tin melts at 232 degrees.", wikidata="Q1096", statements=9),
    "Mercury": WikiPage(4, "Mercury may be a metal.", is_meanings=True),
}


def api_of(server: ScriptedServer) -> str:
    """The address of its API."""
    return f"{server.url.removesuffix('/v1')}/w/api.php"


def asked_of_wiki(seen: Seen) -> dict[str, str]:
    """The parameters of a request; empty for one that is not to the API."""
    parts = urlsplit(seen.path)
    if not parts.path.endswith("/api.php"):
        return {}
    return {key: value[0] for key, value in parse_qs(parts.query).items()}


def wiki(seen: Seen, pages: Mapping[str, WikiPage] = WIKI) -> Act:
    """What the wiki answers; a page's revision is its number and 100."""
    asked = asked_of_wiki(seen)
    if asked["action"] == "parse":
        number = int(asked["oldid"]) - 100
        (text,) = (page.text for page in pages.values() if page.number == number)
        return _said({"parse": {"revid": int(asked["oldid"]), "text": f"<p>{text}</p>"}})
    if asked.get("list") == "random":
        articles = [title for title, page in pages.items() if not page.redirect]
        drawn = articles[: int(asked["rnlimit"])]
        rows = [{"id": pages[title].number, "ns": 0, "title": title} for title in drawn]
        return _said({"batchcomplete": True, "query": {"random": rows}})
    if asked.get("meta") == "wikibase":
        base = f"http://{seen.headers['host']}"
        url = {"base": base, "scriptpath": "/w", "articlepath": "/wiki/$1"}
        return _said({"query": {"wikibase": {"repo": {"url": url}}}})
    if asked.get("ppprop") == "wb-claims":
        return _said({"query": {"pages": list(map(_counted(pages), asked["titles"].split("|")))}})
    return _said({"query": _found(pages, asked["titles"].split("|"))})


def _counted(pages: Mapping[str, WikiPage]) -> Any:
    counts = {page.wikidata: page.statements for page in pages.values() if page.wikidata}

    def row(number: str) -> dict[str, Any]:
        if counts.get(number) is None:
            return {"ns": 0, "title": number, "missing": True}
        return {"ns": 0, "title": number, "pageprops": {"wb-claims": str(counts[number])}}

    return row


def _found(pages: Mapping[str, WikiPage], titles: list[str]) -> dict[str, Any]:
    spelled = {title: title[:1].upper() + title[1:] for title in titles}
    led = {to: pages[to].redirect for to in spelled.values() if to in pages and pages[to].redirect}
    ends = dict.fromkeys(led.get(to, to) for to in spelled.values())
    return {
        "normalized": [{"from": one, "to": to} for one, to in spelled.items() if one != to],
        "redirects": [{"from": one, "to": to} for one, to in led.items()],
        "pages": [_row(title, pages.get(title)) for title in ends],
        "general": {"sitename": "Metal Wiki", "lang": "en", "base": "https://m.example/wiki/Main"},
        "rightsinfo": _RIGHTS,
    }


def _row(title: str, page: WikiPage | None) -> dict[str, Any]:
    if page is None:
        return {"ns": 0, "title": title, "missing": True}
    props = {"wikibase_item": page.wikidata} if page.wikidata else {}
    if page.is_meanings:
        props["disambiguation"] = ""
    return {
        "ns": 0,
        "pageid": page.number,
        "title": title,
        "revisions": [{"revid": page.number + 100, "timestamp": _AT}],
        "canonicalurl": f"https://m.example/wiki/{title.replace(' ', '_')}",
        **({"pageprops": props} if props else {}),
    }


def _said(body: object) -> Act:
    return Act(json.dumps(body).encode())
