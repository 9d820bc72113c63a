"""What a question is asked with: nothing beside it, the passages that it rests on, or what a search
found for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from msgspec import Struct

__all__ = [
    "CONTEXT",
    "CONTEXTS",
    "CONTEXT_CHUNKS",
    "CONTEXT_EMBEDDER",
    "CONTEXT_INDEX",
    "CONTEXT_SEARCH",
    "CONTEXT_SETTINGS",
    "CONTEXT_SOURCE",
    "CONTEXT_TOKENS",
    "LEFT_OUT",
    "ContextName",
    "Evidence",
    "Retrieved",
    "ShownChunk",
    "context_label",
    "context_of",
    "left_out_of",
    "search_label",
]

ContextName = Literal["none", "evidence", "retrieved"]
CONTEXTS: tuple[ContextName, ...] = get_args(ContextName)

# Settings of a run that was asked with a context; one asked with nothing has none of them. How many
# items were left out only says what came of the others, and is no part of the run's id.
CONTEXT = "context"
CONTEXT_TOKENS = "context_tokens"
CONTEXT_CHUNKS = "context_chunks"
CONTEXT_SEARCH = "context_search"
CONTEXT_INDEX = "context_index"
# Only of a search of the web, and only where another embedder than the carried one is named.
CONTEXT_SOURCE = "context_source"
CONTEXT_EMBEDDER = "context_embedder"
LEFT_OUT = "context_left_out"
CONTEXT_SETTINGS = (
    CONTEXT, CONTEXT_TOKENS, CONTEXT_CHUNKS, CONTEXT_SEARCH, CONTEXT_INDEX, CONTEXT_SOURCE,
    CONTEXT_EMBEDDER, LEFT_OUT,
)  # fmt: skip


class Evidence(Struct, frozen=True, gc=False):
    """Items are asked with all passages that they rest on, or not at all.

    ``most_tokens`` bounds the passages of one item together. ``left_out`` are the places in the set
    of items that are not asked: ``n_without`` because a fact of theirs has no passage here,
    ``n_too_long`` because the passages pass the bound.
    """

    most_tokens: int
    left_out: frozenset[int] = frozenset()
    n_without: int = 0
    n_too_long: int = 0


class ShownChunk(Struct, frozen=True, gc=False):
    """What a prompt shows of a passage (its id): code points [start, end) of its text."""

    passage: bytes
    start: int
    end: int


class Retrieved(Struct, frozen=True, kw_only=True):
    """Each item is asked with the chunks that a search found for it, best first, by item id; one
    without any is asked as it is.

    At most ``chunks`` of them and ``most_tokens`` tokens together, searched by ``search`` (with
    ``embedder``, where it is not the carried one) in the index named by ``index``, which is another
    one whenever a source changed. ``source`` is "local", or the search of the web that found the
    texts; then ``failed`` are items whose search failed, and why: they are not asked, and
    ``n_unsearched`` is how many were not searched for yet, where nothing may be sent.
    """

    by_item: Mapping[bytes, tuple[ShownChunk, ...]]
    chunks: int
    most_tokens: int
    search: str
    index: str
    source: str = "local"
    embedder: str = ""
    failed: Mapping[bytes, str] = {}
    n_unsearched: int = 0


def context_of(settings: Mapping[str, Any]) -> ContextName:
    """The context that a run with these settings was asked with."""
    found = settings.get(CONTEXT)
    return next((name for name in CONTEXTS if name == found), "none")


def context_label(settings: Mapping[str, Any]) -> str:
    """How rows of such a run are marked: ``context=evidence``, ``context=retrieved`` (of the
    workspace's own sources by words), ``context=retrieved:brave``; empty where nothing was
    added."""
    context = context_of(settings)
    if context == "none":
        return ""
    label = search_label(settings) if context == "retrieved" else "local"
    return f"{CONTEXT}={context}" + ("" if label == "local" else f":{label.replace(', ', ',')}")


def search_label(settings: Mapping[str, Any]) -> str:
    """Where and how a run's texts were searched for: ``local``, ``local, dense``,
    ``searxng:bing``, ``brave, hybrid``."""
    way = str(settings.get(CONTEXT_SEARCH, "bm25"))
    parts = [str(settings.get(CONTEXT_SOURCE, "local"))]
    parts += [] if way == "bm25" else [way]
    parts += [str(settings[CONTEXT_EMBEDDER])] if CONTEXT_EMBEDDER in settings else []
    return ", ".join(parts)


def left_out_of(settings: Mapping[str, Any]) -> int:
    """How many items of its set a run does not ask."""
    return int(settings.get(LEFT_OUT, 0))
