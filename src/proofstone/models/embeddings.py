"""Embed texts with an OpenAI-compatible embeddings endpoint: in batches, limited, retried.

Nothing is cached or stored here: an index stores the vectors of its chunks. A text is sent again
only if its vector was not stored.
"""

from __future__ import annotations

import asyncio
from base64 import b64decode
from collections.abc import Iterator, Sequence
from random import Random

import msgspec
import numpy as np
import orjson
from msgspec import Struct, structs
from numpy.typing import NDArray

from proofstone.errors import EndpointUnusable
from proofstone.models.budget import RequestPurse, cost_usd, may_be_billed
from proofstone.models.client import ChatEndpoint
from proofstone.models.config import Endpoint
from proofstone.models.failures import advise, classify, treatment
from proofstone.models.responses import salvage_usage
from proofstone.models.retries import Retries
from proofstone.records.calls import Attempt, Clock
from proofstone.records.runs import Usage

# Responses of embeddings endpoints, read strictly: one vector per text, in order.
#
# ``data`` holds a row per text with its ``index``, in any order. The vector is a list of numbers
# or, if an endpoint sends that unrequested, base64 of little-endian float32. (This is OpenAI's
# interface; vLLM, TEI, Ollama, llama.cpp and most providers match it.) Bytes do not state their
# number type: signed bytes and float64 come as base64 as well, and are refused.

_HUGE = 1e6  # no component of a text's vector is larger


_TINY, _FEW_TINY = 1e-8, 0.05  # relative size of a tiny component, and the maximum share of those


class UnreadableVectorsError(ValueError):
    """A body without one vector for each text; its message describes the content."""


class WrongVectorsError(UnreadableVectorsError):
    """A complete response with invalid vectors; asking again would give the same."""


class EmbeddingResponse(Struct, frozen=True):
    """Vectors (texts, dimensions) as received, not scaled; the reported model and token count.

    The token count is None if not reported.
    """

    vectors: NDArray[np.float64]
    model: str = ""
    tokens: int | None = None


class _Row(Struct, frozen=True):
    embedding: list[float] | str
    index: int | None = None


class _Usage(Struct, frozen=True):
    prompt_tokens: int | None = None
    total_tokens: int | None = None


class _Body(Struct, frozen=True):
    data: list[_Row]
    model: str = ""
    usage: _Usage | None = None


def read_vectors(raw: bytes, n_texts: int, dimensions: int | None = None) -> EmbeddingResponse:
    """Return the vectors of a body in the order of the texts.

    Each has ``dimensions`` numbers, if that is known. Raises UnreadableVectorsError.
    """
    try:
        body = msgspec.json.decode(raw, type=_Body)
    except (msgspec.DecodeError, UnicodeDecodeError) as cause:
        raise UnreadableVectorsError(
            f"invalid response of an embeddings endpoint: {cause}"
        ) from cause
    if len(body.data) != n_texts:
        raise WrongVectorsError(f"expected {n_texts} vectors, got {len(body.data)}")
    rows = [_numbers(row.embedding) for row in _in_order(body.data)]
    widths = {len(row) for row in rows}
    if len(widths) > 1 or 0 in widths:
        told = ", ".join(map(str, sorted(widths)))
        raise WrongVectorsError(f"expected vectors of one length, got {told} numbers")
    if dimensions is not None and widths - {dimensions}:
        raise WrongVectorsError(f"expected {dimensions} numbers per vector, got {widths.pop()}")
    vectors = np.asarray(rows, dtype=np.float64).reshape(n_texts, -1 if n_texts else 0)
    if not np.isfinite(vectors).all():
        raise WrongVectorsError("a vector contains a number that is not finite")
    usage = body.usage or _Usage()
    tokens = usage.total_tokens if usage.prompt_tokens is None else usage.prompt_tokens
    return EmbeddingResponse(vectors, body.model, tokens)


def _in_order(rows: list[_Row]) -> list[_Row]:
    """Return the rows by their index; in received order if none has one."""
    if all(row.index is None for row in rows):
        return rows
    places = {row.index: row for row in rows}
    if set(places) != set(range(len(rows))):
        raise WrongVectorsError("row indexes are missing or duplicated")  # fmt: skip
    return [places[number] for number in range(len(rows))]


def _numbers(embedding: list[float] | str) -> NDArray[np.float64]:
    if not isinstance(embedding, str):
        return np.asarray(embedding, dtype=np.float64)
    try:
        data = b64decode(embedding, validate=True)
        with np.errstate(invalid="ignore"):  # other bytes may be NaN
            numbers = np.frombuffer(data, dtype="<f4").astype(np.float64)
    except ValueError as cause:
        raise WrongVectorsError(f"a vector is not base64 of float32: {cause}") from cause
    if not _can_be_float32(numbers):
        raise WrongVectorsError(
            f"a vector of {len(data)} base64 bytes is not float32 (signed bytes or float64?): "
            "configure the endpoint to return lists of numbers"
        )
    return numbers


def _can_be_float32(numbers: NDArray[np.float64]) -> bool:
    """Return True if bytes read as float32 have one scale, as components of a vector do.

    Signed bytes give exponents over the whole range, float64 gives rounding bits (or 0) at every
    even place. Of vectors of 32 signed bytes or more, fewer than one in 1,000 passes.
    """
    if not np.isfinite(numbers).all():
        return False
    sizes = np.abs(numbers)
    scale = sizes.max(initial=0.0)
    is_tiny = (sizes < scale * _TINY) & (sizes > 0)
    is_float64 = len(sizes) >= 4 and not sizes[0::2].any() and bool(sizes[1::2].any())
    return bool(scale < _HUGE and is_tiny.mean() <= _FEW_TINY) and not is_float64


_TEXTS, _CHARACTERS = 96, 100_000  # of one request; an endpoint with a lower limit gets fewer


_AT_ONCE = 8


_ADDED_TOKENS = 64  # maximum that a model adds around each text


_FORMAT = "encoding_format"


_BILLED = 200


_REFUSED = frozenset({"bad_request", "unsupported_parameter"})


_FEWER = frozenset({"bad_request", "too_long"})  # statuses for a batch that is too large


class EmbeddingUse(Struct, frozen=True, kw_only=True):
    """What embedding took: requests that may be billed, tokens as counted by the endpoint.

    ``estimated_tokens`` is the maximum if it did not count. The price is None if unknown. Also
    holds what was taken of a budget.
    """

    requests: int = 0
    texts: int = 0
    n_bytes: int = 0
    tokens: int = 0
    estimated_tokens: int = 0
    cost_usd: float | None = 0.0
    billed: int = 0


class EmbeddingsEndpoint:
    """A model behind ``/embeddings``.

    Made outside a loop, used on one; close it there. ``use`` counts what it took, which is charged
    to the ``purse``.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        clock: Clock,
        rng: Random,
        retries: Retries | None = None,
        purse: RequestPurse | None = None,
    ) -> None:
        self.name = endpoint.name
        self.endpoint = endpoint.identity
        self.use = EmbeddingUse(cost_usd=None if endpoint.price is None else 0.0)
        self._known = endpoint
        self._client = ChatEndpoint(endpoint, clock=clock)
        self._clock, self._rng, self._purse = clock, rng, purse
        self._has_answered = False
        self._added = _ADDED_TOKENS
        self._retries = retries or Retries()
        self._format = {} if _FORMAT in endpoint.unsupported else {_FORMAT: "float"}
        named = endpoint.body.get("dimensions")
        self._dimensions = named if isinstance(named, int) else None
        self._slots = asyncio.Semaphore(min(_AT_ONCE, endpoint.max_connections))

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return vectors (texts, dimensions) of length 1, in the order of the texts.

        The vector of an empty text, which no endpoint takes, is zero. A duplicate text is sent
        once. Raises EndpointUnusable, naming the kind of failure, and BudgetReached.
        """
        distinct = list(dict.fromkeys(text for text in texts if text.strip()))
        if not distinct:
            return np.zeros((len(texts), 1))
        asked = [asyncio.ensure_future(self._whole(batch)) for batch in _batches(distinct)]
        try:
            parts = await asyncio.gather(*asked)
        finally:
            for each in asked:
                each.cancel()
            await asyncio.gather(*asked, return_exceptions=True)  # their use is counted
        if len({part.shape[1] for part in parts}) > 1:
            raise self._unusable("unreadable", "its vectors have several lengths")
        vectors = _of_length_1(np.concatenate(parts))
        place = {text: at for at, text in enumerate(distinct)}
        whole = np.zeros((len(texts), vectors.shape[1]))
        for row, text in enumerate(texts):
            if text in place:
                whole[row] = vectors[place[text]]
        return whole

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _whole(self, texts: list[str]) -> NDArray[np.float64]:
        """Return the vectors of a batch; a refused batch is split in halves."""
        found = await self._tried(texts)
        if not isinstance(found, Attempt):
            return found.vectors
        if found.error not in _FEWER or len(texts) == 1:
            raise self._unusable(found.error, found.detail)
        middle = len(texts) // 2
        return np.concatenate(
            [await self._whole(texts[:middle]), await self._whole(texts[middle:])]
        )

    async def _tried(self, texts: list[str]) -> EmbeddingResponse | Attempt:
        """Return the response to a batch, or the last attempt, which failed."""
        rules = self._retries
        for retry in range(rules.most + 1):
            found = await self._once(texts)
            if isinstance(found, EmbeddingResponse):
                return found
            if found.error in _REFUSED and _FORMAT in found.detail and _FORMAT in self._format:
                self._format = {}  # unknown field: the default type, which is checked
                return await self._tried(texts)
            wait = found.retry_after_s or 0.0
            last = retry == rules.most or wait > rules.patience_s
            if last or not treatment(found.error).retried:
                return found
            jitter = self._rng.random() * min(rules.longest_s, rules.first_s * 2.0**retry)
            await self._clock.sleep(wait + jitter)
        raise AssertionError("the last attempt returns")

    async def _once(self, texts: list[str]) -> EmbeddingResponse | Attempt:
        """Make one attempt in a slot; its use is charged and counted."""
        body, most = self._body(texts), self._most(texts)
        async with self._slots:
            held = 0 if self._purse is None else await self._purse.put_aside(most)
            try:
                attempt = await self._client.post("/embeddings", body)
            except BaseException:  # it was sent, and its caller is gone
                self._charge(held, texts, len(body), None, most)
                raise
        found = self._read(attempt, len(texts))
        counted = found.tokens if isinstance(found, EmbeddingResponse) else _counted(attempt)
        self._has_answered |= isinstance(found, EmbeddingResponse)
        if counted is not None or may_be_billed(attempt, has_answered=self._has_answered):
            self._charge(held, texts, len(body), counted, most)
        elif self._purse is not None:
            self._purse.give_back(held)
        return found

    def _most(self, texts: list[str]) -> int:
        """Return the maximum tokens of texts: one per byte, plus an allowance."""
        return sum(len(text.encode()) for text in texts) + self._added * len(texts)

    def _charge(
        self, held: int, texts: list[str], n_bytes: int, counted: int | None, most: int
    ) -> None:
        """Count a request: ``counted`` tokens, or the maximum if the endpoint did not count."""
        tokens = most if counted is None else counted
        billed = 0
        if self._purse is not None:
            billed = self._purse.settle(held, tokens, is_estimated=counted is None)
        if tokens > most:  # more is added around a text than the allowance
            self._added += -(-(tokens - most) // len(texts))
        cost = cost_usd(self._known.price, Usage(prompt=tokens, completion=0), _BILLED)
        use = self.use
        self.use = EmbeddingUse(
            requests=use.requests + 1,
            texts=use.texts + len(texts),
            n_bytes=use.n_bytes + n_bytes,
            tokens=use.tokens + (counted or 0),
            estimated_tokens=use.estimated_tokens + (most if counted is None else 0),
            cost_usd=None if use.cost_usd is None or cost is None else use.cost_usd + cost,
            billed=use.billed + billed,
        )

    def _body(self, texts: list[str]) -> bytes:
        """Return a request body. It asks for numbers, since bytes would not state their type."""
        known = self._known
        return orjson.dumps(
            {"model": known.reported_as, **self._format, **known.body, "input": texts}
        )  # fmt: skip

    def _read(self, attempt: Attempt, n_texts: int) -> EmbeddingResponse | Attempt:
        if attempt.error:
            return attempt
        try:
            found = read_vectors(attempt.raw, n_texts, self._dimensions)
        except UnreadableVectorsError as error:
            said = classify(attempt.status, attempt.raw)  # an error may come with a 200
            if said.kind != "unreadable":
                return structs.replace(attempt, error=said.kind, detail=said.detail)
            kind = "malformed" if isinstance(error, WrongVectorsError) else said.kind
            return structs.replace(attempt, error=kind, detail=str(error))
        self._dimensions = found.vectors.shape[1]
        return found

    def _unusable(self, kind: str, detail: str) -> EndpointUnusable:
        known = self._known
        hint = advise(
            kind,
            model=known.reported_as,
            endpoint=known.identity,
            key=known.key_from,
            entry=known.entry,
        )
        return EndpointUnusable(f"{self.name} returns no vectors: {kind}: {detail}", hint=hint)


def _counted(attempt: Attempt) -> int | None:
    """Return the tokens that an unusable response reports: it was billed all the same."""
    usage = salvage_usage(attempt.raw)
    known = [each for each in (usage.prompt, usage.completion) if each is not None]
    return sum(known) if known else None


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield texts in batches, limited in number and total length."""
    batch: list[str] = []
    length = 0
    for text in texts:
        if batch and (len(batch) == _TEXTS or length + len(text) > _CHARACTERS):
            yield batch
            batch, length = [], 0
        batch.append(text)
        length += len(text)
    if batch:
        yield batch


def _of_length_1(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[lengths == 0] = 1.0
    return np.asarray(vectors / lengths)
