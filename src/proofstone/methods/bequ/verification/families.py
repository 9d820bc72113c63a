"""The family of a predicate: what kind of thing it says, by the words of its name."""

from __future__ import annotations

import tomllib
from functools import cache, lru_cache
from importlib.resources import files

from proofstone.methods.bequ.verification.texts import spoken

__all__ = ["OTHER", "family_of"]

OTHER = "other"


@lru_cache(maxsize=65_536)
def family_of(predicate: str) -> str:
    """The first family of families.toml of which a word stands in the predicate (Chinese: whose
    word is a part of it), else ``other``. Models make predicates up, so there is no closed list."""
    name = spoken(predicate).casefold()
    words = set(name.replace("-", " ").split())
    for family, marks in _families():
        if any(mark in words if mark.isascii() else mark in name for mark in marks):
            return family
    return OTHER


@cache
def _families() -> tuple[tuple[str, tuple[str, ...]], ...]:
    text = (files(__package__) / "families.toml").read_text(encoding="utf-8")
    return tuple((name, tuple(marks)) for name, marks in tomllib.loads(text).items())
