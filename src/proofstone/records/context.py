"""What a question is asked with: nothing beside it, or the passages that it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from msgspec import Struct

__all__ = [
    "CONTEXT",
    "CONTEXTS",
    "CONTEXT_SETTINGS",
    "CONTEXT_TOKENS",
    "LEFT_OUT",
    "ContextName",
    "Evidence",
    "context_label",
    "context_of",
    "left_out_of",
]

ContextName = Literal["none", "evidence"]
CONTEXTS: tuple[ContextName, ...] = get_args(ContextName)

# Settings of a run that was asked with a context; one asked with nothing has none of them. How many
# items were left out only says what came of the others, and is no part of the run's id.
CONTEXT = "context"
CONTEXT_TOKENS = "context_tokens"
LEFT_OUT = "context_left_out"
CONTEXT_SETTINGS = (CONTEXT, CONTEXT_TOKENS, LEFT_OUT)


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


def context_of(settings: Mapping[str, Any]) -> ContextName:
    """The context that a run with these settings was asked with."""
    return "evidence" if settings.get(CONTEXT) == "evidence" else "none"


def context_label(settings: Mapping[str, Any]) -> str:
    """How rows of such a run are marked: ``context=evidence``; empty where nothing was added."""
    context = context_of(settings)
    return "" if context == "none" else f"{CONTEXT}={context}"


def left_out_of(settings: Mapping[str, Any]) -> int:
    """How many items of its set a run does not ask."""
    return int(settings.get(LEFT_OUT, 0))
