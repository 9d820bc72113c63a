"""Parts of pages as images: what a vision model takes knowledge from."""

from __future__ import annotations

from msgspec import Struct

from proofstone.records.knowledge import Passage, Source
from proofstone.records.messages import ImagePart
from proofstone.records.pages import Box

__all__ = ["PageRegion"]


class PageRegion(Struct, frozen=True, kw_only=True):
    """A part of a page of a source as an image, cropped to its boxes and with all else masked, as
    it enters a build.

    ``text`` is what the page's own text has there; empty where that is not known. ``passage`` is
    the one in which most of it stands, None where there is none.
    """

    source: Source
    page: int
    image: ImagePart
    boxes: tuple[Box, ...]
    text: str = ""
    passage: Passage | None = None
    heading: str = ""
    language: str = ""
