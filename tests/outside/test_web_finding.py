"""What the web says near a query: searched, read, kept as sources, and what fails along the way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from proofstone.api import Workspace, create_workspace
from proofstone.errors import BadUsage, EgressRefused, EndpointUnusable
from proofstone.records.ids import short
from proofstone.records.knowledge import Source
from proofstone.results.trace import Ancestry
from proofstone.search.web_finder import WebQuery
from proofstone.session.permits import SentLog
from scripted_server import ScriptedServer
from scripted_web import web
from serving import HurriedClock, serving


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with serving(web) as opened:
        yield opened


@pytest.fixture
def workspace(tmp_path: Path, server: ScriptedServer) -> Iterator[Workspace]:
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        opened.fetches_local = True
        address = server.url
        (opened.folder / ".env").write_text(f"SEARXNG_URL={address}/web\n", encoding="utf-8")
        yield opened


def test_pages_become_sources_and_their_best_chunks_are_found(workspace: Workspace) -> None:
    found = workspace.search_web("at how many degrees does copper melt?", 2, source="searxng")
    assert [page.problem for page in found.pages] == ["", "not_found", "not_text", "too_large", ""]
    assert found.chunks[0].text.endswith("1085 degrees Celsius.")
    page, chunk = found.pages[0], found.chunks[0]
    assert (chunk.source.kind, chunk.source.title, chunk.source.origin) == (
        "web", "Copper", page.found_at,
    )  # fmt: skip
    assert (page.source, page.content) == (chunk.source.id.hex(), chunk.source.content.hex())
    assert chunk.passage.text[chunk.start : chunk.end] == chunk.text
    named = workspace.store.lookup.find(f"passage:{short(chunk.passage.id)}", ("passage",))
    (line,) = [str(row) for row in Ancestry(workspace.store).of_row(named)]
    assert line == f"source:{short(chunk.source.id)}  Copper  {page.found_at}"


def test_what_was_found_once_is_not_asked_for_again(
    workspace: Workspace, server: ScriptedServer
) -> None:
    first = workspace.search_web("copper", source="searxng")
    asked = server.requests
    again = workspace.search_web("copper", source="searxng")
    assert server.requests == asked == 1 + 5
    assert again == first
    workspace.search_web("glass", source="searxng:bing")
    assert server.requests == asked + 1  # the pages are here
    assert "engines=bing" in server.seen[-1].path


def test_all_that_left_is_in_the_log(workspace: Workspace) -> None:
    workspace.search_web("copper", source="searxng")
    lines = SentLog(workspace.folder / ".proofstone").lines()
    assert [(line.what, line.by, line.requests) for line in lines] == [
        ("searched", "searxng", 1), ("fetched", "pages", 5),
    ]  # fmt: skip


def test_nothing_found_is_not_a_failure(workspace: Workspace) -> None:
    found = workspace.search_web("nothing at all", source="searxng")
    assert (found.chunks, found.failed) == ((), "")


async def test_a_search_that_fails_is_told_of_its_query_alone(workspace: Workspace) -> None:
    finder = workspace.web_finder("searxng")
    asked = [WebQuery("copper"), WebQuery("broken")]
    good, bad = await finder.find(asked, 1, is_cleared=True)
    assert good.chunks
    assert bad.failed == "server_error: HTTP 502"
    with pytest.raises(EndpointUnusable, match="searxng answers server_error: HTTP 502"):
        await finder.find([WebQuery("broken too")], 1, is_cleared=True)


async def test_queries_alike_are_sent_once(workspace: Workspace, server: ScriptedServer) -> None:
    """Searches are paid for one by one; what was sent is kept as made from both sources."""
    sources = [
        Source(id=sign * 32, kind="document", title=sign.decode(), content=b"c" * 32)
        for sign in (b"a", b"b")
    ]
    finder = workspace.web_finder("searxng")
    asked = [WebQuery("copper", (source,)) for source in sources]
    first, second = await finder.find(asked, 1, is_cleared=True)
    assert first == second
    assert first.search is not None
    assert first.search.sources == tuple(source.id.hex() for source in sources)
    assert sum("/search" in seen.path for seen in server.seen) == 1


async def test_the_web_and_the_own_sources_stand_behind_one_protocol(workspace: Workspace) -> None:
    search = workspace.searcher("searxng")
    (found,) = await search("melts degrees", 1)
    assert (found.title, found.text.endswith("degrees Celsius.")) == ("Copper", True)
    assert found.address.endswith("/web/copper")
    own = workspace.searcher()
    assert (search.name, own.name) == ("searxng", "local")
    assert await own("melts degrees", 1) == []  # what the web said is not the workspace's own


async def test_a_query_made_from_what_nobody_knows_stays(
    workspace: Workspace, server: ScriptedServer
) -> None:
    """No policy can say whether it may go."""
    with pytest.raises(EgressRefused, match="not in this workspace"):
        await workspace.searcher("searxng")("melts degrees", 1, made_from=[b"?" * 32])
    assert server.requests == 0


def test_a_purge_takes_the_note_of_the_page(workspace: Workspace) -> None:
    found = workspace.search_web("copper", source="searxng")
    folder = workspace.folder / ".proofstone" / "webpages"
    before = len(list(folder.iterdir()))
    workspace.purge(f"source:{found.pages[0].source}", reason="asked to", name="Ann")
    assert len(list(folder.iterdir())) == before - 1


def test_a_page_inside_the_network_is_not_fetched(
    workspace: Workspace, server: ScriptedServer
) -> None:
    workspace.fetches_local = False
    found = workspace.search_web("copper", source="searxng")
    assert {page.problem for page in found.pages} == {"refused"}
    assert server.requests == 1


@pytest.mark.parametrize("name", ["bing", "brave:x", "searxng:", "local:x"])
def test_an_unknown_search_is_refused(workspace: Workspace, name: str) -> None:
    with pytest.raises(BadUsage, match="unknown search"):
        workspace.search_web("copper", source=name)
