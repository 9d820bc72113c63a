"""The articles of a ZIM file, and what it says of itself."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from proofstone.engines.ingest.languages import said_language
from proofstone.engines.ingest.zim.archive import Entry, ZimArchive

__all__ = ["ZimSaid", "articles", "said_in"]

_LISTING = "listing/titleOrdered/v1"
_YEAR = re.compile(r"(1[5-9]\d\d|20\d\d)\b")
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class ZimSaid:
    """A file's title, creators, year, language, licence and day, as it states them."""

    title: str
    authors: tuple[str, ...]
    year: int | None
    language: str
    licence: str
    date: str = ""


def said_in(archive: ZimArchive) -> ZimSaid:
    """What the file's metadata say."""

    def said(name: str) -> str:
        entry = archive.find("M", name)
        text = "" if entry is None else archive.content(entry)[:1000].decode("utf-8", "replace")
        return " ".join(text.split())[:_LONGEST]

    language = said("Language").partition(",")[0].strip()
    date = said("Date")
    year = _YEAR.match(date)
    creator = said("Creator")
    return ZimSaid(
        title=said("Title"),
        authors=(creator,) if creator else (),
        year=int(year[1]) if year else None,
        language=said_language(language),
        licence=said("License"),
        date=date[:10],
    )


def articles(archive: ZimArchive) -> Iterator[Entry]:
    """The articles: those that the file lists as such, else all pages where articles are."""
    listing = archive.find("X", _LISTING)
    if listing is not None:
        data = archive.content(listing)
        places = (place for (place,) in struct.iter_unpack("<I", data[: len(data) // 4 * 4]))
        found = (archive.entry(place) for place in places)
    else:
        namespace = archive.article_namespace
        found = (entry for _place, entry in archive.entries() if entry.namespace == namespace)
    return (entry for entry in found if entry.mime.startswith("text/html"))
