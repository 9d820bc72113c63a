"""Texts as vectors by an OpenAI-compatible embeddings endpoint: in batches, limited, retried.

Nothing is cached or stored here: an index keeps the vectors of its chunks, and a text is sent again
only where nobody kept what came of it.
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

# What an embeddings endpoint answers, read strictly: as many vectors as texts, each in its place.
#
# ``data`` holds a row a text with its ``index``, in any order; the vector is a list of numbers or,
# where an endpoint sends that unasked, base64 of little-endian float32. (OpenAI's interface, which
# vLLM, TEI, Ollama, llama.cpp and most providers answer alike.) Bytes do not say what numbers they
# are: signed bytes and float64 come as base64, too, and are refused.

_HUGE = 1e6  # no component of a text's vector is larger


_TINY, _FEW_TINY = 1e-8, 0.05  # so much smaller than the largest, at most so large a share is


class UnreadableVectorsError(ValueError):
    """A body that does not hold one vector for each text; its text says what it holds."""


class WrongVectorsError(UnreadableVectorsError):
    """A whole answer of an embeddings endpoint with other vectors: asked again, the same comes."""


class EmbeddingResponse(Struct, frozen=True):
    """Vectors (texts, dimensions) as they came, not scaled; the model that says it made them, and
    the tokens that it counted (None where it does not say)."""

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
    """The vectors of a body in the order of the texts, each of ``dimensions`` numbers where that is
    known. Raises UnreadableVectorsError."""
    try:
        body = msgspec.json.decode(raw, type=_Body)
    except (msgspec.DecodeError, UnicodeDecodeError) as cause:
        raise UnreadableVectorsError(f"no answer of an embeddings endpoint: {cause}") from cause
    if len(body.data) != n_texts:
        raise WrongVectorsError(f"{len(body.data)} vectors came for {n_texts} texts")
    rows = [_numbers(row.embedding) for row in _in_order(body.data)]
    widths = {len(row) for row in rows}
    if len(widths) > 1 or 0 in widths:
        told = ", ".join(map(str, sorted(widths)))
        raise WrongVectorsError(f"the vectors have {told} numbers: one length was expected")
    if dimensions is not None and widths - {dimensions}:
        raise WrongVectorsError(f"{dimensions} numbers a vector were expected, {widths.pop()} came")
    vectors = np.asarray(rows, dtype=np.float64).reshape(n_texts, -1 if n_texts else 0)
    if not np.isfinite(vectors).all():
        raise WrongVectorsError("a vector holds what is no finite number")
    usage = body.usage or _Usage()
    tokens = usage.total_tokens if usage.prompt_tokens is None else usage.prompt_tokens
    return EmbeddingResponse(vectors, body.model, tokens)


def _in_order(rows: list[_Row]) -> list[_Row]:
    """The rows by their index; as they came where none has any."""
    if all(row.index is None for row in rows):
        return rows
    places = {row.index: row for row in rows}
    if set(places) != set(range(len(rows))):
        raise WrongVectorsError("the rows do not say of which text each is: indexes "
                                     "are missing or come twice")  # fmt: skip
    return [places[number] for number in range(len(rows))]


def _numbers(embedding: list[float] | str) -> NDArray[np.float64]:
    if not isinstance(embedding, str):
        return np.asarray(embedding, dtype=np.float64)
    try:
        data = b64decode(embedding, validate=True)
        with np.errstate(invalid="ignore"):  # other bytes may be NaN
            numbers = np.frombuffer(data, dtype="<f4").astype(np.float64)
    except ValueError as cause:
        raise WrongVectorsError(f"a vector that is no base64 of float32: {cause}") from cause
    if not _can_be_float32(numbers):
        raise WrongVectorsError(
            f"a vector came as {len(data)} bytes in base64 that are no float32 (signed bytes or "
            "float64?): lists of numbers are read"
        )
    return numbers


def _can_be_float32(numbers: NDArray[np.float64]) -> bool:
    """Whether bytes read as float32 give numbers of one scale, as the components of a vector are.

    Signed bytes give exponents all over the range, float64 a number of rounding bits (or 0) at
    every even place. Of vectors of 32 signed bytes or more, fewer than one in 1,000 passes.
    """
    if not np.isfinite(numbers).all():
        return False
    sizes = np.abs(numbers)
    scale = sizes.max(initial=0.0)
    is_tiny = (sizes < scale * _TINY) & (sizes > 0)
    is_float64 = len(sizes) >= 4 and not sizes[0::2].any() and bool(sizes[1::2].any())
    return bool(scale < _HUGE and is_tiny.mean() <= _FEW_TINY) and not is_float64


_TEXTS, _CHARACTERS = 96, 100_000  # of one request; an endpoint that takes fewer gets fewer


_AT_ONCE = 8


_ADDED_TOKENS = 64  # what a model sets around each text at most


_FORMAT = "encoding_format"


_BILLED = 200


_REFUSED = frozenset({"bad_request", "unsupported_parameter"})


_FEWER = frozenset({"bad_request", "too_long"})  # what a batch may be refused with for its size


class EmbeddingUse(Struct, frozen=True, kw_only=True):
    """What embedding took: requests that may be billed, tokens as the endpoint counted them, the
    most that they may have been where it did not (``estimated_tokens``), the price of both (None
    where none is known), and what all of it took of a budget."""

    requests: int = 0
    texts: int = 0
    n_bytes: int = 0
    tokens: int = 0
    estimated_tokens: int = 0
    cost_usd: float | None = 0.0
    billed: int = 0


class EmbeddingsEndpoint:
    """A model behind ``/embeddings``. Made outside a loop, used on one; close it there. ``use``
    counts what it took, which a ``purse`` is charged."""

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
        """Vectors (texts, dimensions) of length 1, in the order of the texts; of an empty text,
        which no endpoint takes, nothing but zeros. A text that comes twice is sent once.

        Raises EndpointUnusable, naming the kind of failure, and BudgetReached.
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
            await asyncio.gather(*asked, return_exceptions=True)  # what they took is counted
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
        """Closes the connections."""
        await self._client.close()

    async def _whole(self, texts: list[str]) -> NDArray[np.float64]:
        """The vectors of a batch; of one that is refused, of its halves."""
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
        """The reply to a batch, or the last attempt, which failed."""
        rules = self._retries
        for retry in range(rules.most + 1):
            found = await self._once(texts)
            if isinstance(found, EmbeddingResponse):
                return found
            if found.error in _REFUSED and _FORMAT in found.detail and _FORMAT in self._format:
                self._format = {}  # it knows no such field: as it likes, which is checked
                return await self._tried(texts)
            wait = found.retry_after_s or 0.0
            last = retry == rules.most or wait > rules.patience_s
            if last or not treatment(found.error).retried:
                return found
            jitter = self._rng.random() * min(rules.longest_s, rules.first_s * 2.0**retry)
            await self._clock.sleep(wait + jitter)
        raise AssertionError("the last attempt returns")

    async def _once(self, texts: list[str]) -> EmbeddingResponse | Attempt:
        """One attempt in a slot, what it took charged and counted."""
        body, most = self._body(texts), self._most(texts)
        async with self._slots:
            held = 0 if self._purse is None else await self._purse.put_aside(most)
            try:
                attempt = await self._client.post("/embeddings", body)
            except BaseException:  # it was sent, and nobody waits for it any more
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
        """The most tokens that texts can have: a token a byte, and what is set around them."""
        return sum(len(text.encode()) for text in texts) + self._added * len(texts)

    def _charge(
        self, held: int, texts: list[str], n_bytes: int, counted: int | None, most: int
    ) -> None:
        """Counts a request: ``counted`` tokens, or the most where the endpoint did not say."""
        tokens = most if counted is None else counted
        billed = 0
        if self._purse is not None:
            billed = self._purse.settle(held, tokens, is_estimated=counted is None)
        if tokens > most:  # more is set around a text than was thought
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
        """A request. Numbers are asked for: bytes would not say what they are."""
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
        return EndpointUnusable(f"{self.name} gives no vectors: {kind}: {detail}", hint=hint)


def _counted(attempt: Attempt) -> int | None:
    """The tokens that an answer of no use still names: it was billed all the same."""
    usage = salvage_usage(attempt.raw)
    known = [each for each in (usage.prompt, usage.completion) if each is not None]
    return sum(known) if known else None


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """Texts as a request takes them: not too many, and not too long together."""
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
