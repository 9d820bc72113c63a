"""Tied runs of a ranking: their names, and where each is drawn."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

# Which model is the base of which: by what its card says, else by the ending of its name.

_BASE = re.compile(r"[-_ ](base|pt)$", re.IGNORECASE)


_CHAT = re.compile(r"[-_ ](chat|instruct|it)$", re.IGNORECASE)


def stem_of(model: str) -> str:
    """A model's name without the ending that says whether it was trained to chat (``-Base``,
    ``-Instruct``, ``-Chat``): the same for a base model and the chat model made from it."""
    return _CHAT.sub("", _BASE.sub("", model))


def is_base(model: str, kind: str) -> bool:
    """Whether it is a base model; by the card's ``kind`` where there is one."""
    return kind == "base" if kind else _BASE.search(model) is not None


def tie_letters(tie: int) -> str:
    """a to z, then aa, ab, ...: the name of the tied run of that number, from 0."""
    name = ""
    while tie >= 0:
        tie, place = divmod(tie, 26)
        name, tie = string.ascii_lowercase[place] + name, tie - 1
    return name


def tie_lanes(ties: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """A lane for each tied run, so that runs that overlap stand side by side."""
    free_from: list[int] = []
    chosen = []
    for first, last in ties:
        lane = next((i for i, start in enumerate(free_from) if start <= first), len(free_from))
        free_from[lane : lane + 1] = [last + 1]
        chosen.append(lane)
    return tuple(chosen)
