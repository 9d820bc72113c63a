"""The text that a verdict rests on."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Passage"]


class Passage(Struct, frozen=True, gc=False, array_like=True):
    """A text about an entity: where it is from (``wiki``, ``web``, ...), its title and address."""

    text: str
    source: str = ""
    title: str = ""
    url: str = ""
