"""A wiki's API: the newest revision of each page, fetched once, with its licence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from reading_files import blocks_of, read_one

from proofstone.documents.wiki_api import WikiAddress, read_address
from proofstone.errors import BadInput, BadUsage, EgressRefused, EndpointUnusable
from proofstone.ingest.wiki import Fetched, fetch_pages
from proofstone.models.config import load_config
from scripted_server import Act, ScriptedServer, Seen

HTML = (
    '<div class="mw-parser-output"><p>Copper<sup class="reference">[1]</sup> melts at 1085.</p>'
    '<h2>Ores</h2><ul><li>Bornite</li></ul><h2>References</h2><ol class="references"></ol></div>'
)
RIGHTS = {"url": "https://creativecommons.org/licenses/by-sa/4.0/", "text": "Creative Commons"}
AT = "2021-02-03T04:05:06Z"
GENERAL = {"sitename": "Metal Wiki", "lang": "en", "base": "https://m.example/wiki/Main"}


class Clock:
    """A clock that notes how long it was to sleep."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def now(self) -> float:
        return 0.0

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def asked(seen: Seen) -> dict[str, str]:
    return {key: value[0] for key, value in parse_qs(urlsplit(seen.path).query).items()}


def said(body: object, **headers: str) -> Act:
    return Act(json.dumps(body).encode(), headers=headers)


def wiki(seen: Seen) -> Act:
    """A wiki with two pages; it tells of one and asks to be asked on for the other."""
    query = asked(seen)
    if query["action"] == "parse":
        return said({"parse": {"revid": int(query["oldid"]), "text": HTML}})
    known = {"Copper": 90, "Tin": 91}
    pages = [
        {
            "title": title,
            "revisions": [{"revid": known[title], "timestamp": "2021-02-03T04:05:06Z"}],
        }
        if title in known and (title == "Copper") != ("rvcontinue" in query)
        else {"title": title, **({} if title in known else {"missing": True})}
        for title in ("Copper" if name == "Cu" else name for name in query["titles"].split("|"))
    ]
    redirects = [{"from": "Cu", "to": "Copper"}] if "Cu" in query["titles"].split("|") else []
    found = {"pages": pages, "redirects": redirects, "general": GENERAL, "rightsinfo": RIGHTS}
    more = {} if "rvcontinue" in query else {"continue": {"rvcontinue": "2", "continue": "||"}}
    return said({"query": found, **more})


async def fetched(
    server: ScriptedServer, folder: Path, *titles: str, clock: Clock | None = None
) -> Fetched:
    api = f"{server.url.removesuffix('/v1')}/w/api.php"
    addresses = [WikiAddress(api, title) for title in titles]
    config = load_config(folder, environ={}, user_folder=folder)
    return await fetch_pages(addresses, folder, config, clock or Clock(), lambda _text: None)


async def test_pages_are_fetched_once_a_revision_and_read_as_documents(tmp_path: Path) -> None:
    """With licence, revision and address; a redirect leads on, an answer in parts is asked on."""
    async with ScriptedServer(wiki) as server:
        first = await fetched(server, tmp_path, "Cu", "Tin")
        again = await fetched(server, tmp_path, "Copper", "Tin")
        agents = {seen.headers.get("user-agent", "")[:10] for seen in server.seen}
        assert all(asked(seen)["maxlag"] == "5" for seen in server.seen)
    assert agents == {"proofstone"}
    assert (first.n_known, first.n_requests) == (0, 2 + 2)  # two of the query, one a page
    assert (again.n_known, again.n_requests) == (2, 2)
    copper, _tin = first.files.values()
    assert copper.name == "90.wikipage"
    opened, (page,) = read_one(copper)
    assert (opened.title, opened.authors, opened.year, opened.language, opened.license) == (
        "Copper", ("Metal Wiki",), 2021, "en", "CC-BY-SA-4.0",
    )  # fmt: skip
    assert opened.origin.endswith("/w/index.php?oldid=90")
    assert page.detail == "revision 90 of " + AT
    assert blocks_of(page) == [
        ("text", "Copper melts at 1085."), ("heading", "Ores"), ("list", "- Bornite"),
    ]  # fmt: skip


async def test_a_busy_wiki_is_asked_again_after_as_long_as_it_says(tmp_path: Path) -> None:
    """Too many requests, and databases that lag behind."""
    clock = Clock()
    busy = [
        Act(b"{}", status=429, headers={"Retry-After": "7"}),
        said({"error": {"code": "maxlag", "info": "6 s lagged"}}, **{"Retry-After": "5"}),
        Act(b"{}", status=503),
    ]

    def script(seen: Seen) -> Act:
        return busy.pop(0) if busy else wiki(seen)

    async with ScriptedServer(script) as server:
        assert len((await fetched(server, tmp_path, "Tin", clock=clock)).files) == 1
    assert clock.slept == [7.0, 5.0, 2.0**2]


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda _seen: Act(b"<html>"), "answers: not a response of a wiki's API"),
        (lambda _seen: said({"error": {"code": "readapidenied", "info": "No."}}), "answers: No"),
        (lambda _seen: Act(b"", status=404), "answers HTTP 404"),
        (lambda _seen: Act(b"", status=302, headers={"Location": "http://x.example/"}), "HTTP 302"),
        (lambda _seen: Act(b"{}", status=429, headers={"Retry-After": "9000"}), "cannot be asked"),
    ],
)
async def test_what_is_no_wiki_is_told(
    tmp_path: Path, act: Callable[[Seen], Act], words: str
) -> None:
    async with ScriptedServer(act) as server:
        with pytest.raises(EndpointUnusable, match=words):
            await fetched(server, tmp_path, "Tin")


async def test_pages_that_are_not_there_are_named(tmp_path: Path) -> None:
    async with ScriptedServer(wiki) as server:
        with pytest.raises(BadInput) as refused:
            await fetched(server, tmp_path, "Tin", "Leed", "Zink")
    assert [problem.where for problem in refused.value.problems] == ["Leed", "Zink"]


async def test_a_policy_that_does_not_list_the_wiki_refuses_it(tmp_path: Path) -> None:
    (tmp_path / "proofstone.toml").write_text('[egress]\nhosts = ["local"]\n', encoding="utf-8")
    config = load_config(tmp_path, environ={}, user_folder=tmp_path / "none")
    address = WikiAddress("https://wiki.example/w/api.php", "Tin")
    with pytest.raises(EgressRefused, match=r"wiki\.example"):
        await fetch_pages([address], tmp_path, config, Clock(), lambda _text: None)


def test_an_address_names_a_page() -> None:
    assert read_address("https://en.wikipedia.org/wiki/Copper_age#Ores") == WikiAddress(
        "https://en.wikipedia.org/w/api.php", "Copper age"
    )
    assert read_address("http://h:81/x/index.php?title=%E9%93%9C&oldid=12") == WikiAddress(
        "http://h:81/x/api.php", "铜", 12
    )
    assert read_address("https://h/Tin", "https://h/api.php").title == "Tin"
    with pytest.raises(BadUsage):
        read_address("https://h/about")
