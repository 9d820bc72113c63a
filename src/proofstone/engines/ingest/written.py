"""What a reader of written documents hands on: blocks by page, and what the document says of
itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from proofstone.engines.ingest.layout import Block

__all__ = ["Written"]


@dataclass(frozen=True)
class Written:
    """A document of one page, which then has no number, or of several, counted from 1.

    ``content`` is a digest of all files that it came from, where they are more than one,
    ``origin`` its address and ``detail`` its revision where it has such.
    """

    pages: Iterable[list[Block]]
    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    language: str = ""
    licence: str = ""
    content: bytes = b""
    origin: str = ""
    detail: str = ""
