"""What an index keeps of one source, as a file: written whole, believed only where it is whole.

A part holds where the chunks stand and which words are in them, no text to read; its vectors, by
one embedder, are a file of their own. Each begins with the hash of the rest, and names what it was
made from (its key); whatever is not as it was written is made again.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
import zstandard
from msgspec import Struct

from proofstone.engines.retrieval.postings import Postings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["PART_VERSION", "ChunkPlace", "PartFiles", "SourcePart"]

PART_VERSION = 1  # raised where the layout of a file changes
_MARK = b"proofstone retrieval 1\n"
_DIGEST = 32
_WORDS, _VECTORS = ".words", ".vectors"
_MOST_BYTES = 4 * 2**30
_UNSAFE = re.compile(r"[^a-z0-9]+")
T = TypeVar("T")


class ChunkPlace(Struct, frozen=True, gc=False, order=True):
    """Where a chunk stands: code points [start, end) of the text of a passage (its id)."""

    passage: bytes
    start: int
    end: int


class SourcePart(Struct, frozen=True):
    """The chunks of a source, passages in order, and the terms in each."""

    places: tuple[ChunkPlace, ...]
    postings: Postings


class _WordsFile(Struct, frozen=True, kw_only=True):
    key: bytes
    passages: list[bytes]
    chunks: list[tuple[int, int, int]]  # place of the passage, start, end
    vocabulary: list[str]
    terms: bytes
    texts: bytes
    counts: bytes


class _VectorsFile(Struct, frozen=True, kw_only=True):
    key: bytes
    rows: int
    width: int
    values: bytes


class PartFiles:
    """The files of a folder, by source and key. Reading gives None for what is absent, was made
    from something else, or is damaged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read_words(self, source: bytes, key: bytes) -> SourcePart | None:
        """The part of a source that was made under this key."""
        found = _read(self._file(source, _WORDS), _WordsFile)
        if found is None or found.key != key:
            return None
        return _part_of(found)

    def write_words(self, source: bytes, key: bytes, part: SourcePart) -> None:
        """Keeps the part of a source in place of the one before."""
        passages = {place.passage: None for place in part.places}
        number = {passage: at for at, passage in enumerate(passages)}
        postings = part.postings
        made = _WordsFile(
            key=key,
            passages=list(passages),
            chunks=[(number[each.passage], each.start, each.end) for each in part.places],
            vocabulary=list(postings.vocabulary),
            terms=postings.terms.astype("<i4").tobytes(),
            texts=postings.texts.astype("<i4").tobytes(),
            counts=postings.counts.astype("<i4").tobytes(),
        )
        _write(self._file(source, _WORDS), made)

    def read_vectors(self, source: bytes, key: bytes, embedder: str) -> NDArray[np.float32] | None:
        """The vectors (chunks, dimensions) of a source that were made under this key."""
        import numpy as np  # noqa: PLC0415

        found = _read(self._file(source, _vectors_suffix(embedder)), _VectorsFile)
        if found is None or found.key != key or len(found.values) != 2 * found.rows * found.width:
            return None
        values = np.frombuffer(found.values, dtype="<f2").astype(np.float32)
        return _of_length_1(values.reshape(found.rows, found.width))

    def write_vectors(
        self, source: bytes, key: bytes, embedder: str, vectors: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Keeps vectors with half the digits of float32 (cosines stay right to three places), and
        gives them as they will be read, so that the first search finds what all later ones do."""
        rows, width = vectors.shape
        halves = vectors.astype("<f2")
        made = _VectorsFile(key=key, rows=rows, width=width, values=halves.tobytes())
        _write(self._file(source, _vectors_suffix(embedder)), made)
        return _of_length_1(halves.astype("f4"))

    def of_source(self, source: bytes) -> list[Path]:
        """All files that hold something of a source."""
        return sorted(self.folder.glob(f"{source.hex()}.*"))

    def delete(self, source: bytes) -> None:
        """Takes away what is kept of a source; nothing where nothing is."""
        for file in self.of_source(source):
            file.unlink(missing_ok=True)

    def sources(self) -> set[bytes]:
        """The sources of which something is kept."""
        found = set()
        for file in self.folder.glob("*.*"):
            with suppress(ValueError):
                found.add(bytes.fromhex(file.name.partition(".")[0]))
        return found

    def _file(self, source: bytes, suffix: str) -> Path:
        return self.folder / f"{source.hex()}{suffix}"


def _of_length_1(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same array, its rows scaled."""
    import numpy as np  # noqa: PLC0415

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[lengths == 0] = 1.0  # a vector of nothing stays one
    vectors /= lengths
    return vectors


def _vectors_suffix(embedder: str) -> str:
    """A name by which embedders are told apart in a file's name; the key decides."""
    slug = _UNSAFE.sub("-", embedder.casefold()).strip("-")[:40]
    return f".{slug}-{sha256(embedder.encode()).hexdigest()[:8]}{_VECTORS}"


def _write(file: Path, made: Struct) -> None:
    body = zstandard.compress(msgspec.msgpack.encode(made), 1)
    file.parent.mkdir(parents=True, exist_ok=True)
    begun = file.with_name(f"{file.name}.{os.getpid()}.part")
    begun.write_bytes(_MARK + sha256(body).digest() + body)
    begun.replace(file)


def _read(file: Path, kind: type[T]) -> T | None:
    try:
        whole = file.read_bytes()
    except OSError:
        return None
    head, body = whole[: len(_MARK) + _DIGEST], whole[len(_MARK) + _DIGEST :]
    if head != _MARK + sha256(body).digest():
        return None
    try:
        plain = zstandard.decompress(body, max_output_size=_MOST_BYTES)
        return msgspec.msgpack.decode(plain, type=kind)
    except (zstandard.ZstdError, msgspec.DecodeError):
        return None


def _part_of(found: _WordsFile) -> SourcePart | None:
    """The part that a file holds; None where it does not hang together."""
    import numpy as np  # noqa: PLC0415

    terms, texts, counts = (
        np.frombuffer(column, dtype="<i4").astype(np.int32)
        for column in (found.terms, found.texts, found.counts)
    )
    n_texts, n_terms = len(found.chunks), len(found.vocabulary)
    if not len(terms) == len(texts) == len(counts):
        return None
    if len(terms) and (terms.max() >= n_terms or texts.max() >= n_texts):
        return None
    if any(not 0 <= passage < len(found.passages) for passage, _start, _end in found.chunks):
        return None
    places = tuple(
        ChunkPlace(found.passages[passage], start, end) for passage, start, end in found.chunks
    )
    vocabulary = {term: at for at, term in enumerate(found.vocabulary)}
    return SourcePart(places, Postings(vocabulary, terms, texts, counts, n_texts))
