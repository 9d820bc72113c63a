"""An embedder behind an endpoint, for callers that wait: ``ports.Embedder`` by a model's name."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING

from proofstone.engines.models import open_request_purse, parse_model_name, resolve
from proofstone.errors import BadUsage
from proofstone.identity import canonical_json
from proofstone.ports import Clock
from proofstone.stages.sent_beside import SentBeside, SentLog
from proofstone.wiring.background import Background

if TYPE_CHECKING:
    import asyncio

    import numpy as np
    from numpy.typing import NDArray

    from proofstone.engines.models import ModelConfig, Spending
    from proofstone.engines.models.embeddings import EmbeddingUse

__all__ = ["EndpointEmbedder"]


class EndpointEmbedder:
    """Texts as vectors by a model of the configuration (``openai/text-embedding-3-small``); its
    host must be let out before. ``sources`` are the titles that the log names for what is sent.
    ``spending`` is charged for it, on whichever loop: no call of it may be under way.

    ``name`` tells apart whatever may give other vectors: the model as its endpoint knows it, the
    endpoint, and the fields that every request carries (``body = {dimensions = 256}``).
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
                f"{model} cannot be asked for vectors: an embedder is a model behind an "
                "OpenAI-compatible /embeddings",
                hint="name one of proofstone.toml, or leave --embedder out for the carried encoder",
            )
        self._endpoint = endpoint = resolve(named, config)
        body = canonical_json(dict(endpoint.body)).decode() if endpoint.body else ""
        self.name = " ".join(part for part in (endpoint.served_as, endpoint.identity, body) if part)
        self.model = model
        self.sources: tuple[str, ...] = ()
        self._clock, self._log = clock, log
        self._purse = open_request_purse(model, endpoint.price, spending)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Vectors (texts, dimensions) of length 1. Raises EndpointUnusable, EgressRefused,
        BudgetReached."""

        async def work(_stop: asyncio.Event) -> NDArray[np.float64]:
            from proofstone.engines.models.embeddings import EmbeddingsEndpoint  # noqa: PLC0415

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
