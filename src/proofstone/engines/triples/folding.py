"""Triples that say the same in other letters: how they are compared, and each of them once."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from msgspec import Struct

from proofstone.engines.triples.found import FoundTriple

__all__ = ["SaidTriple", "fold_triples", "plain_triple"]

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_JOINTS = re.compile(r"[_\-‐‑\s]+")
_EDGES = "\"'“”‘’«»「」.,;: "


class SaidTriple(Struct, frozen=True):
    """A triple as it was said first, and the places where it was said ``again``."""

    first: FoundTriple
    again: tuple[FoundTriple, ...] = ()

    @property
    def times(self) -> int:
        """How often it was said."""
        return 1 + len(self.again)


def plain_triple(subject: str, predicate: str, said: str) -> tuple[str, str, str]:
    """A triple as it is compared: without regard to case, width, quotes and full stops around a
    text, direction marks, and of a predicate how its words are joined (birthPlace, birth_place)."""
    return _plain(subject), _plain(_JOINTS.sub(" ", _HUMP.sub(" ", predicate))), _plain(said)


def fold_triples(triples: Sequence[FoundTriple]) -> list[SaidTriple]:
    """Each triple once, in the order in which it was said first."""
    groups: dict[tuple[str, str, str], list[FoundTriple]] = {}
    for triple in triples:
        key = plain_triple(triple.subject, triple.predicate, triple.object)
        groups.setdefault(key, []).append(triple)
    return [SaidTriple(first, tuple(again)) for first, *again in groups.values()]


def _plain(text: str) -> str:
    shown = text
    if not text.isascii():  # of ASCII there is nothing wide and no mark
        wide = unicodedata.normalize("NFKC", text)
        shown = "".join(sign for sign in wide if unicodedata.category(sign) != "Cf")
    plain = " ".join(shown.casefold().replace("_", " ").split())
    return plain.strip(_EDGES) or plain
