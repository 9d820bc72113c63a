"""The runs that arguments of a workspace's ``run`` and ``dry_run`` mean."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from proofstone.engines.store import Store
from proofstone.records import ContextName
from proofstone.stages.evidence import MOST_TOKENS
from proofstone.stages.own_prompts import read_own_prompt
from proofstone.stages.planning import RunSpec
from proofstone.stages.retrieved import CHUNKS, read_search
from proofstone.stages.search_sources import LOCAL, read_search_source
from proofstone.wiring.targets import Target, find_target, forms_of, listed

__all__ = ["specs_of"]

_ASKED = ("form", "bank", "run")


def specs_of(
    store: Store,
    targets: Target | Sequence[Target],
    *,
    models: str | Sequence[str],
    ask: str | Sequence[str] = "direct",
    shots: int = 0,
    samples: int = 1,
    limit: int | None = None,
    replicate: str = "",
    prompt: str | Path | None = None,
    context: ContextName | Sequence[ContextName] = "none",
    context_tokens: int = MOST_TOKENS,
    context_chunks: int = CHUNKS,
    context_search: str = "bm25",
    context_source: str | Sequence[str] = LOCAL,
    embedder: str = "",
    **settings: Any,
) -> list[RunSpec]:
    """A run for each model, way and item set, model by model. Raises what ``find_target`` and
    ``read_own_prompt`` raise."""
    item_sets = [
        identity
        for target in listed(targets)
        for identity in forms_of(store, find_target(store, target, _ASKED))
    ]
    own_prompt = None if prompt is None else read_own_prompt(Path(prompt))
    search = read_search(context_search)
    for name in listed(context_source):
        read_search_source(name)
    contexts: Sequence[ContextName] = (context,) if isinstance(context, str) else context
    return [
        RunSpec(
            item_set=item_set, model=model, way=way, shots=shots, settings=settings,
            samples=samples, replicate=replicate, limit=limit, prompt=own_prompt,
            context=each, context_tokens=context_tokens, context_chunks=context_chunks,
            context_search=search, context_source=source, context_embedder=embedder,
        )
        for model in listed(models)
        for way in listed(ask)
        for each in contexts
        for source in (listed(context_source) if each == "retrieved" else (LOCAL,))
        for item_set in dict.fromkeys(item_sets)
    ]  # fmt: skip
