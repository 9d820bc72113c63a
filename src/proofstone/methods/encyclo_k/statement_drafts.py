"""One row of a statement file as a draft: what it says by itself, its references still keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from proofstone.engines.ingest import Fields, came
from proofstone.methods.encyclo_k.error_types import ERROR_TYPES, read_error_type
from proofstone.methods.encyclo_k.payloads import Statement
from proofstone.methods.encyclo_k.source_columns import SourceColumns
from proofstone.records import Role, RoleName, Source, Stratum

__all__ = ["Draft", "read_draft", "read_stratum", "write_roles", "write_stratum"]

_ROLES: dict[str, RoleName] = {
    "written_by": "wrote",
    "falsified_by": "falsified",
    "checked_by": "checked",
    "filtered_by": "filtered",
    "judged_by": "judged",
}
_COLUMN_OF: dict[RoleName, str] = {role: column for column, role in _ROLES.items()}


@dataclass(slots=True, eq=False)
class Draft:
    """A row's statement, its references still keys; ``language`` is None where to be guessed."""

    place: str
    key: str
    origin: str
    corrects: str
    statement: Statement
    language: str | None
    stratum: Stratum
    source: Source | None
    passage: bytes | None
    page: str
    roles: tuple[Role, ...]
    collapsed: str
    is_sound: bool


def read_draft(fields: Fields, sources: SourceColumns) -> Draft:
    """The draft of a row; what is wrong with the row is noted in ``fields``."""
    text = fields.required_text("text", "statement", "content")
    correct = fields.truth("correct", "is_correct", "label")
    if not fields.has("correct", "is_correct", "label"):
        fields.wrong("correct", "is missing; give true or false")
    draft = Draft(
        place=fields.place,
        key=fields.key("id"),
        origin=fields.key("origin"),
        corrects=fields.key("corrects"),
        statement=Statement(
            text=text,
            correct=bool(correct),
            title=fields.text("title"),
            error_type=_error_type(fields),
            reason=fields.text("reason", "incorrect_reason"),
        ),
        language=fields.language(),
        stratum=read_stratum(fields),
        source=sources.read(fields),
        passage=fields.identity("passage"),
        page=fields.label("page", "page_location"),
        roles=_roles(fields),
        collapsed=_collapsed(text),
        is_sound=True,
    )
    if correct and draft.origin:
        fields.wrong("origin", "only a falsified statement has an origin, and this one is correct")
    if correct and draft.statement.error_type:
        fields.wrong("error_type", "only a falsified statement has one, and this one is correct")
    draft.is_sound = fields.is_sound
    return draft


def _collapsed(text: str) -> str:
    """The text with single spaces; the very same object where it has no others, so that no second
    copy of a whole bank is held."""
    collapsed = " ".join(text.split())
    return text if collapsed == text else collapsed


def _error_type(fields: Fields) -> str:
    text = fields.text("error_type")
    name = read_error_type(text) if text else ""
    if name is None:
        fields.wrong("error_type", f"expected one of {', '.join(ERROR_TYPES)}; came {came(text)}")
    return name or ""


def read_stratum(fields: Fields) -> Stratum:
    """The place in the taxonomy; ``category`` or ``subject`` stand in for a subfield."""
    return Stratum(
        discipline=fields.text("discipline"),
        field=fields.text("field"),
        subfield=fields.text("subfield", "category", "subject"),
        book=fields.text("book", "book_name"),
    )


def write_stratum(stratum: Stratum) -> dict[str, str]:
    """The columns of a stratum, without its empty levels."""
    levels = msgspec.structs.asdict(stratum)
    return {level: name for level, name in levels.items() if name}


def _roles(fields: Fields) -> tuple[Role, ...]:
    given = [column for column in _ROLES if column in fields.values]
    return tuple(
        [Role(_ROLES[column], model) for column in given for model in fields.texts(column)]
    )


def write_roles(roles: Sequence[Role]) -> dict[str, list[str]]:
    """The columns of the roles, each a list of models."""
    columns: dict[str, list[str]] = {}
    for role in roles:
        columns.setdefault(_COLUMN_OF[role.role], []).append(role.model)
    return columns
