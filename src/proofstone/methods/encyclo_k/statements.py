"""Read statements from the rows of a file, checked whole, and write them back.

Alternative column names are separated by a bar; other columns are ignored. A missing column, null
and an empty text are equivalent. Columns without a stated type are text.

Columns, one statement per row:

- ``text`` | ``statement`` | ``content``, and ``correct`` | ``is_correct`` | ``label`` (true, false,
  correct, incorrect, 1, 0) are required.
- ``id``: the file's own key, text or a whole number, unique in the file.
- ``title``: the knowledge point.
- ``origin`` of a false statement: the id of the correct one in this file, or the content id (64
  hexadecimal digits) of one elsewhere; ``error_type`` (payloads.ERROR_TYPES, in any usual spelling
  of English or Chinese); ``reason`` | ``incorrect_reason``.
- ``language``: a code such as en or zh, ``und`` for none. If missing, it is detected once for all
  such rows of a book.
- ``discipline``, ``field``, ``subfield`` | ``category`` | ``subject``, ``book`` | ``book_name``.
- ``page`` | ``page_location`` (text or a whole number), ``source`` (its title), ``license``, and
  more of the source (``SourceColumns``).
- ``written_by``, ``perturbed_by``, ``checked_by``, ``filtered_by``, ``judged_by``: models, as a
  list, the JSON text of one, or comma-separated.
- ``passage`` and ``corrects``: content ids, as in an export; ``corrects`` may be an id of this
  file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256
from typing import Any, Literal, get_args

import msgspec

from proofstone.errors import BadInput, Problem
from proofstone.files.fields import Fields, came, read_identity
from proofstone.methods.encyclo_k.payloads import ERROR_TYPES, Statement, read_error_type
from proofstone.records.knowledge import (
    BuiltFact,
    Fact,
    Role,
    RoleName,
    Source,
    Stratum,
    fact_id,
    source_id,
)
from proofstone.records.tables import Row
from proofstone.texts.languages import UNDETERMINED, guess_language

# The source of a statement as columns of its row, from a title to a complete record.

_COLUMNS = (
    "source",
    "license",
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
    """Return the substitute content of a source known by title only: equal titles are one
    source."""
    return sha256(title.encode("utf-8")).digest()


class SourceColumns:
    """Build sources from rows; rows with equal values share one.

    ``source`` is the title. Alone it makes a document whose content is the SHA-256 of the title;
    ``source_sha256`` gives the content of the real file. ``source_kind``, ``source_language``,
    ``source_authors``, ``source_year``, ``source_origin`` and ``license`` complete it. A license
    without a source applies to the ``book``.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Source | None] = {}

    def read(self, fields: Fields) -> Source | None:
        """Return the source of one row, or None if its columns are empty."""
        said = tuple(map(fields.values.get, _COLUMNS))
        try:
            if said in self._known:
                return self._known[said]
        except (
            TypeError
        ):  # A list of authors is not hashable; such a source is built again each time.
            return self._read(fields)
        was_sound, fields.is_sound = fields.is_sound, True
        source = self._read(fields)
        if fields.is_sound:  # Problems must be reported for every row.
            self._known[said] = source
        fields.is_sound = was_sound and fields.is_sound
        return source

    def _read(self, fields: Fields) -> Source | None:
        title, license = fields.text("source"), fields.text("license", "licence")
        content = fields.identity("source_sha256")
        if not title and content is None:
            title = fields.text("book", "book_name") if license else ""
            if not title:
                self._refuse_lone_columns(fields)
                return None
        source = Source(
            kind=_kind(fields),
            title=title,
            content=content or _stand_in(title),
            language=fields.language("source_language") or "",
            license=license,
            authors=fields.texts("source_authors"),
            year=fields.number("source_year"),
            origin=fields.text("source_origin"),
        )
        return msgspec.structs.replace(source, id=source_id(source))

    def _refuse_lone_columns(self, fields: Fields) -> None:
        for name in ("license", "licence"):
            if fields.has(name):
                fields.wrong(name, "has no source; add the source (its title) or the book")


def _kind(fields: Fields) -> SourceKind:
    text = fields.text("source_kind") or "document"
    kinds: tuple[SourceKind, ...] = get_args(SourceKind)
    for kind in kinds:
        if text == kind:
            return kind
    fields.wrong("source_kind", f"expected one of {', '.join(kinds)}, got {came(text)}")
    return "document"


def write_source(source: Source) -> dict[str, Any]:
    """Return the columns of a source; ``SourceColumns`` reads it back unchanged."""
    is_stand_in = source.title and source.content == _stand_in(source.title)
    columns = {
        "source": source.title,
        "license": source.license,
        "source_kind": "" if source.kind == "document" else source.kind,
        "source_sha256": "" if is_stand_in else source.content.hex(),
        "source_language": source.language,
        "source_authors": list(source.authors),
        "source_origin": source.origin,
    }
    written: dict[str, Any] = {name: value for name, value in columns.items() if value}
    return written if source.year is None else written | {"source_year": source.year}


# One row of a statement file as a draft with unresolved references.

_ROLES: dict[str, RoleName] = {
    "written_by": "wrote",
    "perturbed_by": "perturbed",
    "checked_by": "checked",
    "filtered_by": "filtered",
    "judged_by": "judged",
}


_COLUMN_OF: dict[RoleName, str] = {role: column for column, role in _ROLES.items()}


@dataclass(slots=True, eq=False)
class Draft:
    """Hold a row's statement with unresolved references; ``language`` is None until detected."""

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
    """Parse a draft from a row; problems are recorded in ``fields``."""
    text = fields.required_text("text", "statement", "content")
    correct = fields.truth("correct", "is_correct", "label")
    if not fields.has("correct", "is_correct", "label"):
        fields.wrong("correct", "is missing; expected true or false")
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
        fields.wrong("origin", "only a false statement has an origin, but this one is correct")
    if correct and draft.statement.error_type:
        fields.wrong("error_type", "only a false statement has one, but this one is correct")
    draft.is_sound = fields.is_sound
    return draft


def _collapsed(text: str) -> str:
    """Return the text with single spaces; the same object if unchanged, to save memory."""
    collapsed = " ".join(text.split())
    return text if collapsed == text else collapsed


def _error_type(fields: Fields) -> str:
    text = fields.text("error_type")
    name = read_error_type(text) if text else ""
    if name is None:
        fields.wrong("error_type", f"expected one of {', '.join(ERROR_TYPES)}, got {came(text)}")
    return name or ""


def read_stratum(fields: Fields) -> Stratum:
    """Return the taxonomy label; ``category`` or ``subject`` are synonyms of subfield."""
    return Stratum(
        discipline=fields.text("discipline"),
        field=fields.text("field"),
        subfield=fields.text("subfield", "category", "subject"),
        book=fields.text("book", "book_name"),
    )


def write_stratum(stratum: Stratum) -> dict[str, str]:
    """Return the columns of a stratum, without empty levels."""
    levels = msgspec.structs.asdict(stratum)
    return {level: name for level, name in levels.items() if name}


def _roles(fields: Fields) -> tuple[Role, ...]:
    given = [column for column in _ROLES if column in fields.values]
    return tuple(
        [Role(_ROLES[column], model) for column in given for model in fields.texts(column)]
    )


def write_roles(roles: Sequence[Role]) -> dict[str, list[str]]:
    """Return the columns of the roles, each a list of models."""
    columns: dict[str, list[str]] = {}
    for role in roles:
        columns.setdefault(_COLUMN_OF[role.role], []).append(role.model)
    return columns


def read_facts(rows: Iterable[Row]) -> Sequence[BuiltFact]:
    """Read statements in row order, with their sources and models.

    Raises BadInput with every problem of all rows.
    """
    problems: list[Problem] = []
    sources = SourceColumns()
    drafts = [read_draft(Fields(row, problems), sources) for row in rows]
    by_key = _by_key(drafts, problems)
    _check_references(drafts, by_key, problems)
    _check_repeats(drafts, by_key, problems)
    order = _order(drafts, by_key, problems)
    if problems:
        raise BadInput("The statements cannot be read.", problems)
    _guess_languages(drafts)
    return _built(drafts, order, by_key)


# ---------------------------------------------------------------- all rows


def _by_key(drafts: Sequence[Draft], problems: list[Problem]) -> dict[str, Draft]:
    """Return the drafts by their own ids; a duplicate id is a problem."""
    by_key: dict[str, Draft] = {}
    for draft in drafts:
        first = by_key.setdefault(draft.key, draft) if draft.key else draft
        if first is not draft:
            twice = f"{came(draft.key)} is already the id of {first.place}"
            problems.append(Problem(f"{draft.place}, field id", twice))
    return by_key


def _check_references(
    drafts: Sequence[Draft], by_key: Mapping[str, Draft], problems: list[Problem]
) -> None:
    for draft in drafts:
        if draft.origin and not draft.statement.correct:
            wrong = _wrong_origin(draft, by_key)
            if wrong:
                problems.append(Problem(f"{draft.place}, field origin", wrong))
        if draft.corrects and _is_nowhere(draft.corrects, by_key):
            nowhere = f"no row has the id {came(draft.corrects)}"
            problems.append(Problem(f"{draft.place}, field corrects", nowhere))


def _is_nowhere(key: str, by_key: Mapping[str, Draft]) -> bool:
    return key not in by_key and read_identity(key) is None


def _wrong_origin(draft: Draft, by_key: Mapping[str, Draft]) -> str:
    if _is_nowhere(draft.origin, by_key):
        return f"no row has the id {came(draft.origin)}, and it is not a content id (64 digits)"
    origin = by_key.get(draft.origin)
    if origin is None or not origin.is_sound:
        return ""  # In another file, or in a row with its own problem.
    if not origin.statement.correct:
        return f"{came(draft.origin)} ({origin.place}) is itself a false statement"
    if origin.collapsed == draft.collapsed:
        return f"this false statement is the same as its origin ({origin.place})"
    return ""


def _check_repeats(
    drafts: Sequence[Draft], by_key: Mapping[str, Draft], problems: list[Problem]
) -> None:
    """Report duplicate texts: a text is unique per taxonomy label, and never both true and false.

    A row that corrects another may repeat its text.
    """
    by_text: dict[str, list[Draft]] = {}
    for draft in drafts:
        if draft.is_sound and not draft.corrects:
            others = by_text.setdefault(draft.collapsed, [])
            wrong = _wrong_repeat(draft, others, by_key) if others else ""
            if wrong:
                problems.append(Problem(f"{draft.place}, field text", wrong))
            else:
                others.append(draft)


def _wrong_repeat(draft: Draft, others: Sequence[Draft], by_key: Mapping[str, Draft]) -> str:
    """Return the problem with a text that ``others`` also have, or the empty text."""
    for other in others:
        if other.statement.correct is draft.statement.correct:
            if other.stratum == draft.stratum:
                return f"repeats the statement of {other.place}"
        # An origin with the same text was already reported.
        elif by_key.get(draft.origin) is not other and by_key.get(other.origin) is not draft:
            says = "correct" if other.statement.correct else "perturbed"
            return f"the same text is {says} in {other.place}"
    return ""


def _order(
    drafts: Sequence[Draft], by_key: Mapping[str, Draft], problems: list[Problem]
) -> list[Draft]:
    """Return the drafts, each after those it refers to; empty for a cycle, which is a problem."""
    if not any(draft.corrects for draft in drafts):
        return sorted(drafts, key=lambda draft: not draft.statement.correct)
    by_number = dict(enumerate(drafts))
    numbers = {id(draft): number for number, draft in by_number.items()}
    graph: TopologicalSorter[int] = TopologicalSorter()
    for number, draft in by_number.items():
        needs = [by_key[key] for key in (draft.origin, draft.corrects) if key in by_key]
        graph.add(number, *(numbers[id(need)] for need in needs))
    try:
        return [by_number[number] for number in graph.static_order()]
    except CycleError as cause:
        ring = sorted(set(cause.args[1]))
        places = ", ".join(by_number[number].place for number in ring)
        first = f"{by_number[ring[0]].place}, field corrects"
        problems.append(Problem(first, f"these rows refer to each other in a cycle: {places}"))
        return []


def _guess_languages(drafts: Sequence[Draft]) -> None:
    """Detect the language of rows without one, per book, since single formulas say little."""
    books: dict[str, list[Draft]] = {}
    for draft in drafts:
        if draft.language is None:
            books.setdefault(draft.stratum.book, []).append(draft)
    for members in books.values():
        language = guess_language(draft.statement.text for draft in members)
        for draft in members:
            draft.language = language


def _built(
    drafts: Sequence[Draft], order: Sequence[Draft], by_key: Mapping[str, Draft]
) -> list[BuiltFact]:
    facts: dict[int, Fact] = {}

    def refer(key: str) -> bytes | None:
        there = by_key.get(key)
        return read_identity(key) if there is None else facts[id(there)].id

    for draft in order:
        facts[id(draft)] = _fact(draft, refer(draft.origin), refer(draft.corrects))
    return [BuiltFact(facts[id(draft)], draft.source, draft.roles) for draft in drafts]


def _fact(draft: Draft, origin: bytes | None, corrects: bytes | None) -> Fact:
    statement = draft.statement
    if origin:
        statement = msgspec.structs.replace(statement, origin=origin)
    fact = Fact(
        kind="encyclo_k.statement",
        payload=statement,
        language=draft.language or "",
        stratum=draft.stratum,
        source=draft.source.id if draft.source else None,
        passage=draft.passage,
        page=draft.page,
        corrects=corrects,
    )
    return msgspec.structs.replace(fact, id=fact_id(fact))


def perturbed_fact(true: Fact, text: str, error_type: str, reason: str) -> Fact:
    """Return the false version of a true statement: text, error type, and reason."""
    payload = Statement(
        text=text,
        correct=False,
        title=true.payload.title,
        origin=true.id,
        error_type=error_type,
        reason=reason,
    )
    fact = msgspec.structs.replace(true, id=b"", payload=payload)
    return msgspec.structs.replace(fact, id=fact_id(fact))


# ------------------------------------------------------------------ write


def write_fact(built: BuiltFact, facts: Mapping[bytes, Fact]) -> dict[str, Any]:
    """Return the row of a fact with its source and roles; ``read_facts`` reads it back unchanged.

    ``facts`` is not needed: an origin is written as its content id. ``built.source`` is required if
    the fact names one; raises ValueError if it is another or missing.
    """
    fact = built.fact
    if fact.source != (built.source.id if built.source else None):
        raise ValueError(f"fact {fact.id.hex()} needs its source to be written")
    statement: Statement = fact.payload
    row: dict[str, Any] = {
        "id": fact.id.hex(),
        "text": statement.text,
        "correct": statement.correct,
    }
    optional = {
        "title": statement.title,
        "origin": statement.origin.hex() if statement.origin else "",
        "error_type": statement.error_type,
        "reason": statement.reason,
        "language": fact.language or UNDETERMINED,
        **write_stratum(fact.stratum),
        "page": fact.page,
        **(write_source(built.source) if built.source else {}),
        "passage": fact.passage.hex() if fact.passage else "",
        "corrects": fact.corrects.hex() if fact.corrects else "",
        **write_roles(built.roles),
    }
    return row | {name: value for name, value in optional.items() if value != ""}
