"""Ask a model through the cache, rate limits and retries; every billed attempt is stored.

An ``Asker`` is one model with its limiter, its retries, the cache and a clock. Runs, judges and
builders all ask through one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from random import Random
from typing import Any

from msgspec import Struct, structs

from proofstone.errors import BudgetReached, EndpointUnusable, NotAsked, ProofstoneError
from proofstone.models.budget import (
    Bounds,
    Held,
    Purse,
    Spending,
    cost_usd,
    is_free,
    may_be_billed,
    most_output,
    open_purse,
    total_tokens,
)
from proofstone.models.concurrency import Feedback, Limiter
from proofstone.models.failures import UNREACHED, advise, treatment
from proofstone.models.responses import UnreadableResponseError, read_response, salvage_usage
from proofstone.models.retries import Halt, Retries, Stopped
from proofstone.records.calls import (
    Attempt,
    CacheUse,
    CallRecord,
    CallStore,
    Clock,
    Model,
    ModelRequest,
    Recorder,
)
from proofstone.records.ids import content_id
from proofstone.records.models import Price
from proofstone.records.runs import Response, Usage

_PUSH_BACK = frozenset({"rate_limited", "overloaded", "timeout"})


# Before an endpoint's first answer, a failed connection rather means a wrong address.
_TRIES_TO_REACH = 2


class Asked(Struct, frozen=True, gc=False):
    """Hold the final row of a request, not yet stored, and its response.

    The response is None if the row's state is ``failed``. ``key`` is the stored call's key for a
    cached one.
    """

    record: CallRecord
    response: Response | None
    key: int | None = None


class _Asking(Struct, frozen=True, gc=False):
    """A request in progress: the request, its hash, and the settings as sent."""

    request: ModelRequest
    identity: bytes
    sent: Mapping[str, Any]
    dropped: tuple[str, ...]


class Asker:
    """Ask one model, on one event loop.

    The cache is searched if any call of the model was stored before this object was made or before
    the last ``look_again``. A first run therefore pays for no look-up. A stored response is used
    only if the model version that answers now gave it (``ReportedVersions``).

    ``stopped`` is set if a failure ends all work of this model (bad key, no credit, ...) or the
    budget does not cover another call. From then on, and once ``stop`` is set, unsent requests
    raise CallFailed immediately. ``window`` is the maximum of prompt and response tokens, if known.
    """

    def __init__(
        self,
        model: Model,
        limiter: Limiter,
        *,
        store: CallStore,
        clock: Clock,
        rng: Random,
        price: Price | None = None,
        retries: Retries | None = None,
        stop: asyncio.Event | None = None,
        hints: Mapping[str, str] | None = None,
        cache: CacheUse = "same",
        spending: Spending | None = None,
        window: int | None = None,
    ) -> None:
        self.model = model
        self.price = price
        self.bounds = Bounds(window)
        self.stopped: ProofstoneError | None = None
        self._reported = ReportedVersions(store, model, cache)
        self._limiter = limiter
        self._store = store
        self._stored = StoredCalls(store)
        self._clock = clock
        self._rng = rng
        self.spending = spending
        self._purse = open_purse(model, price, self.bounds, spending)
        self._retries = Retries() if retries is None else retries
        self._halt = Halt(stop)
        self._hints = {"key": "the environment", "entry": "proofstone.toml", **(hints or {})}
        self._known = store.known_hashes(model.name)
        self._has_answered = False
        self._stopped_by = ""

    @property
    def bills(self) -> bool:
        """Return True if asking may cost money: there is a price, or none is known."""
        return self.price is None or not is_free(self.price)

    @property
    def max_connections(self) -> int:
        """Return the maximum number of concurrent requests."""
        return self._limiter.maximum

    @property
    def limiter(self) -> Limiter:
        """Return the slots for its requests; models behind one endpoint share them."""
        return self._limiter

    def fits_a_budget(self, settings: Mapping[str, Any]) -> bool:
        """Return True if no budget applies, or these settings limit the response length."""
        sent, _dropped = self.model.sent_settings(settings)
        if self._purse is None or self.spending is None or self.spending.budget is None:
            return True
        return most_output(sent, self.bounds.window) is not None

    def look_again(self) -> None:
        """Read calls that were stored since into the cache."""
        self._known = self._store.known_hashes(self.model.name)

    async def find_cached(self, request: ModelRequest) -> Asked | None:
        """Return the stored response for a request, or None if it would be sent. Sends nothing."""
        sent, _dropped = self.model.sent_settings(request.settings)
        identity = request_hash(self.model, request, sent)
        return await self._cached(identity) if identity in self._known else None

    def most_tokens(self, request: ModelRequest) -> Usage:
        """Return the maximum tokens of one attempt; None for an unlimited response."""
        sent, _dropped = self.model.sent_settings(request.settings)
        return self.bounds.most(request, sent)

    async def ask(self, request: ModelRequest, record: Recorder) -> Asked:
        """Return the request's response, or its final failure.

        ``record`` is awaited for each earlier attempt that was billed and unusable. The caller
        stores the final row. Raises CallFailed if the model is stopped (kind as of ``stopped``),
        its subclass Stopped if the run stops; then nothing was sent that is not stored.
        """
        sent, dropped = self.model.sent_settings(request.settings)
        identity = request_hash(self.model, request, sent)
        if identity in self._known and (cached := await self._cached(identity)) is not None:
            return cached
        return await self._ask_endpoint(_Asking(request, identity, sent, dropped), record)

    async def close(self) -> None:
        """Close the model's connections."""
        self._halt.close()
        await self.model.close()

    async def _cached(self, identity: bytes) -> Asked | None:
        found = await self._stored.find(identity)
        if found is None:
            return None
        key, row = found
        if not self._reported.allow(row):
            return None
        try:
            return Asked(row, read_response(row.wire, row.raw), key)
        except UnreadableResponseError:  # no longer readable: asked again rather than lost
            return None

    async def _ask_endpoint(self, asking: _Asking, record: Recorder) -> Asked:
        kept = tries = retry = 0
        while True:
            started_at, attempt, held = await self._try(asking, record)
            tries += 1
            row = self._row(asking, attempt, started_at, kept, tries)
            if held is not None and self._purse is not None:
                self._purse.settle(held, row)
            if attempt.response is not None:
                self._has_answered = True
                self._reported.saw(attempt.response.model)
                return Asked(row, attempt.response)
            wait = self._wait(retry, attempt)
            if wait is None:
                self._stop_where_hopeless(attempt)
                return Asked(row, None)
            # Billed, but unusable.
            if attempt.status == 200 or row.estimated_tokens is not None:
                await record(row)
                kept, tries = kept + 1, 0
            await self._pause(wait)
            retry += 1

    async def _try(self, asking: _Asking, record: Recorder) -> tuple[float, Attempt, Held | None]:
        """Make one attempt in a limiter slot; return its start time, it, and its reservation."""
        limiter = self._limiter
        feedback: Feedback = "neutral"
        self._refuse_when_stopped()
        entered = limiter.try_enter()
        if entered is None:
            entered = await self._queue()
        held = None
        try:
            self._refuse_when_stopped()
            if self._purse is not None:
                held = await self._put_aside(self._purse, asking)
            started_at = self._clock.now()
            ticket = await self.model.submit(asking.request)
            if ticket.reference:  # outlives this process: stored before it is waited for
                await record(self._submitted(asking, ticket.reference, started_at))
            attempt = await self.model.collect(ticket)
            feedback = _feedback(attempt)
        except BaseException:
            if held is not None and self._purse is not None:
                self._purse.abandon(held)
            raise
        finally:
            limiter.leave(entered, feedback)
        return started_at, attempt, held

    async def _put_aside(self, purse: Purse, asking: _Asking) -> Held:
        """Reserve the maximum cost of one attempt, or stop the model."""
        try:
            held = await purse.put_aside(asking.request, asking.sent, self._halt)
        except Stopped:
            raise self._refusal() from None
        except BudgetReached as reached:
            self._stop(reached, "budget_reached")
            raise self._refusal() from None
        if self._halt.is_set:
            purse.give_back(held)
            raise self._refusal()
        return held

    async def _queue(self) -> int:
        try:
            return await self._limiter.enter(self._halt)
        except Stopped:
            raise self._refusal() from None

    async def _pause(self, seconds: float) -> None:
        try:
            await self._halt.sleep(seconds, self._clock)
        except Stopped:
            raise self._refusal() from None

    def _refuse_when_stopped(self) -> None:
        if self._halt.is_set:
            raise self._refusal()

    def _refusal(self) -> NotAsked:
        """Return why nothing is sent any more: the model is stopped, or the run is."""
        if self.stopped is not None:
            return NotAsked(self._stopped_by, self.stopped.message)
        return Stopped()

    def _row(
        self, asking: _Asking, attempt: Attempt, started_at: float, kept: int, tries: int
    ) -> CallRecord:
        model, request, response = self.model, asking.request, attempt.response
        usage = salvage_usage(attempt.raw) if response is None else response.usage
        charged, estimated = usage, None
        if usage.prompt is None or usage.completion is None:
            charged, estimated = self._charged(asking, attempt, usage)
        return CallRecord(
            request_hash=asking.identity,
            attempt=kept,
            purpose=request.purpose,
            model=model.name,
            endpoint=model.endpoint,
            wire=model.wire,
            prompt_hash=request.prompt_hash,
            prompt=request.prompt,
            sample=request.sample,
            settings_asked=request.settings,
            settings_sent=asking.sent,
            settings_dropped=asking.dropped,
            state="failed" if response is None else "complete",
            simulated=model.simulated,
            error=attempt.error,
            detail=attempt.detail,
            status=attempt.status,
            raw=attempt.raw,
            usage=usage,
            cost_usd=cost_usd(self.price, charged, attempt.status),
            estimated_tokens=estimated,
            reported_model="" if response is None else response.model,
            fingerprint="" if response is None else response.fingerprint,
            latency_s=attempt.latency_s,
            attempts=tries,
            started_at=started_at,
        )

    def _submitted(self, asking: _Asking, reference: str, started_at: float) -> CallRecord:
        """Return the row of a request that outlives this process, before it has a result."""
        row = self._row(asking, Attempt(), started_at, 0, 1)
        return structs.replace(row, state="submitted", reference=reference)

    def _charged(self, asking: _Asking, attempt: Attempt, usage: Usage) -> tuple[Usage, int | None]:
        """Return what the endpoint may have counted, and the number of estimated tokens.

        That number is None if the reported usage is all that is billed.
        """
        if not may_be_billed(attempt, has_answered=self._has_answered):
            said = structs.replace(
                usage, prompt=usage.prompt or 0, completion=usage.completion or 0
            )
            return said, None
        most = self.bounds.estimate(asking.request, asking.sent, attempt, usage)
        return most, total_tokens(most)

    def _wait(self, retry: int, attempt: Attempt) -> float | None:
        """Return the seconds until the next attempt, or None. ``retry`` counts from 0."""
        most = self._retries.most
        if attempt.error in UNREACHED and not self._has_answered:
            most = min(most, _TRIES_TO_REACH)
        if retry >= most or not self._is_retried(attempt.error):
            return None
        return self._retries.wait(retry, attempt.retry_after_s, self._rng.random())

    def _is_retried(self, kind: str) -> bool:
        # An HTML page after an earlier answer comes from a gateway, not from a wrong address.
        return treatment(kind).retried or (kind == "not_an_api" and self._has_answered)

    def _stop_where_hopeless(self, attempt: Attempt) -> None:
        """Set ``stopped``, and end all waits, if no other request could succeed."""
        kind, known = attempt.error, treatment(attempt.error)
        never_reached = kind in UNREACHED and not self._has_answered
        is_gateway = kind == "not_an_api" and self._has_answered
        if self.stopped is not None or is_gateway or not (known.stops or never_reached):
            return
        model = self.model
        hint = advise(kind, model=model.reported_as, endpoint=model.endpoint, **self._hints)
        self._stop(EndpointUnusable(f"{model.name}: {kind}: {attempt.detail}", hint=hint), kind)

    def _stop(self, reason: ProofstoneError, kind: str) -> None:
        """End this model's work: all waits, and what was not sent."""
        self.stopped = self.stopped or reason
        self._stopped_by = self._stopped_by or kind
        self._halt.now(reason.message)


def _feedback(attempt: Attempt) -> Feedback:
    if attempt.error in _PUSH_BACK:
        return "push_back"
    return "good" if attempt.response is not None else "neutral"


# Decide which stored responses still count: those of the model version that the endpoint serves
# now.
#
# A name such as ``gpt-4o`` is an alias that a provider moves. The request and its hash stay the
# same, so a response from before the move would be mixed with those of another version. A stored
# response is used only if its model version is
#
# - one that the endpoint reported in a fresh response since this asker was made, or,
#
# - as long as nothing was asked yet, the one reported in the newest stored response.
#
# It is a set, since an endpoint alternates between versions during a move. A response that reports
# no version (a content filter's refusal) is always used.


class ReportedVersions:
    """Decide whether stored responses of one model may be used; ``use`` "any" takes them all."""

    def __init__(self, store: CallStore, model: Model, use: CacheUse = "same") -> None:
        self._store = store
        self._model = model
        self._takes_any = use == "any"
        self._fresh: set[str] = set()
        self._newest: str | None = None

    def saw(self, reported_model: str) -> None:
        """Record that a fresh response reported this model version."""
        if reported_model:
            self._fresh.add(reported_model)

    def allow(self, row: CallRecord) -> bool:
        """Return True if a stored response may be used again."""
        if self._takes_any or not row.reported_model:
            return True
        if self._fresh:
            return row.reported_model in self._fresh
        if self._newest is None:
            model = self._model
            self._newest = self._store.newest_reported(model.name, model.endpoint)
        return row.reported_model == self._newest


# Look up stored calls: one query for all requests of one event-loop turn.

Found = tuple[int, CallRecord]


class StoredCalls:
    """Find complete calls by request hash, on one event loop.

    A query costs much more than an additional row in it. A run answered from the cache has as many
    look-ups in flight as workers.
    """

    def __init__(self, store: CallStore) -> None:
        self._store = store
        self._wanted: dict[bytes, list[asyncio.Future[Found | None]]] = {}

    async def find(self, identity: bytes) -> Found | None:
        """Return the key and row of the newest complete call with this hash, or None."""
        loop = asyncio.get_running_loop()
        if not self._wanted:
            loop.call_soon(self._search)
        waiting: asyncio.Future[Found | None] = loop.create_future()
        self._wanted.setdefault(identity, []).append(waiting)
        return await waiting

    def _search(self) -> None:
        wanted, self._wanted = self._wanted, {}
        try:
            found = self._store.find_calls(list(wanted))
        except Exception as error:  # noqa: BLE001 - raised again to each that waits
            for each in (future for futures in wanted.values() for future in futures):
                if not each.done():
                    each.set_exception(error)
            return
        for identity, futures in wanted.items():
            for each in futures:
                if not each.done():  # its caller may be gone
                    each.set_result(found.get(identity))


# Identity of a request: two with the same hash are the same question to the same model.


def request_hash(model: Model, request: ModelRequest, sent: Mapping[str, Any]) -> bytes:
    """Hash everything that identifies a request, with SHA-256.

    Includes wire format, endpoint identity, model name as sent, prompt hash, the settings sent,
    sample, re-ask and replicate. Excludes time limits, concurrency, prices and headers, which
    change no response.
    """
    where = [model.wire, model.endpoint, model.reported_as]
    what = [request.prompt_hash, sent, request.sample, request.reask, request.replicate]
    return content_id("request", where + what)
