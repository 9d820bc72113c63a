"""What web searches are asked, and what their answers say: in the shapes of their documents."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.records.models import WEB_SEARCHES, WebSearchName
from proofstone.search.web import (
    WebHit,
    WebRequest,
    WebSearchError,
    read_web_hits,
    web_request,
    web_requests_for,
)

BRAVE = {
    "type": "search",
    "query": {"original": "copper", "more_results_available": True},
    "web": {
        "type": "search",
        "results": [
            {
                "title": "Copper", "url": "https://a.example/cu", "is_source_local": False,
                "description": "A <strong>metal</strong>.", "page_age": "2024-01-02T00:00:00",
                "meta_url": {"hostname": "a.example"},
            },
            {"title": "Ore", "url": "https://b.example/"},
        ],
    },
}  # fmt: skip
GOOGLE = {
    "kind": "customsearch#search",
    "searchInformation": {"totalResults": "2"},
    "items": [
        {
            "kind": "customsearch#result", "title": "Copper", "link": "https://a.example/cu",
            "displayLink": "a.example", "snippet": "A metal.", "pagemap": {"metatags": [{}]},
        }
    ],
}  # fmt: skip
SEARXNG = {
    "query": "copper", "number_of_results": 0,
    "results": [
        {
            "url": "https://a.example/cu", "title": "Copper", "content": "A metal.",
            "engine": "bing", "engines": ["bing", "baidu"], "score": 2.0, "category": "general",
            "publishedDate": None,
        }
    ],
    "answers": [], "infoboxes": [], "suggestions": [], "unresponsive_engines": [["x", "timeout"]],
}  # fmt: skip


def read(search: WebSearchName, body: Any, status: int = 200, k: int = 9) -> list[WebHit]:
    return read_web_hits(search, status, json.dumps(body).encode(), k)


def test_what_is_asked() -> None:
    assert web_request("brave", "copper", 30) == WebRequest(
        url="https://api.search.brave.com/res/v1/web/search",
        parameters={"q": "copper", "count": "20"},
        key_header="X-Subscription-Token",
    )
    assert web_request("google", "铜", 5, engine="abc") == WebRequest(
        url="https://www.googleapis.com/customsearch/v1",
        parameters={"q": "铜", "num": "5", "cx": "abc"},
        key_header="X-Goog-Api-Key",
    )
    for base in ("http://searx.test/", "http://searx.test/search"):
        assert web_request("searxng", "铜", 5, base=base, engine="bing,baidu") == WebRequest(
            url="http://searx.test/search",
            parameters={"q": "铜", "format": "json", "engines": "bing,baidu"},
        )


def test_what_is_further_on_is_asked_for_with_another_request() -> None:
    """Brave counts pages from 0, Google hits from 1, SearXNG pages from 1."""
    assert [web_requests_for(search, 20) for search in WEB_SEARCHES] == [1, 2, 2]
    assert [web_requests_for(search, 10) for search in WEB_SEARCHES] == [1, 1, 1]
    base = "https://s.example"
    asked = {
        search: web_request(search, "copper", 20, base=base, page=1).parameters
        for search in WEB_SEARCHES
    }
    assert asked["brave"]["offset"] == "1"
    assert (asked["google"]["start"], asked["google"]["num"]) == ("11", "10")
    assert asked["searxng"]["pageno"] == "2"


def test_hits_of_each() -> None:
    assert read("brave", BRAVE) == [
        WebHit(
            url="https://a.example/cu", title="Copper", text="A metal.",
            published="2024-01-02T00:00:00",
        ),
        WebHit(url="https://b.example/", title="Ore", text=""),
    ]  # fmt: skip
    assert len(read("brave", BRAVE, k=1)) == 1
    hit = WebHit(url="https://a.example/cu", title="Copper", text="A metal.")
    assert read("google", GOOGLE) == [hit]
    assert read("searxng", SEARXNG) == [
        WebHit(url=hit.url, title=hit.title, text=hit.text, engine="bing")
    ]


def test_nothing_found_is_no_error() -> None:
    assert read("brave", {"type": "search", "query": {}}) == []
    assert read("google", {"kind": "customsearch#search"}) == []
    assert read("searxng", {"results": []}) == []


@pytest.mark.parametrize(
    ("search", "status", "body", "kind"),
    [
        ("brave", 429, {"type": "ErrorResponse", "error": {
            "id": "1", "status": 429, "code": "RATE_LIMITED", "detail": "Request rate limit"}},
         "rate_limited"),
        ("brave", 422, {"type": "ErrorResponse", "error": {
            "status": 422, "code": "SUBSCRIPTION_TOKEN_INVALID", "detail": "The token is wrong"}},
         "bad_key"),
        ("brave", 402, {"error": {"status": 402, "code": "QUOTA_LIMITED"}}, "no_credit"),
        ("google", 429, {"error": {"code": 429, "message": "Quota exceeded", "errors": [
            {"reason": "rateLimitExceeded", "domain": "global"}], "status": "RESOURCE_EXHAUSTED"}},
         "rate_limited"),
        ("google", 403, {"error": {"code": 403, "message": "Daily Limit", "errors": [
            {"reason": "dailyLimitExceeded"}]}}, "no_credit"),
        ("google", 400, {"error": {"code": 400, "message": "API key not valid.", "errors": [
            {"reason": "badRequest"}], "status": "INVALID_ARGUMENT"}}, "bad_key"),
        ("google", 400, {"error": {"code": 400, "message": "Invalid value"}}, "bad_request"),
        ("searxng", 403, "Forbidden", "bad_key"),
        ("searxng", 429, "Too Many Requests", "rate_limited"),
        ("searxng", 502, {"error": "no engine answered"}, "server_error"),
    ],
)  # fmt: skip
def test_errors_by_kind(search: WebSearchName, status: int, body: Any, kind: str) -> None:
    with pytest.raises(WebSearchError) as caught:
        read(search, body, status)
    assert caught.value.kind == kind
    assert caught.value.detail


@given(st.sampled_from(WEB_SEARCHES), st.binary(max_size=60), st.sampled_from([200, 404, 500]))
def test_what_is_no_answer_is_an_error_and_nothing_else(
    search: WebSearchName, body: bytes, status: int
) -> None:
    with suppress(WebSearchError):
        assert read_web_hits(search, status, body, 3) == []


def test_a_page_for_people_is_no_answer() -> None:
    with pytest.raises(WebSearchError, match="unreadable: invalid response of searxng"):
        read_web_hits("searxng", 200, b"<!DOCTYPE html><html>", 3)
