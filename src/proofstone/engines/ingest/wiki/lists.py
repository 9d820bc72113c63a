"""What a wiki's web API is asked besides its pages: random titles, and how much Wikidata says.

Nothing is sent here. As MediaWiki's and Wikibase's public documents describe it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofstone.engines.ingest.wiki.answers import COMMON, read_answer

__all__ = [
    "RANDOM_AT_ONCE",
    "random_query",
    "read_random",
    "read_repository",
    "read_statements",
    "repository_query",
    "statements_query",
]

RANDOM_AT_ONCE = 500  # titles that a wiki draws at a time


def random_query(n: int) -> dict[str, str]:
    """What asks for titles of ``n`` random articles, no redirects among them."""
    return {
        **COMMON,
        "action": "query",
        "list": "random",
        "rnnamespace": "0",
        "rnfilterredir": "nonredirects",
        "rnlimit": str(max(1, min(n, RANDOM_AT_ONCE))),
    }


def read_random(body: bytes) -> list[str]:
    """The titles that a wiki answered to ``random_query``. Raises WikiError."""
    return [page.title for page in read_answer(body).query.random if page.title]


def repository_query() -> dict[str, str]:
    """What asks where the statements about a wiki's pages are kept."""
    return {**COMMON, "action": "query", "meta": "wikibase", "wbprop": "url"}


def read_repository(body: bytes) -> str:
    """The address of the API of that place; empty where a wiki has none. Raises WikiError."""
    url = read_answer(body).query.wikibase.repo.url
    base = f"https:{url.base}" if url.base.startswith("//") else url.base
    return f"{base}{url.scriptpath}/api.php" if base else ""


def statements_query(numbers: Sequence[str], going_on: Mapping[str, str] = {}) -> dict[str, str]:
    """What asks how many statements there are about these Q numbers, at most 50."""
    return {
        **COMMON,
        "action": "query",
        "titles": "|".join(numbers),
        "prop": "pageprops",
        "ppprop": "wb-claims",
        **going_on,
    }


def read_statements(body: bytes) -> tuple[dict[str, int], dict[str, str]]:
    """The number of statements by Q number, of those of which it is said, and what to ask on with.
    Raises WikiError."""
    answer = read_answer(body)
    counts = {
        page.title: int(said)
        for page in answer.query.pages
        if (said := page.prop("wb-claims")).isdecimal()
    }
    return counts, answer.going_on
