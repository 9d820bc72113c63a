"""Read the provider's own web searches of each response, and which blocked hosts it cites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from msgspec import Struct

from proofstone.models.responses import read_response
from proofstone.records.runs import TOOLS, WEB_SEARCH, Run, listed_hosts
from proofstone.results.answer_paths import Sampled
from proofstone.store.store import Store


class Searched(Struct, frozen=True):
    """Web searches of a response, over all steps.

    ``searches`` counts queries (None if a step's provider does not report them). ``cited`` are the
    cited addresses at the run's blocked hosts, ``unread`` the cited texts that name no host.
    """

    searches: int | None
    cited: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def searched_by_run(store: Store, key: int, run: Run) -> Mapping[Sampled, Searched]:
    """Return the searches of every response of a run with its provider's web search.

    Empty for a run without. Responses with a purged body are left out.
    """
    found: dict[Sampled, Searched] = {}
    if run.settings.get(TOOLS) != WEB_SEARCH:
        return found
    blocked = listed_hosts(run.settings)
    for page in store.runs.response_pages(key, run.item_set):
        for each in page:
            for (sample, _step), stored in each.responses.items():
                if not stored.raw:
                    continue
                response = read_response(stored.wire, stored.raw)
                made = _searched(response.searches, response.citations, blocked)
                at = Sampled(each.item.loaded.item.id, sample)
                found[at] = _together(found[at], made) if at in found else made
    return found


def _searched(searches: int | None, citations: Sequence[str], blocked: Sequence[str]) -> Searched:
    hosts = {address: host_of(address) for address in citations}
    return Searched(
        searches,
        tuple(address for address, host in hosts.items() if is_at(host, blocked)),
        tuple(address for address, host in hosts.items() if not host),
    )


def _together(first: Searched, second: Searched) -> Searched:
    known = first.searches is not None and second.searches is not None
    return Searched(
        (first.searches or 0) + (second.searches or 0) if known else None,
        (*first.cited, *second.cited),
        (*first.unread, *second.unread),
    )


def host_of(address: str) -> str:
    """Return the host of an address in lower case, also of one without a scheme; empty if none."""
    text = address.strip()
    if any(sign.isspace() for sign in text):
        return ""
    try:
        host = urlsplit(text if "://" in text else f"//{text}").hostname or ""
    except ValueError:
        return ""
    return host.rstrip(".") if "." in host else ""


def is_at(host: str, blocked: Sequence[str]) -> bool:
    """Return True for a blocked host and for any below it (``www.bank.example``)."""
    return any(host == each or host.endswith(f".{each}") for each in blocked)
