"""What a workspace knows of how runs came about, as a methods paragraph needs it."""

from __future__ import annotations

from msgspec import Struct

from proofstone.records.knowledge import RoleName

__all__ = ["AskedAs", "BankUsed", "HandRecorded", "Manifest"]


class BankUsed(Struct, frozen=True):
    """A bank that forms were composed from, and how many facts it holds."""

    name: str
    n_facts: int


class AskedAs(Struct, frozen=True, kw_only=True):
    """How one respondent was asked. ``name`` is the model's; ``own_prompt`` is a person's template
    in place of the method's; ``settings`` are those that were sent, ``dropped`` those of them that
    were not taken; ``first`` and ``last`` say when replies came, empty where none did."""

    name: str
    way: str
    shots: int = 0
    samples: int = 1
    own_prompt: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    dropped: tuple[str, ...] = ()
    served: tuple[str, ...] = ()
    first: str = ""
    last: str = ""
    simulated: bool = False


class HandRecorded(Struct, frozen=True):
    """A role that a model had in ``n_items`` of the items."""

    role: RoleName
    model: str
    n_items: int


class Manifest(Struct, frozen=True, kw_only=True):
    """``method`` is the method's title. ``banks`` are what the item sets were drawn from;
    ``scorers`` the versions of its scorer that read the replies, ``judges`` the models that judged
    them."""

    method: str
    banks: tuple[BankUsed, ...] = ()
    asked: tuple[AskedAs, ...] = ()
    scorers: tuple[int, ...] = ()
    judges: tuple[str, ...] = ()
    hands: tuple[HandRecorded, ...] = ()
