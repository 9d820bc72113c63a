"""Searching the web from a workspace: through the gate, with keys from the environment, kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from proofstone.engines.retrieval import (
    WEB_SEARCHES,
    WebHit,
    WebRequest,
    WebSearchError,
    WebSearchName,
    read_web_hits,
    web_request,
    web_requests_for,
)
from proofstone.errors import BadUsage, EgressRefused, EndpointUnusable
from proofstone.identity import content_id
from proofstone.ports import Clock
from proofstone.records import Source
from proofstone.stages.sent_beside import SentBeside, SentLog
from proofstone.wiring.fetching import Got, get
from proofstone.wiring.folders import MARK
from proofstone.wiring.kept_notes import read_note, write_note

if TYPE_CHECKING:
    from proofstone.engines.models import ModelConfig, RequestPurse, Secret, Spending

__all__ = ["KeptSearch", "WebSearcher", "searches_of", "set_searches"]

_TRIES = 4
_PROBE = "weather"
_LONGEST_WAIT_S = 60.0
_KEYS = {"brave": "BRAVE_SEARCH_API_KEY", "google": "GOOGLE_SEARCH_API_KEY"}
_BASES = {
    "brave": "BRAVE_SEARCH_URL", "google": "GOOGLE_SEARCH_URL", "searxng": "SEARXNG_URL"
}  # fmt: skip
_ENGINES = {"google": "GOOGLE_SEARCH_ENGINE_ID", "searxng": "SEARXNG_ENGINES"}
_RETRIED = frozenset({"rate_limited", "server_error"})


class KeptSearch(Struct, frozen=True, kw_only=True):
    """A search as it is kept: who was asked what and when (seconds since the epoch), the hits, the
    SHA-256 of the answer they were read from, and the ids of the private sources that the query was
    made from."""

    search: str
    query: str
    k: int
    asked_at: float
    answer: str
    hits: tuple[WebHit, ...]
    sources: tuple[str, ...] = ()


@dataclass
class _Sent:
    """Requests that may be billed, and what they took of a budget."""

    requests: int = 0
    billed: int = 0


class WebSearcher:
    """One web search. The same query is asked once and then read from ``folder``; ``tell`` hears
    what goes where before it does, ``log`` keeps that it went. ``engines`` are those that SearXNG
    is to ask, in place of the environment's. ``spending`` is charged the price of each request.

    Raises NoPrice where that has a budget in money and no price is known.
    """

    def __init__(
        self,
        search: WebSearchName,
        folder: Path,
        config: ModelConfig,
        clock: Clock,
        *,
        engines: str = "",
        log: SentLog | None = None,
        tell: Callable[[str], None] | None = None,
        spending: Spending | None = None,
    ) -> None:
        self.search = search
        self._folder = folder / MARK / "websearch"
        self._config, self._clock, self._tell, self._log = config, clock, tell, log
        self._base = self._set(_BASES[search])
        self._engine = engines or self._set(_ENGINES.get(search, ""))
        self.name = f"{search}:{engines}" if engines else search
        if unset := _unset(search, config.environment):
            raise BadUsage(
                f"a search by {search} needs {' and '.join(unset)}",
                hint="set it in the environment or in a .env file",
            )
        self._price = config.searches.get(search)
        self._purse = self._open_purse(spending)

    def _open_purse(self, spending: Spending | None) -> RequestPurse | None:
        from proofstone.engines.models import open_request_purse  # noqa: PLC0415 - heavy

        if spending is None:
            return None
        return open_request_purse(self.search, self._price, spending)

    async def find(
        self,
        query: str,
        k: int = 10,
        *,
        made_from: Sequence[Source] = (),
        is_cleared: bool = False,
    ) -> KeptSearch:
        """The first ``k`` hits. ``made_from`` are the sources whose text stands behind the query:
        it leaves only where the policy lets each of them, unless that was settled before
        (``is_cleared``).

        Raises EgressRefused where it may not, EndpointUnusable naming the kind of failure.
        """
        try:
            return await self.seek(query, k, made_from=made_from, is_cleared=is_cleared)
        except WebSearchError as error:
            raise told_failure(self.name, error) from None

    async def seek(
        self,
        query: str,
        k: int = 10,
        *,
        made_from: Sequence[Source] = (),
        is_cleared: bool = False,
    ) -> KeptSearch:
        """``find`` for callers that tell failures apart. Raises EgressRefused, BudgetReached,
        WebSearchError."""
        request = self._request(query, k)
        file = self._file(request, k)
        if (kept := read_note(file, KeptSearch)) is not None:
            return kept
        if not is_cleared:
            self._clear(request.url, made_from)
        sent = _Sent()
        try:
            bodies, hits = await self._all_asked(query, k, sent)
        finally:
            self._note(query, made_from, sent)
        found = KeptSearch(
            search=self.search, query=query, k=k, asked_at=self._clock.now(),
            answer=sha256(b"".join(bodies)).hexdigest(), hits=tuple(hits),
            sources=tuple(source.id.hex() for source in made_from),
        )  # fmt: skip
        write_note(file, found)
        return found

    async def probe(self) -> int:
        """How many hits a fixed query has that holds nothing of a workspace; nothing is kept.
        Raises EgressRefused, WebSearchError."""
        _body, hits = await self._asked(_PROBE, 1, _Sent())
        return len(hits)

    @property
    def address(self) -> str:
        """Where it is asked."""
        return self._request("", 1).url

    def kept(self, query: str, k: int = 10) -> KeptSearch | None:
        """The answer to a query that is here: asking it again would send nothing."""
        return read_note(self._file(self._request(query, k), k), KeptSearch)

    def _request(self, query: str, k: int, page: int = 0) -> WebRequest:
        return web_request(self.search, query, k, base=self._base, engine=self._engine, page=page)

    def _file(self, request: WebRequest, k: int) -> Path:
        what = [self.search, request.url, request.parameters, k]
        return self._folder / f"{content_id('web-search', what).hex()}.json"

    def _clear(self, url: str, made_from: Sequence[Source]) -> None:
        """Raises EgressRefused unless a policy lets the query out: a search's host is allowed by
        name, and each source that a query was made from too."""
        from proofstone.engines.models import destination_of  # noqa: PLC0415 - heavy

        to, gate = destination_of(url), self._config.gate
        if to is None:
            raise BadUsage(f"{url} is no address of a search")
        gate.check(to)
        for source in made_from:
            gate.check_source(source.title, to)
            if gate.of_source(source.title, to) != "allowed":
                raise EgressRefused(
                    f"nobody has allowed queries made from {source.title!r} to go to {to}; nothing "
                    "was sent",
                    hint=f'to allow it, add [egress.sources."{source.title}"] hosts = ["{to}"] to '
                    "proofstone.toml",
                )
        if self._tell is not None:
            self._tell(f"to {to}: a query" + (", made from private text" if made_from else ""))

    async def _all_asked(self, query: str, k: int, sent: _Sent) -> tuple[list[bytes], list[WebHit]]:
        """The answers, and the first ``k`` hits of them, each address once: asked on for as long as
        there are new ones."""
        bodies: list[bytes] = []
        found: dict[str, WebHit] = {}
        for page in range(web_requests_for(self.search, k)):
            body, hits = await self._asked(query, k, sent, page)
            bodies.append(body)
            n_before = len(found)
            for hit in hits:
                found.setdefault(hit.url, hit)
            if len(found) >= k or len(found) == n_before:
                break
        return bodies, list(found.values())[:k]

    async def _asked(
        self, query: str, k: int, sent: _Sent, page: int = 0
    ) -> tuple[bytes, list[WebHit]]:
        from proofstone.engines.models import Secret  # noqa: PLC0415 - heavy
        from proofstone.engines.models.retry_after import read_retry_after  # noqa: PLC0415

        request = self._request(query, k, page)
        key = self._set(_KEYS.get(self.search, ""))
        headers = {"Accept": Secret("application/json")}
        if request.key_header:
            headers[request.key_header] = Secret(key)
        for attempt in range(_TRIES):
            asked_for = None
            try:
                got = await self._paid(request, headers, sent)
                asked_for = read_retry_after(got.headers, self._clock.now())
                return got.body, read_web_hits(self.search, got.status, got.body, k)
            except EndpointUnusable as error:
                failed = WebSearchError("server_error", error.message)
            except WebSearchError as error:
                detail = error.detail.replace(key, "...") if key else error.detail
                failed = WebSearchError(error.kind, detail)
            wait = 2.0**attempt if asked_for is None else asked_for
            if failed.kind not in _RETRIED or attempt == _TRIES - 1 or wait > _LONGEST_WAIT_S:
                raise failed from None
            await self._clock.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    async def _paid(self, request: WebRequest, headers: Mapping[str, Secret], sent: _Sent) -> Got:
        """One request, charged where it was answered with 200, or where it may have been: a
        connection that broke under way. Other answers are errors, which are not billed."""
        import aiohttp  # noqa: PLC0415 - heavy

        purse = self._purse
        held = 0 if purse is None else await purse.put_aside()
        is_billed, is_known = True, False
        try:
            got = await get(
                request.url,
                self._config,
                parameters=request.parameters,
                headers=headers,
                resends=False,  # each is billed
            )
            is_billed, is_known = got.status == 200, True
        except EgressRefused:
            is_billed = False
            raise
        except EndpointUnusable as error:
            unreached = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, ValueError)
            is_billed = not isinstance(error.__cause__, unreached)
            raise
        finally:
            if is_billed:
                sent.requests += 1
                sent.billed += 0 if purse is None else purse.settle(held, is_estimated=not is_known)
            elif purse is not None:
                purse.give_back(held)
        return got

    def _note(self, query: str, made_from: Sequence[Source], sent: _Sent) -> None:
        """What was sent, in the log."""
        price = self._price
        line = SentBeside(
            at=self._clock.now(), endpoint=self.address, what="searched", by=self.name,
            requests=sent.requests, n_bytes=sent.requests * len(query.encode()),
            cost_usd=None if price is None else sent.requests * price.per_1000 / 1000,
            sources=tuple(source.title for source in made_from),
        )  # fmt: skip
        if self._log is not None and sent.requests:
            self._log.add([line])
        if self._purse is not None:
            self._purse.noted(sent.billed)

    def _set(self, variable: str) -> str:
        return self._config.environment.get(variable, "").strip() if variable else ""


_HINTS = {
    "rate_limited": "ask again later, or ask less at once",
    "no_credit": "the quota of the key is used up: raise it, or ask again tomorrow",
    "bad_key": "check the key in the environment; SearXNG must allow the format json (its "
    "settings: search.formats)",
    "bad_request": "check the address and the settings of the search",
    "unreadable": "check the address: no search answered",
    "server_error": "ask again later",
}


def told_failure(search: str, error: WebSearchError) -> EndpointUnusable:
    """A search's error as one that a person reads."""
    return EndpointUnusable(
        f"{search} answers {error.kind}: {error.detail}", hint=_HINTS[error.kind]
    )


def set_searches(environment: Mapping[str, str]) -> list[WebSearchName]:
    """The searches whose variables are set."""
    return [search for search in WEB_SEARCHES if not _unset(search, environment)]


def _unset(search: WebSearchName, environment: Mapping[str, str]) -> list[str]:
    """The variables that a search needs and that are not set."""
    needed = [_KEYS[search]] if search in _KEYS else [_BASES[search]]
    needed += ["GOOGLE_SEARCH_ENGINE_ID"] if search == "google" else []
    return [name for name in needed if not environment.get(name, "").strip()]


def searches_of(folder: Path, source: bytes) -> tuple[str, ...]:
    """The kept searches whose query was made from a source, relative to the workspace."""
    files = sorted((folder / MARK / "websearch").glob("*.json"))
    return tuple(
        file.relative_to(folder).as_posix()
        for file in files
        if (kept := read_note(file, KeptSearch)) is None or source.hex() in kept.sources
    )
