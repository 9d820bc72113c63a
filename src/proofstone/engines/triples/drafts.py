"""One record on its way to a triple: its keys as they come, and what they amount to."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from proofstone.engines.triples.found import Fault, UnreadWhy

__all__ = ["Draft", "Role", "role_of"]

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
