"""The source of a statement as columns of its row, from a mere title to a whole record."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Literal, get_args

import msgspec

from proofstone.engines.ingest import Fields, came
from proofstone.records import Source, source_id

__all__ = ["SourceColumns", "write_source"]

_COLUMNS = (
    "source",
    "licence",
    "license",
    "source_sha256",
    "book",
    "book_name",
    "source_kind",
    "source_language",
    "source_authors",
    "source_year",
    "source_origin",
)
SourceKind = Literal["document", "table", "dump", "images", "web"]


def _stand_in(title: str) -> bytes:
    """What stands for the bytes of a source known by title only: one title is one source."""
    return sha256(title.encode("utf-8")).digest()


class SourceColumns:
    """Makes sources of rows; rows that say the same share one.

    ``source`` is the title. Alone it makes a document whose content is the SHA-256 of the title;
    ``source_sha256`` gives the content of the real file. ``source_kind``, ``source_language``,
    ``source_authors``, ``source_year``, ``source_origin`` and ``licence`` complete it. A licence
    without a source is that of the ``book``.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Source | None] = {}

    def read(self, fields: Fields) -> Source | None:
        """The source of one row, or None where its columns are empty."""
        said = tuple(map(fields.values.get, _COLUMNS))
        try:
            if said in self._known:
                return self._known[said]
        except TypeError:  # A list of authors cannot be looked up; such a source is made afresh.
            return self._read(fields)
        was_sound, fields.is_sound = fields.is_sound, True
        source = self._read(fields)
        if fields.is_sound:  # What is wrong must be said of every row.
            self._known[said] = source
        fields.is_sound = was_sound and fields.is_sound
        return source

    def _read(self, fields: Fields) -> Source | None:
        title, licence = fields.text("source"), fields.text("licence", "license")
        content = fields.identity("source_sha256")
        if not title and content is None:
            title = fields.text("book", "book_name") if licence else ""
            if not title:
                self._refuse_lone_columns(fields)
                return None
        source = Source(
            kind=_kind(fields),
            title=title,
            content=content or _stand_in(title),
            language=fields.language("source_language") or "",
            licence=licence,
            authors=fields.texts("source_authors"),
            year=fields.number("source_year"),
            origin=fields.text("source_origin"),
        )
        return msgspec.structs.replace(source, id=source_id(source))

    def _refuse_lone_columns(self, fields: Fields) -> None:
        for name in ("licence", "license"):
            if fields.has(name):
                fields.wrong(name, "of what? Give the source (its title) or the book as well")


def _kind(fields: Fields) -> SourceKind:
    text = fields.text("source_kind") or "document"
    kinds: tuple[SourceKind, ...] = get_args(SourceKind)
    for kind in kinds:
        if text == kind:
            return kind
    fields.wrong("source_kind", f"expected one of {', '.join(kinds)}; came {came(text)}")
    return "document"


def write_source(source: Source) -> dict[str, Any]:
    """The columns from which ``SourceColumns`` makes this very source again."""
    is_stand_in = source.title and source.content == _stand_in(source.title)
    columns = {
        "source": source.title,
        "licence": source.licence,
        "source_kind": "" if source.kind == "document" else source.kind,
        "source_sha256": "" if is_stand_in else source.content.hex(),
        "source_language": source.language,
        "source_authors": list(source.authors),
        "source_origin": source.origin,
    }
    written: dict[str, Any] = {name: value for name, value in columns.items() if value}
    return written if source.year is None else written | {"source_year": source.year}
