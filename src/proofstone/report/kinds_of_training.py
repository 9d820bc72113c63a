"""Which model is the base of which: by what its card says, else by the ending of its name."""

from __future__ import annotations

import re

__all__ = ["is_base", "stem_of"]

_BASE = re.compile(r"[-_ ](base|pt)$", re.IGNORECASE)
_CHAT = re.compile(r"[-_ ](chat|instruct|it)$", re.IGNORECASE)


def stem_of(model: str) -> str:
    """A model's name without the ending that says whether it was trained to chat (``-Base``,
    ``-Instruct``, ``-Chat``): the same for a base model and the chat model made from it."""
    return _CHAT.sub("", _BASE.sub("", model))


def is_base(model: str, kind: str) -> bool:
    """Whether it is a base model; by the card's ``kind`` where there is one."""
    return kind == "base" if kind else _BASE.search(model) is not None
