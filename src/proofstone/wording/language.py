"""The language in force: English, unless whoever makes a page or a text says otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, get_args

__all__ = ["LANGUAGES", "Language", "language", "language_tag", "speaking"]

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = get_args(Language)

_TAGS = {"en": "en", "zh": "zh-Hans"}
_in_force: ContextVar[Language] = ContextVar("language", default="en")


def language() -> Language:
    """The language that texts are made in now."""
    return _in_force.get()


def language_tag() -> str:
    """The same as an HTML page names it."""
    return _TAGS[language()]


@contextmanager
def speaking(wanted: Language) -> Iterator[None]:
    """Texts made within are in ``wanted``, in this thread or task alone."""
    before = _in_force.set(wanted)
    try:
        yield
    finally:
        _in_force.reset(before)
