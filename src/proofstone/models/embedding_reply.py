"""What an embeddings endpoint answers, read strictly: as many vectors as texts, each in its place.

``data`` holds a row a text with its ``index``, in any order; the vector is a list of numbers or,
where an endpoint sends that unasked, base64 of little-endian float32. (OpenAI's interface, which
vLLM, TEI, Ollama, llama.cpp and most providers answer alike.) Bytes do not say what numbers they
are: signed bytes and float64 come as base64, too, and are refused.
"""

from __future__ import annotations

from base64 import b64decode
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_HUGE = 1e6  # no component of a text's vector is larger


_TINY, _FEW_TINY = 1e-8, 0.05  # so much smaller than the largest, at most so large a share is


class UnreadableVectorsError(ValueError):
    """A body that does not hold one vector for each text; its text says what it holds."""


class WrongVectorsError(UnreadableVectorsError):
    """A whole answer of an embeddings endpoint with other vectors: asked again, the same comes."""


class EmbeddingReply(Struct, frozen=True):
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


def read_vectors(raw: bytes, n_texts: int, dimensions: int | None = None) -> EmbeddingReply:
    """The vectors of a body in the order of the texts, each of ``dimensions`` numbers where that is
    known. Raises UnreadableVectorsError."""
    import numpy as np  # noqa: PLC0415

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
    return EmbeddingReply(vectors, body.model, tokens)


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
    import numpy as np  # noqa: PLC0415

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
    import numpy as np  # noqa: PLC0415

    if not np.isfinite(numbers).all():
        return False
    sizes = np.abs(numbers)
    scale = sizes.max(initial=0.0)
    is_tiny = (sizes < scale * _TINY) & (sizes > 0)
    is_float64 = len(sizes) >= 4 and not sizes[0::2].any() and bool(sizes[1::2].any())
    return bool(scale < _HUGE and is_tiny.mean() <= _FEW_TINY) and not is_float64
