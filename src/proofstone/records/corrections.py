"""Corrections by people: rulings over replies, and what was edited, retired and restored.

Each is a row of its own that names what it corrects; nothing is changed in place.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, structs

from proofstone.identity import content_id

__all__ = ["Action", "Correction", "Ruling", "Verdict", "correction_id", "ruling_id"]

Verdict = Literal["correct", "incorrect", "void"]
Action = Literal["edit", "retire", "restore"]


class Ruling(Struct, frozen=True, gc=False, kw_only=True):
    """A person's ruling over a reply to an item, whatever the scorer made of it.

    ``run`` and ``sample`` say where the reply was met; it holds wherever this very reply serves.
    ``void``: the reply is left out, neither right nor wrong. ``actor`` is a random id; ``at`` is in
    seconds since 1970; ``replaces`` names the former ruling over the same reply.
    """

    id: bytes = b""
    run: bytes
    item: bytes
    sample: int
    verdict: Verdict
    reason: str
    actor: bytes
    at: float
    replaces: bytes | None = None


class Correction(Struct, frozen=True, gc=False, kw_only=True):
    """What was done to a fact, item or form, by whom and why.

    ``target`` is the row that was retired or restored, or the new version that an edit made (which
    names the old one). ``follows`` is the former retirement or restoration of the same row.
    """

    id: bytes = b""
    action: Action
    kind: Literal["fact", "item", "form"]
    target: bytes
    reason: str
    actor: bytes
    at: float
    follows: bytes | None = None


def ruling_id(ruling: Ruling) -> bytes:
    """The id of a ruling: all its fields."""
    return content_id("ruling", structs.astuple(ruling)[1:])


def correction_id(correction: Correction) -> bytes:
    """The id of a correction: all its fields."""
    return content_id("correction", structs.astuple(correction)[1:])
