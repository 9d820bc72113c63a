"""Replies that are just what was asked for, read at the speed of the JSON library."""

from __future__ import annotations

import json
import re
from typing import TypeGuard

from proofstone.engines.triples.found import FoundTriple

__all__ = ["read_as_asked"]

_decoded = json.JSONDecoder(object_pairs_hook=tuple).raw_decode
_OPENING = re.compile(r"[ \t\n\r]*\[[ \t\n\r]*")
_NEXT = re.compile(r"[ \t\n\r]*([,\]])[ \t\n\r]*")
_KEYS = ("subject", "predicate", "object")


def read_as_asked(text: str) -> list[FoundTriple] | None:
    """The triples of a reply that is a JSON array of objects with three texts each and nothing
    else, as `RecordScan` gives them; None of any other, which is left to it."""
    opened = _OPENING.match(text)
    if opened is None:
        return None
    found: list[FoundTriple] = []
    at, sign = opened.end(), ","
    while sign == ",":
        try:
            pairs, end = _decoded(text, at)
        except (ValueError, RecursionError):
            return None
        triple = _triple(pairs, at, end)
        following = _NEXT.match(text, end)
        if triple is None or following is None:
            return None
        found.append(triple)
        at, sign = following.end(), following[1]
    return found if at == len(text) else None


def _triple(pairs: object, start: int, end: int) -> FoundTriple | None:
    if not isinstance(pairs, tuple) or len(pairs) != len(_KEYS):
        return None
    said: dict[str, object] = dict(pairs)
    subject, predicate, value = (said.get(key) for key in _KEYS)
    if not (_is_whole(subject) and _is_whole(predicate) and _is_whole(value)):
        return None
    return FoundTriple(subject, predicate, value, start, end)


def _is_whole(text: object) -> TypeGuard[str]:
    """Whether it is a text that says something, in characters that all are ones."""
    if not isinstance(text, str) or not text.strip() or "\0" in text:
        return False
    return text.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in text)
