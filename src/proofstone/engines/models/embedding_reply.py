"""What an embeddings endpoint answers, read strictly: as many vectors as texts, each in its place.

``data`` holds a row a text with its ``index``, in any order; the vector is a list of numbers or,
where the request asked for it, base64 of little-endian float32. (OpenAI's interface, which vLLM,
TEI, Ollama, llama.cpp and most providers answer alike.)
"""

from __future__ import annotations

from base64 import b64decode
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["EmbeddingReply", "UnreadableVectorsError", "read_vectors"]


class UnreadableVectorsError(ValueError):
    """A body that does not hold one vector for each text; its text says what it holds."""


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


def read_vectors(raw: bytes, n_texts: int) -> EmbeddingReply:
    """The vectors of a body in the order of the texts. Raises UnreadableVectorsError."""
    import numpy as np  # noqa: PLC0415

    try:
        body = msgspec.json.decode(raw, type=_Body)
    except (msgspec.DecodeError, UnicodeDecodeError) as cause:
        raise UnreadableVectorsError(f"no answer of an embeddings endpoint: {cause}") from cause
    if len(body.data) != n_texts:
        raise UnreadableVectorsError(f"{len(body.data)} vectors came for {n_texts} texts")
    rows = [_numbers(row.embedding) for row in _in_order(body.data)]
    widths = {len(row) for row in rows}
    if len(widths) > 1 or 0 in widths:
        told = ", ".join(map(str, sorted(widths)))
        raise UnreadableVectorsError(f"the vectors have {told} numbers: one length was expected")
    vectors = np.asarray(rows, dtype=np.float64).reshape(n_texts, -1 if n_texts else 0)
    if not np.isfinite(vectors).all():
        raise UnreadableVectorsError("a vector holds what is no finite number")
    usage = body.usage or _Usage()
    tokens = usage.total_tokens if usage.prompt_tokens is None else usage.prompt_tokens
    return EmbeddingReply(vectors, body.model, tokens)


def _in_order(rows: list[_Row]) -> list[_Row]:
    """The rows by their index; as they came where none has any."""
    if all(row.index is None for row in rows):
        return rows
    places = {row.index: row for row in rows}
    if set(places) != set(range(len(rows))):
        raise UnreadableVectorsError("the rows do not say of which text each is: indexes "
                                     "are missing or come twice")  # fmt: skip
    return [places[number] for number in range(len(rows))]


def _numbers(embedding: list[float] | str) -> NDArray[np.float64]:
    import numpy as np  # noqa: PLC0415

    if not isinstance(embedding, str):
        return np.asarray(embedding, dtype=np.float64)
    try:
        data = b64decode(embedding, validate=True)
        return np.frombuffer(data, dtype="<f4").astype(np.float64)
    except ValueError as cause:
        raise UnreadableVectorsError(f"a vector that is no base64 of float32: {cause}") from cause
