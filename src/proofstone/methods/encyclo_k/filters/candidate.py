"""A row of a file as the filters see it: its text and what binds it to other rows of the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import astuple

from proofstone.engines.ingest import Fields
from proofstone.methods.encyclo_k.statement_drafts import read_stratum
from proofstone.ports import Row
from proofstone.records import Stratum

__all__ = ["Candidate", "candidates", "file_row", "plain"]

_TEXTS = ("text", "statement", "content")


class Candidate(Struct, frozen=True, gc=False, kw_only=True):
    """``number`` is the row's place in the file, ``text`` as it stands, ``before`` as it came;
    ``removed`` is what the cleaner took out. ``key`` names the row, ``origin`` and ``corrects``
    other rows of this file (empty where they name none of it). Of one that cannot be read
    (``is_readable``) nothing is judged: reading it names the problem."""

    number: int
    column: str = ""
    text: str = ""
    before: str = ""
    removed: tuple[str, ...] = ()
    is_readable: bool = True
    is_falsified: bool = False
    key: str = ""
    origin: str = ""
    corrects: str = ""
    stands_alone: bool = False
    stratum: Stratum = Stratum()


def candidates(rows: Sequence[Row]) -> Iterator[Candidate]:
    """The rows of a file, in their order."""
    here = {key for row in rows if (key := Fields(row, []).key("id"))}
    for number, row in enumerate(rows):
        fields = Fields(row, [])
        column, value = fields.find(*_TEXTS)
        text = _encodable(str(value))
        origin, corrects = fields.key("origin") or "", fields.key("corrects") or ""
        yield Candidate(
            number=number,
            column=column,
            text=text,
            before=text,
            is_readable=isinstance(value, str) and value == text and not value.isspace(),
            is_falsified=fields.truth("correct", "is_correct", "label") is False,
            key=_encodable(fields.key("id") or ""),
            origin=_encodable(origin) if origin in here else "",
            corrects=_encodable(corrects) if corrects in here else "",
            stratum=_stratum(fields),
        )


def _stratum(fields: Fields) -> Stratum:
    levels = astuple(read_stratum(fields))
    return Stratum(*(_encodable(level) for level in levels))


def _encodable(text: str) -> str:
    """The text, what no encoding takes (half a pair of code units) replaced: the reader of the file
    refuses that by its line."""
    return text.encode("utf-8", "replace").decode("utf-8")


def file_row(candidate: Candidate, row: Row) -> Row:
    """The row of the file that a candidate was made from, as it stands now."""
    values = row.values
    if candidate.removed:
        values = {**values, candidate.column: candidate.text}
    if candidate.stands_alone:
        values = {name: value for name, value in values.items() if name != "corrects"}
    return row if values is row.values else Row(row.place, values)


def plain(candidate: Candidate) -> str:
    """Its text without line breaks and double spaces."""
    return " ".join(candidate.text.split())
