"""What is said of trust, as records: page and JSON show the same."""

from __future__ import annotations

from msgspec import Struct

from proofstone.records.runs import Estimate


class TrustLine(Struct, frozen=True, kw_only=True):
    """One ground to trust results or not: ``name`` for programs, ``about`` for people. ``says`` is
    what is known of it; where nothing is, ``known`` is false and it says what is absent. ``share``
    is its number, where it is one of a sample."""

    name: str
    about: str
    says: str
    known: bool = True
    share: Estimate | None = None
