"""What people state of documents that the documents do not say: licence, taxonomy, authors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from msgspec import Struct

from proofstone.engines.ingest.fields import Fields
from proofstone.engines.ingest.rows import read_checked
from proofstone.errors import BadInput, Problem
from proofstone.ports import Row
from proofstone.records import Stratum

__all__ = ["Stated", "StatedFor", "merged", "read_stated"]


class Stated(Struct, frozen=True, kw_only=True):
    """Facts about a source; what is empty was not stated."""

    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    licence: str = ""
    language: str = ""
    stratum: Stratum = Stratum()


# By the file's path within the folder that was named, or its name alone.
StatedFor = Mapping[str, Stated]


def read_stated(path: Path | str) -> dict[str, Stated]:
    """The rows of a table (CSV, JSONL, ...) by their ``file``.

    Columns: file, title, authors (with ; between them), year, licence, language, discipline,
    field, subfield, book. Raises BadInput with every problem, a file named twice among them.
    """
    return read_checked(Path(path), _rows)


def _rows(rows: Iterable[Row]) -> dict[str, Stated]:
    problems: list[Problem] = []
    found: dict[str, Stated] = {}
    for row in rows:
        fields = Fields(row, problems)
        name = PurePosixPath(fields.required_text("file", "path").replace("\\", "/")).as_posix()
        authors = fields.text("authors", "author")
        stated = Stated(
            title=fields.text("title").strip(),
            authors=tuple(part for each in authors.split(";") if (part := each.strip())),
            year=fields.number("year"),
            licence=fields.text("licence", "license").strip(),
            language=fields.language() or "",
            stratum=Stratum(
                fields.text("discipline").strip(),
                fields.text("field").strip(),
                fields.text("subfield").strip(),
                fields.text("book").strip(),
            ),
        )
        if name in found:
            fields.wrong("file", f"{name} stands in an earlier row too")
        found[name] = stated
    if problems:
        raise BadInput("What is stated of the sources cannot be read.", problems)
    return found


def merged(own: Stated, of_all: Stated) -> Stated:
    """What is stated of one file, and where nothing is, what is stated of all."""
    levels = (
        mine or theirs
        for mine, theirs in zip(_levels(own.stratum), _levels(of_all.stratum), strict=True)
    )
    return Stated(
        title=own.title or of_all.title,
        authors=own.authors or of_all.authors,
        year=of_all.year if own.year is None else own.year,
        licence=own.licence or of_all.licence,
        language=own.language or of_all.language,
        stratum=Stratum(*levels),
    )


def _levels(stratum: Stratum) -> Sequence[str]:
    return (stratum.discipline, stratum.field, stratum.subfield, stratum.book)
