"""Embed an index's chunks, and store their vectors next to its terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING

from msgspec import Struct

from proofstone.errors import BadUsage
from proofstone.models.budget import Spending, open_request_purse
from proofstone.models.config import ModelConfig, resolve
from proofstone.models.embeddings import EmbeddingsEndpoint, EmbeddingUse
from proofstone.models.names import parse_model_name
from proofstone.records.calls import Clock, EmbeddingModel
from proofstone.records.ids import canonical_json
from proofstone.search.index import ChunkPlace, PartFiles, SourcePart
from proofstone.session.permits import SentBeside, SentLog
from proofstone.session.progress import Background
from proofstone.store.store import Store

if TYPE_CHECKING:
    import asyncio

    import numpy as np
    from numpy.typing import NDArray


_AT_ONCE = (
    1024  # chunks whose texts are in memory together; an endpoint may take them in several batches
)


class ToEmbed(Struct, frozen=True, kw_only=True):
    """Chunks without stored vectors: their sources, number, and total characters."""

    sources: tuple[bytes, ...]
    chunks: int
    characters: int


def all_vectors(
    store: Store,
    files: PartFiles,
    keys: Mapping[bytes, bytes],
    parts: Mapping[bytes, SourcePart],
    embedding_model: EmbeddingModel,
    admit: Callable[[ToEmbed], None] | None = None,
) -> list[NDArray[np.float32]]:
    """Return the vectors of each source's chunks, in the order of ``parts``.

    Stored vectors are read by key; missing ones are made. Vectors with another length than the
    model's current one (it changed under its name) are made again.
    """
    found: dict[bytes, NDArray[np.float32]] = {}
    for source, part in parts.items():
        kept = files.read_vectors(source, keys[source], embedding_model.name)
        if kept is not None and len(kept) == len(part.places):
            found[source] = kept

    def make(lacking: list[bytes]) -> int:
        """Make and store the vectors of sources; return the length of the last ones.

        Small sources are embedded together, since a batch takes no longer than a text.
        """
        if admit is not None:
            places = [place for source in lacking for place in parts[source].places]
            n_characters = sum(place.end - place.start for place in places)
            admit(ToEmbed(sources=tuple(lacking), chunks=len(places), characters=n_characters))
        for lot in _lots(lacking, parts):
            made = _embedded(
                store, [place for each in lot for place in parts[each].places], embedding_model
            )
            start = 0
            for source in lot:
                end = start + len(parts[source].places)
                own = made[start:end]
                found[source] = files.write_vectors(source, keys[source], embedding_model.name, own)
                start = end
        return _width(found[lacking[-1]])

    if lacking := [source for source in parts if source not in found and parts[source].places]:
        width = make(lacking)
        if stale := [source for source in found if _width(found[source]) not in (0, width)]:
            make(stale)
    return [found[source] for source in parts if source in found]


def _lots(sources: list[bytes], parts: Mapping[bytes, SourcePart]) -> Iterator[list[bytes]]:
    lot: list[bytes] = []
    held = 0
    for source in sources:
        size = len(parts[source].places)
        if lot and held + size > _AT_ONCE:
            yield lot
            lot, held = [], 0
        lot.append(source)
        held += size
    if lot:
        yield lot


def _embedded(
    store: Store, places: Sequence[ChunkPlace], embedding_model: EmbeddingModel
) -> NDArray[np.float32]:
    import numpy as np  # noqa: PLC0415

    made = []
    for start in range(0, len(places), _AT_ONCE):
        some = places[start : start + _AT_ONCE]
        texts = store.knowledge.passages({place.passage for place in some})
        made.append(
            embedding_model.embed(
                [texts[each.passage].text[each.start : each.end] for each in some]
            )
        )
    return np.concatenate(made).astype(np.float32)


def _width(vectors: NDArray[np.float32]) -> int:
    return int(vectors.shape[1]) if len(vectors) else 0


# A synchronous ``EmbeddingModel`` over an endpoint, by a model's name.


class EndpointEmbeddingModel:
    """Embed texts with a configured model (``openai/text-embedding-3-small``).

    Its host must be permitted first. ``sources`` are the titles that the log names for what is
    sent. ``spending`` is charged, on any event loop; no other call of it may be in flight.

    ``name`` identifies everything that changes vectors: the model, its endpoint, and the fields
    that every request has (``body = {dimensions = 256}``).
    """

    def __init__(
        self,
        model: str,
        config: ModelConfig,
        clock: Clock,
        log: SentLog,
        spending: Spending | None = None,
    ) -> None:
        named = parse_model_name(model)
        if named.provider in ("local", "sim", "inspect"):
            raise BadUsage(
                f"{model} has no embeddings: expected a model behind an OpenAI-compatible "
                "/embeddings",
                hint=(
                    "name a model of proofstone.toml, or remove --embedding-model to use "
                    "the bundled encoder"
                ),
            )
        self._endpoint = endpoint = resolve(named, config)
        body = canonical_json(dict(endpoint.body)).decode() if endpoint.body else ""
        self.name = " ".join(
            part for part in (endpoint.reported_as, endpoint.identity, body) if part
        )
        self.model = model
        self.sources: tuple[str, ...] = ()
        self._clock, self._log = clock, log
        self._purse = open_request_purse(model, endpoint.price, spending)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return vectors (texts, dimensions) of length 1.

        Raises EndpointUnusable, EgressRefused, BudgetReached.
        """

        async def work(_stop: asyncio.Event) -> NDArray[np.float64]:
            client = EmbeddingsEndpoint(
                self._endpoint, clock=self._clock, rng=Random(), purse=self._purse
            )
            try:
                return await client.embed(texts)
            finally:
                self._note(client.use)
                await client.close()

        return Background(work).wait()

    def _note(self, use: EmbeddingUse) -> None:
        if use.requests:
            line = SentBeside(
                at=self._clock.now(), endpoint=self._endpoint.identity, what="embedded",
                by=self.model, requests=use.requests, n_bytes=use.n_bytes, tokens=use.tokens,
                cost_usd=use.cost_usd, sources=self.sources,
            )  # fmt: skip
            self._log.add([line])
        if self._purse is not None:
            self._purse.noted(use.billed)
