"""People as rows know them: random actor ids. Names stand in one table outside hash and export."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Person"]


class Person(Struct, frozen=True, gc=False, kw_only=True):
    """Who an actor is. Erasing a person deletes this row and leaves the actor's id everywhere."""

    actor: bytes
    name: str
    mail: str = ""
    pay_details: str = ""
