"""How a triple reads as words: for a search, and for a judge."""

from __future__ import annotations

import re
from typing import Any

from proofstone.identity import canonical_json

__all__ = ["has_han", "object_text", "spoken"]

_NAMESPACE = re.compile(r"\A[A-Za-z][A-Za-z0-9-]{0,15}:(?=[A-Za-z])(?!//)")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_+")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")


def spoken(predicate: str) -> str:
    """A predicate in words: ``rdf:birthPlace`` is "birth place"."""
    words = _HUMP.sub(" ", _NAMESPACE.sub("", predicate.strip())).split()
    return " ".join(word.lower() if word[1:].islower() else word for word in words)


def object_text(value: Any) -> str:
    """An object as one text: a list with semicolons, a number or truth value as JSON spells it,
    nothing as the empty text. A text is taken as it stands."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return "; ".join(filter(None, map(object_text, value)))
    return canonical_json(value).decode()


def has_han(text: str) -> bool:
    """Whether Chinese characters stand in it."""
    return _HAN.search(text) is not None
