"""Pages that wait to be read from their pictures, and what becomes of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from proofstone.engines.ingest import Job, PageRead, Refused

__all__ = ["NotScanned", "PageSize", "ScanEvent", "ScanPart", "TakeScanned"]

PageSize = tuple[float, float]


class ScanPart(Struct, frozen=True, kw_only=True):
    """Some pages of one file: the ``job`` of who reads them here, and the ``sizes`` in points of
    all of them by number. ``names`` (its title, its book) and ``licence`` are those of its source:
    they decide where its pages may be sent."""

    job: Job
    names: tuple[str, ...]
    licence: str
    sizes: Mapping[int, PageSize]


class NotScanned(Struct, frozen=True, kw_only=True):
    """A page that stays as it was, and why: ``what`` for people, ``detail`` for the record."""

    number: int
    what: str
    detail: str = ""


# A Refused gives up the part that it answers.
ScanEvent = PageRead | NotScanned | Refused
TakeScanned = Callable[[int, ScanEvent], None]
