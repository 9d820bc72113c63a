"""One record on its way to a triple: its keys as they come, and what they amount to."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal, get_args

from msgspec import Struct

# What reading a reply for triples gives: what was found, how, where, and what was left.

# What had to be overlooked: of a whole reply (text around the array, an array that never ends, no
# array of objects at all), or of one record.
Fault = Literal[
    "text around",
    "cut off",
    "no array",
    "not closed",
    "quotes",
    "inner quotes",
    "commas",
    "colons",
    "keys",
    "repeated key",
    "control characters",
    "escapes",
    "bare value",
    "list",
    "array",
    "lines",
    "table",
    "tuples",
]


FAULTS: tuple[Fault, ...] = get_args(Fault)


UnreadWhy = Literal[
    "cut off",
    "no subject",
    "no predicate",
    "no object",
    "nested value",
    "repeated key",
    "end not clear",
    "no JSON",
    "no text",
    "nested too deeply",
    "fields not told apart",
    "no triple",
]


UNREAD: tuple[UnreadWhy, ...] = get_args(UnreadWhy)


class FoundTriple(Struct, frozen=True, gc=False):
    """A triple that stands in a reply, its texts as written, between the characters ``start`` and
    ``end`` of it. ``faults`` is empty where it stands in plain JSON of the form asked for."""

    subject: str
    predicate: str
    object: str
    start: int
    end: int
    faults: tuple[Fault, ...] = ()

    @property
    def is_recovered(self) -> bool:
        """Whether anything had to be overlooked to read it."""
        return bool(self.faults)


class Unread(Struct, frozen=True, gc=False):
    """A part of a reply that was meant as a triple, or all of it, and could not be read."""

    start: int
    end: int
    why: UnreadWhy


class ReadTriples(Struct, frozen=True):
    """The triples of a reply and what of it was left unread, both in the order of the text.

    ``says_nothing``: the reply is an empty list, or ends in one, and holds nothing else that was
    meant as a triple.
    """

    triples: tuple[FoundTriple, ...] = ()
    unread: tuple[Unread, ...] = ()
    says_nothing: bool = False

    @property
    def n_recovered(self) -> int:
        """How many of the triples had to be recovered."""
        return sum(triple.is_recovered for triple in self.triples)


# Triples that say the same in other letters: how they are compared, and each of them once.

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


Role = Literal["subject", "predicate", "object"]


ROLES: tuple[Role, ...] = ("subject", "predicate", "object")


# Other names for the same places, as knowledge bases call them; nothing else is taken for one.
_NAMED: dict[str, Role] = {
    **{role: role for role in ROLES},
    "property": "predicate",
    "relation": "predicate",
    "value": "object",
}


_MISSING: dict[Role, UnreadWhy] = {
    "subject": "no subject",
    "predicate": "no predicate",
    "object": "no object",
}


class Spoken(Struct, frozen=True, gc=False):
    """Three texts that belong together, with what was overlooked in them."""

    subject: str
    predicate: str
    object: str
    faults: frozenset[Fault]


def role_of(key: str) -> tuple[Role | None, bool]:
    """The place that a key names, if any, and whether it is written as asked for."""
    role = _NAMED.get(key.strip().casefold())
    return role, role == key


class Draft:
    """The keys of one record in their order. A key that comes again with another value begins the
    next triple where the one before is whole: what came before that key holds for it too."""

    __slots__ = ("_told", "_values", "faults", "why")

    def __init__(self) -> None:
        self._values: dict[Role, tuple[str, ...]] = {}
        self._told: list[Spoken] = []
        self.faults: set[Fault] = set()
        self.why: UnreadWhy | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all three are there and nothing is wrong with them."""
        return self.why is None and self._lacks() is None

    @property
    def is_empty(self) -> bool:
        """Whether it has none of the three."""
        return not self._values and not self._told

    def add(self, role: Role, texts: tuple[str, ...]) -> None:
        """Takes the value of a key; several texts are those of a list, none is an empty value."""
        if role not in self._values:
            self._values[role] = texts
            return
        self.faults.add("repeated key")
        if self._values[role] == texts:
            return
        if self._lacks() is not None:
            self.why = "repeated key"
            return
        self._told += self._spoken()
        order = list(self._values)
        for later in order[order.index(role) :]:
            del self._values[later]
        self._values[role] = texts

    def finish(self) -> tuple[list[Spoken], UnreadWhy | None]:
        """The triples that stand in the record, and why there is not one more, where a part of it
        cannot be one."""
        why = self.why or self._lacks()
        return (self._told, why) if why else ([*self._told, *self._spoken()], None)

    def _lacks(self) -> UnreadWhy | None:
        for role in ROLES:
            texts = self._values.get(role, ())
            if not texts or not all(text.strip() for text in texts):
                return _MISSING[role]
            if role != "object" and len(texts) > 1:
                return "nested value"
        return None

    def _spoken(self) -> list[Spoken]:
        faults: set[Fault] = set(self.faults)
        if len(self._values["object"]) > 1:
            faults.add("list")
        (subject,), (predicate,) = self._values["subject"], self._values["predicate"]
        return [
            Spoken(subject, predicate, text, frozenset(faults)) for text in self._values["object"]
        ]
