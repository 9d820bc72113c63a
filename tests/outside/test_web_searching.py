"""The web searched and read through the gate: what is sent, kept, waited for and refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from proofstone.errors import BadUsage, EgressRefused, EndpointUnusable
from proofstone.models.config import ModelConfig, load_config
from proofstone.models.names import destination_of
from proofstone.records.knowledge import Source
from proofstone.search.http import MOST_BYTES, fetch_page
from proofstone.search.web import KeptSearch, WebSearcher, WebSearchError, searches_of, told_failure
from scripted_server import Act, ScriptedServer, Seen, html, in_turn

FOUND = {"web": {"results": [{"title": "Copper", "url": "https://a.example", "description": "M"}]}}
PRIVATE = Source(id=b"p" * 32, kind="document", title="Plans", content=b"c" * 32)
KEY = "secret-key-1234"


class Clock:
    """A clock that notes how long it was to sleep."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def now(self) -> float:
        return 7.0

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def said(body: object, status: int = 200, **headers: str) -> Act:
    return Act(json.dumps(body).encode(), status=status, headers=headers)


def config(folder: Path, url: str = "", *lines: str) -> ModelConfig:
    """A folder's settings, with a search at this address."""
    (folder / "proofstone.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    given = {"BRAVE_SEARCH_API_KEY": KEY, "BRAVE_SEARCH_URL": f"{url}/web/search"} if url else {}
    return load_config(folder, environ=given, user_folder=folder / "none")


def searcher(folder: Path, url: str, *lines: str, clock: Clock | None = None) -> WebSearcher:
    return WebSearcher("brave", folder, config(folder, url, *lines), clock or Clock())


async def found_by(
    search: WebSearcher, query: str, k: int = 10, *, made_from: Sequence[Source] = ()
) -> KeptSearch:
    """What a search finds, its errors as a person reads them."""
    try:
        return await search.seek(query, k, made_from=made_from)
    except WebSearchError as error:
        raise told_failure(search.name, error) from None


async def test_a_search_is_asked_once_and_kept_with_date_and_hash(tmp_path: Path) -> None:
    async with ScriptedServer(lambda _seen: said(FOUND)) as server:
        search = searcher(tmp_path, server.url)
        found = await found_by(search, "铜 melts", 3)
        assert await found_by(search, "铜 melts", 3) == found
        assert server.requests == 1
        (seen,) = server.seen
    assert parse_qs(urlsplit(seen.path).query) == {"q": ["铜 melts"], "count": ["3"]}
    headers = {name.lower(): value for name, value in seen.headers.items()}
    assert headers["x-subscription-token"] == KEY
    assert (found.asked_at, len(found.answer)) == (7.0, 64)
    assert [hit.title for hit in found.hits] == ["Copper"]
    (file,) = (tmp_path / ".proofstone" / "websearch").iterdir()
    assert KEY.encode() not in file.read_bytes()


async def test_a_damaged_file_is_asked_for_again(tmp_path: Path) -> None:
    async with ScriptedServer(lambda _seen: said(FOUND)) as server:
        search = searcher(tmp_path, server.url)
        await found_by(search, "copper")
        (file,) = (tmp_path / ".proofstone" / "websearch").iterdir()
        file.write_bytes(file.read_bytes()[:-3])
        await found_by(search, "copper")
        assert server.requests == 2


async def test_a_busy_search_is_waited_for_as_it_says(tmp_path: Path) -> None:
    busy = {"error": {"code": "RATE_LIMITED", "detail": "slow down"}}
    clock = Clock()
    script = in_turn(said(busy, 429, **{"Retry-After": "3"}), said(FOUND))
    async with ScriptedServer(script) as server:
        found = await found_by(searcher(tmp_path, server.url, clock=clock), "copper")
    assert clock.slept == [3.0]
    assert len(found.hits) == 1


async def test_errors_are_told_by_kind_without_the_key(tmp_path: Path) -> None:
    wrong = {"error": {"code": "SUBSCRIPTION_TOKEN_INVALID", "detail": f"no such token {KEY}"}}
    async with ScriptedServer(lambda _seen: said(wrong, 422)) as server:
        with pytest.raises(EndpointUnusable, match="brave answers bad_key: no such token") as told:
            await found_by(searcher(tmp_path, server.url), "copper")
        assert server.requests == 1
    assert KEY not in str(told.value)
    assert not (tmp_path / ".proofstone" / "websearch").exists()


def test_what_is_not_set_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadUsage, match="needs GOOGLE_SEARCH_API_KEY and GOOGLE_SEARCH_ENGINE_ID"):
        WebSearcher("google", tmp_path, config(tmp_path), Clock())
    with pytest.raises(BadUsage, match="needs SEARXNG_URL"):
        WebSearcher("searxng", tmp_path, config(tmp_path), Clock())


async def test_no_host_is_asked_that_nobody_allowed(tmp_path: Path) -> None:
    with pytest.raises(EgressRefused, match=r"requests to search\.test are not allowed yet"):
        await found_by(searcher(tmp_path, "https://search.test"), "copper")


async def test_a_query_made_from_private_text_stays_unless_its_source_may_go(
    tmp_path: Path,
) -> None:
    """That the host is allowed says nothing of the source."""
    allowed = ("[egress]", 'hosts = ["search.test"]')
    lines = (*allowed, '[egress.sources."Plans"]', 'hosts = ["local"]')
    search = searcher(tmp_path, "https://search.test", *lines)
    with pytest.raises(EgressRefused, match=r"'Plans' may not be sent to search\.test"):
        await found_by(search, "what the plans say", made_from=[PRIVATE])
    assert not (tmp_path / ".proofstone" / "websearch").exists()


async def test_kept_searches_are_known_by_the_source_they_were_made_from(tmp_path: Path) -> None:
    async with ScriptedServer(lambda _seen: said(FOUND)) as server:
        search = searcher(tmp_path, server.url)
        await found_by(search, "copper")
        await found_by(search, "what the plans say", made_from=[PRIVATE])
    (file,) = searches_of(tmp_path, PRIVATE.id)
    assert "what the plans say" in (tmp_path / file).read_text(encoding="utf-8")
    assert searches_of(tmp_path, b"o" * 32) == ()


def moved(seen: Seen) -> Act:
    return Act(b"", status=302, headers={"Location": f"/web/again{seen.number}"})


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        (lambda _seen: html(), ""),
        (lambda _seen: html(404), "not_found"),
        (lambda _seen: Act(b"\x7fELF\0" * 9, content_type="application/octet-stream"), "not_text"),
        (lambda _seen: Act(b"a\0b", content_type="text/html"), "not_text"),
        (lambda _seen: Act(b"x" * (MOST_BYTES + 1), content_type="text/plain"), "too_large"),
        (lambda _seen: Act(b"x", promise=100 * 2**20, content_type="text/html"), "too_large"),
        (moved, "too_many_redirects"),
        (lambda _seen: Act(b"", status=500), "http_error"),
        (lambda _seen: Act(drop="before"), "unreachable"),
        (in_turn(Act(b"", status=301, headers={"Location": "/web/there"}), html()), ""),
        (lambda _s: Act(b"", status=302, headers={"Location": "file:///etc/hosts"}), "refused"),
        (lambda _s: Act(b"", status=302, headers={"Location": "https://b.test/"}), "refused"),
    ],
)
async def test_a_page_or_a_clear_problem(
    tmp_path: Path, script: Callable[[Seen], Act], problem: str
) -> None:
    async with ScriptedServer(script) as server:
        page = await fetch_page(f"{server.url}/web/page", config(tmp_path), local=True)
        assert page.problem == problem, page.detail
        assert bool(page.body) == (problem == "")
        assert server.requests <= 6


async def test_the_web_cannot_name_what_only_this_machine_sees(tmp_path: Path) -> None:
    async with ScriptedServer(lambda _seen: html()) as server:
        page = await fetch_page(f"{server.url}/web/page", config(tmp_path))
        assert (page.problem, server.requests) == ("refused", 0)


@pytest.mark.parametrize("host", ["0x7f.0.0.1", "127.1", "2130706433"])
async def test_nor_by_another_spelling(tmp_path: Path, host: str) -> None:
    """Such a host is a name to those who read it, and the lookup makes this machine of it."""
    async with ScriptedServer(lambda _seen: html()) as server:
        port = urlsplit(server.url).port
        page = await fetch_page(f"http://{host}:{port}/", config(tmp_path), found=True)
        assert page.problem in {"refused", "unreachable"}, page
        assert server.requests == 0


@pytest.mark.parametrize(
    "url",
    ["http://[::1", "http://a.example:99999/", "http://a.example:port/", "https://\x00/", "http://"
     "\ud800.example/", "//", "http://" + "a" * 300 + ".example/", "http://a..example/"],
)  # fmt: skip
async def test_a_malformed_address_is_a_problem_of_its_page(tmp_path: Path, url: str) -> None:
    """Of a hit and of a redirect alike: nothing is raised, and the rest goes on."""
    page = await fetch_page(url, config(tmp_path), found=True)
    assert page.problem in {"refused", "unreachable"}
    if not url.isascii() or "\x00" in url:
        return  # no header can carry it

    moved = Act(status=302, headers={"location": url})
    async with ScriptedServer(lambda _seen: moved) as server:
        page = await fetch_page(f"{server.url}/web/x", config(tmp_path), local=True, found=True)
    assert page.problem in {"refused", "unreachable", "too_many_redirects"}


async def test_a_page_that_was_found_opens_no_host_for_the_process(tmp_path: Path) -> None:
    """Only its address was to be sent: whatever else would go there is refused as before."""
    held = config(tmp_path)
    await fetch_page("http://192.0.2.1:9/", held, found=True)
    to = destination_of("http://192.0.2.1:9/")
    assert to is not None
    assert held.gate.of_host(to) != "allowed"
