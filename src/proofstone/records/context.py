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
    "CONTEXT_INDEX",
    "CONTEXT_SEARCH",
    "CONTEXT_SETTINGS",
    "CONTEXT_TOKENS",
    "LEFT_OUT",
    "ContextName",
    "Evidence",
    "Retrieved",
    "ShownChunk",
    "context_label",
    "context_of",
    "left_out_of",
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
LEFT_OUT = "context_left_out"
CONTEXT_SETTINGS = (
    CONTEXT, CONTEXT_TOKENS, CONTEXT_CHUNKS, CONTEXT_SEARCH, CONTEXT_INDEX, LEFT_OUT
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

    At most ``chunks`` of them and ``most_tokens`` tokens together, searched by ``search`` in the
    index named by ``index``, which is another one whenever a source changed.
    """

    by_item: Mapping[bytes, tuple[ShownChunk, ...]]
    chunks: int
    most_tokens: int
    search: str
    index: str


def context_of(settings: Mapping[str, Any]) -> ContextName:
    """The context that a run with these settings was asked with."""
    found = settings.get(CONTEXT)
    return next((name for name in CONTEXTS if name == found), "none")


def context_label(settings: Mapping[str, Any]) -> str:
    """How rows of such a run are marked: ``context=evidence``,
    ``context=retrieved``; empty where nothing was added."""
    context = context_of(settings)
    return "" if context == "none" else f"{CONTEXT}={context}"


def left_out_of(settings: Mapping[str, Any]) -> int:
    """How many items of its set a run does not ask."""
    return int(settings.get(LEFT_OUT, 0))
