"""Recorded replies of wikis and searches, replayed over a socket to the clients that ask them.

All of them where they lie beside the repository, else the carried ones.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from proofstone.documents.wiki_api import WikiAddress, WikiError, read_answer
from proofstone.errors import EndpointUnusable
from proofstone.ingest.wiki import WikiClient
from proofstone.models.config import load_config
from proofstone.records.models import WEB_SEARCHES, WebSearchName
from proofstone.search.web import WebSearcher, WebSearchError
from recorded import RecordedResponse, recorded_responses, responses_by_name
from scripted_server import Act, ScriptedServer
from serving import HurriedClock

WIKI = recorded_responses("wiki")
SEARCH = recorded_responses("search")
FOREIGN = recorded_responses("wikidata", "anthropic", "google", "batch", "search", "embeddings")
READ_BY: dict[str, tuple[WebSearchName, ...]] = {  # Tavily's hits have SearXNG's fields
    "search/brave": ("brave",), "search/google-pse": ("google",), "search/searxng": ("searxng",),
    "search/serper": (), "search/tavily": ("searxng",),
}  # fmt: skip
ASKED = ("find", "page", "random", "repository", "statements")


def named(response: RecordedResponse) -> str:
    return response.name


async def asked_wiki(folder: Path, response: RecordedResponse, what: str, titles: list[str]) -> Any:
    """What one request of the client comes to where a wiki answers so."""
    config = load_config(folder, environ={}, user_folder=folder / "none")
    async with ScriptedServer(response.act()) as server:
        api = f"{server.url.removesuffix('/v1')}/w/api.php"
        async with WikiClient(api, config, HurriedClock()) as client:
            if what == "find":
                return await client.find([WikiAddress(api, title) for title in titles])
            if what == "random":
                return await client.random(5)
            if what == "repository":
                return await client.repository()
            if what == "statements":
                return await client.statements(["Q1"])
            (found,) = await client.find([WikiAddress(api, titles[0])])
            return await client.page(found[1], found[2])


@pytest.mark.parametrize("what", ASKED)
@pytest.mark.parametrize("response", FOREIGN, ids=named)
async def test_what_no_wiki_answers_is_an_error_and_not_nothing_found(
    response: RecordedResponse, what: str, tmp_path: Path
) -> None:
    with pytest.raises(EndpointUnusable):
        await asked_wiki(tmp_path, response, what, ["Copper"])


@pytest.mark.parametrize("response", WIKI, ids=named)
async def test_an_answer_of_a_wiki_is_read_or_refused(
    response: RecordedResponse, tmp_path: Path
) -> None:
    """Pages in format version 2 are found by the titles that were asked for; errors, pages by their
    numbers (version 1) and texts where pages were asked for are errors."""
    body = json.loads(response.raw)
    pages = body.get("query", {}).get("pages")
    asked = parse_qs(urlsplit(response.request["url"]).query).get("titles", [])
    titles = asked[0].split("|") if asked else [page["title"] for page in pages or [{"title": "X"}]]
    if "errors" in body or "parse" in body or isinstance(pages, dict):
        with pytest.raises(EndpointUnusable):
            await asked_wiki(tmp_path, response, "find", titles)
        return
    found = await asked_wiki(tmp_path, response, "find", titles)
    by_title = {page["title"]: page for page in pages or []}
    leads = {step["from"]: step["to"] for step in body.get("query", {}).get("redirects", ())}
    assert [address.title for address, *_ in found] == titles
    for address, page, _wiki in found:
        said = by_title.get(leads.get(address.title, address.title), {"title": address.title})
        assert (page.title, page.page_id) == (said["title"], said.get("pageid", 0))


def test_the_words_of_a_list_of_errors_are_told() -> None:
    response = responses_by_name("wiki")["wiki/v2-errors-unknown-action"]
    with pytest.raises(WikiError, match=r"Unrecognized value .* \(unknown_action\)"):
        read_answer(response.raw)
    lagged = b'{"errors": [{"code": "maxlag", "html": "Waiting", "module": "main"}]}'
    with pytest.raises(WikiError) as raised:
        read_answer(lagged)
    assert raised.value.code == "maxlag"  # which is waited for


def searcher(folder: Path, url: str, search: WebSearchName) -> WebSearcher:
    given = {
        "BRAVE_SEARCH_API_KEY": "key-123456", "BRAVE_SEARCH_URL": f"{url}/web/search",
        "GOOGLE_SEARCH_API_KEY": "key-123456", "GOOGLE_SEARCH_URL": f"{url}/web/search",
        "GOOGLE_SEARCH_ENGINE_ID": "abc", "SEARXNG_URL": f"{url}/web",
    }  # fmt: skip
    (folder / "proofstone.toml").write_text("", encoding="utf-8")
    config = load_config(folder, environ=given, user_folder=folder / "none")
    return WebSearcher(search, folder, config, HurriedClock())


@pytest.mark.parametrize("search", WEB_SEARCHES)
@pytest.mark.parametrize("response", [*SEARCH, *WIKI[:2], *FOREIGN[:6]], ids=named)
async def test_a_search_reads_its_own_answers_and_no_others(
    response: RecordedResponse, search: WebSearchName, tmp_path: Path
) -> None:
    async with ScriptedServer(lambda _seen: response.act()) as server:
        client = searcher(tmp_path, server.url, search)
        if search not in READ_BY.get(response.name, ()):
            with pytest.raises(WebSearchError) as raised:
                await client.seek("python", 5)
            assert raised.value.kind == ("unreadable" if response.status == 200 else "bad_request")
            return
        found = await client.seek("python", 5)
    assert found.hits
    for hit in found.hits:
        assert hit.url.startswith("http")
        assert hit.title
        for markup in ("<strong>", "</", "&#x27;", "&quot;", "&amp;", "\n"):
            assert markup not in hit.title + hit.text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A <strong>metal</strong> &amp; its <em>ores</em>.", "A metal & its ores."),
        ("Bohr&#x27;s model<br>of 1913", "Bohr's model of 1913"),
        ("where x < y and y > z", "where x < y and y > z"),
        ("List<String> in Java", "List<String> in Java"),
    ],
)
async def test_markup_of_a_search_is_taken_out_and_signs_stay(
    text: str, shown: str, tmp_path: Path
) -> None:
    body = {"results": [{"url": "https://a.example", "title": text, "content": text}]}
    async with ScriptedServer(Act(json.dumps(body).encode())) as server:
        (hit,) = (await searcher(tmp_path, server.url, "searxng").seek("x", 5)).hits
    assert (hit.title, hit.text) == (shown, shown)
