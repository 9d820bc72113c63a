"""Edit statements and questions: new versions that refer to the old ones.

Fields are those of ``rows``. A false statement refers to its true one and is rebuilt with it; its
text changes only if it is also edited. A composed question is rebuilt from the corrected
statements, and its answer key follows from their truth.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import msgspec

from proofstone.errors import BadInput, Problem
from proofstone.method import Editing
from proofstone.methods.encyclo_k.payloads import ChoiceQuestion, ComposedQuestion, phrasing
from proofstone.methods.encyclo_k.questions import read_items, write_item
from proofstone.methods.encyclo_k.statements import read_facts, write_fact, write_stratum
from proofstone.records.items import Item, LoadedItem, item_id
from proofstone.records.knowledge import BuiltFact, Fact, Stratum, fact_id
from proofstone.records.tables import Row

_FIXED = ("id", "passage", "corrects")


_FACT_FIELDS = (
    "text", "correct", "title", "origin", "error_type", "reason", "language", "discipline",
    "field", "subfield", "book", "page", "source", "source_kind", "source_language",
    "source_authors", "source_year", "source_origin", "source_sha256", "license", "written_by",
    "perturbed_by", "checked_by", "filtered_by", "judged_by",
)  # fmt: skip


_SOURCE_FIELDS = (*(name for name in _FACT_FIELDS if name.startswith("source")), "license")


_LEVELS = Stratum.__struct_fields__


_CHOICE_FIELDS = ("question", "options", "answer", "language", *_LEVELS)


_COMPOSED_FIELDS = ("asked", "template", "wording", *_LEVELS)


_ASKED = ("correct", "incorrect")


# ---------------------------------------------------------------- statements


def fact_fields(fact: BuiltFact) -> dict[str, Any]:
    """Return the editable columns of a statement's row."""
    row = write_fact(fact, {})
    return {name: value for name, value in row.items() if name not in _FIXED}


def revise_fact(
    fact: BuiltFact,
    changes: Mapping[str, Any],
    naming: Sequence[BuiltFact],
    theirs: Mapping[bytes, Mapping[str, Any]] | None = None,
) -> Sequence[BuiltFact]:
    """Return the statement with ``changes``, then the false statements derived from it.

    The latter get their own changes from ``theirs``, by id.
    """
    own = theirs or {}
    for each in (changes, *own.values()):
        _refuse_unknown(each, _FACT_FIELDS, "this statement")
    for built in (fact, *naming):
        _refuse_without_key(built, changes if built is fact else own.get(built.fact.id, {}))
    edited = {**_new_row(fact, "edited"), **changes}
    rows = [_stated("the statement", edited)]
    for number, other in enumerate(naming, start=1):
        row = {**_new_row(other, f"naming-{number}"), "origin": "edited"}
        row |= own.get(other.fact.id, {})
        rows.append(_stated(f"false statement {other.fact.id.hex()[:8]}", row))
    made = read_facts(rows)
    if not changes.keys().isdisjoint(_SOURCE_FIELDS):
        return made
    moved = {each for each, new in own.items() if not new.keys().isdisjoint(_SOURCE_FIELDS)}
    return _from_their_sources([fact, *naming], made, moved)


def _refuse_without_key(fact: BuiltFact, changes: Mapping[str, Any]) -> None:
    """Require ``correct`` with a new text, since it may turn a false statement true."""
    statement = fact.fact.payload
    if "text" in changes and not statement.correct and "correct" not in changes:
        raise BadInput(
            f"statement {fact.fact.id.hex()[:8]} is a false statement; state whether its new "
            "text is true",
            [Problem("correct", "expected true or false with a new text")],
            hint="still false: --set correct=false; true now: --set correct=true",
        )


def _from_their_sources(
    former: Sequence[BuiltFact], made: Sequence[BuiltFact], moved: Set[bytes]
) -> Sequence[BuiltFact]:
    """Return new versions with the sources of the former ones, except for those that ``moved``.

    A row describes a source incompletely. False statements then refer to the new version of their
    origin.
    """
    anew: dict[bytes, bytes] = {}
    kept = []
    for old, new in zip(former, made, strict=True):
        payload = new.fact.payload
        if payload.origin in anew:
            payload = msgspec.structs.replace(payload, origin=anew[payload.origin])
        source = new.source if old.fact.id in moved else old.source
        of = new.fact.source if old.fact.id in moved else old.fact.source
        fact = msgspec.structs.replace(new.fact, id=b"", payload=payload, source=of)
        fact = msgspec.structs.replace(fact, id=fact_id(fact))
        anew[new.fact.id] = fact.id
        kept.append(msgspec.structs.replace(new, fact=fact, source=source))
    return kept


def _stated(place: str, row: Mapping[str, Any]) -> Row:
    """Return the row without the removed fields."""
    return Row(place, {name: value for name, value in row.items() if value is not None})


def naming(fact: Fact, facts: Iterable[Fact]) -> Sequence[Fact]:
    """Return the false statements derived from this one."""
    return [other for other in facts if other.payload.origin == fact.id]


def _new_row(fact: BuiltFact, key: str) -> dict[str, Any]:
    """Return the row of the next version of a statement, with a unique key among these rows."""
    return {**write_fact(fact, {}), "id": key, "corrects": fact.fact.id.hex()}


# ---------------------------------------------------------------- questions


def item_fields(item: LoadedItem) -> dict[str, Any]:
    """Return the editable columns of a question's row."""
    row, names = write_item(item), _names_of(item)
    return {name: row[name] for name in names if name in row}


def revise_item(item: LoadedItem, changes: Mapping[str, Any]) -> Item:
    """Return the question with ``changes``; a composed question keeps its statements."""
    hint = "" if isinstance(item.item.payload, ChoiceQuestion) else _BY_ITS_STATEMENTS
    _refuse_unknown(changes, _names_of(item), "this question", hint)
    if isinstance(item.item.payload, ChoiceQuestion):
        return _revised_choice(item, changes)
    levels = {**write_stratum(item.item.stratum), **_levels(changes)}
    stratum = Stratum(**{name: text for name, text in levels.items() if text})
    if isinstance(item.item.payload, ComposedQuestion):
        payload = _put_anew(item, item.item.payload, changes)
        return _next(item, msgspec.structs.replace(_on(item, payload, item.facts), stratum=stratum))
    return _next(item, msgspec.structs.replace(item.item, stratum=stratum))


def rest_anew(item: LoadedItem, facts: Mapping[bytes, Fact]) -> Item:
    """Rebuild the question from the new versions of its statements."""
    rests_on = tuple(facts.get(fact.id, fact) for fact in item.facts)
    payload = item.item.payload
    if isinstance(payload, ComposedQuestion):
        return _next(item, _on(item, payload, rests_on))
    return _next(item, msgspec.structs.replace(item.item, facts=_ids(rests_on)))


_BY_ITS_STATEMENTS = (
    "its text and its answer key follow from its statements: edit those ('proofstone show' of "
    "the question lists them)"
)


def _names_of(item: LoadedItem) -> tuple[str, ...]:
    payload = item.item.payload
    if isinstance(payload, ChoiceQuestion):
        return _CHOICE_FIELDS
    return _COMPOSED_FIELDS if isinstance(payload, ComposedQuestion) else _LEVELS


def _revised_choice(item: LoadedItem, changes: Mapping[str, Any]) -> Item:
    row = {**write_item(item), **changes, "corrects": item.item.id.hex()}
    del row["answer_index"]  # ``answer`` may differ now
    if "answer" not in changes:
        row["answer_letter"] = row["answer"]
    (revised,) = read_items([Row("the question", row)])
    return revised


def _put_anew(
    item: LoadedItem, payload: ComposedQuestion, changes: Mapping[str, Any]
) -> ComposedQuestion:
    """Return the payload with a new phrasing. Raises BadInput with every problem."""
    phrases = phrasing(item.item.language)
    sizes = {"template": len(phrases.templates), "wording": len(phrases.correct)}
    problems = [
        Problem(name, f"expected a whole number from 0 to {size - 1}, got {changes[name]!r}")
        for name, size in sizes.items()
        if name in changes and changes[name] not in range(size)
    ]
    asked = changes.get("asked", _ASKED[not payload.asks_correct])
    if asked not in _ASKED:
        problems.append(Problem("asked", f"expected correct or incorrect, got {asked!r}"))
    if problems:
        raise BadInput("the question cannot be changed this way", problems)
    return msgspec.structs.replace(
        payload,
        asks_correct=asked == "correct",
        template=changes.get("template", payload.template),
        wording=changes.get("wording", payload.wording),
    )


def _on(item: LoadedItem, payload: ComposedQuestion, facts: Sequence[Fact]) -> Item:
    """Return the item with this payload on these statements, with its answer key updated.

    The correct option has exactly the statements of the requested truth value. If none has, the
    formerly correct option is changed to it; the others stay.
    """
    asks = payload.asks_correct
    right = tuple(at for at, fact in enumerate(facts) if fact.payload.correct == asks)
    if not right:
        asked = _ASKED[not asks]
        raise BadInput(
            f"no statement of item {item.item.id.hex()[:8]} is {asked}, but the question asks "
            "for these",
            hint=f"exclude the item, or ask for the others: --set asked={_ASKED[asks]}",
        )
    options = list(payload.options)
    if right not in options:
        options[payload.answer_key] = right
    payload = msgspec.structs.replace(
        payload, options=tuple(options), answer_key=options.index(right)
    )
    return msgspec.structs.replace(item.item, payload=payload, facts=_ids(facts))


def _next(item: LoadedItem, revised: Item) -> Item:
    """Return ``revised`` as the next version of ``item``, with its id."""
    revised = msgspec.structs.replace(revised, corrects=item.item.id)
    return msgspec.structs.replace(revised, id=item_id(revised))


def _ids(facts: Sequence[Fact]) -> tuple[bytes, ...]:
    return tuple(fact.id for fact in facts)


def _levels(changes: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(changes[name] or "") for name in _LEVELS if name in changes}


def _refuse_unknown(
    changes: Mapping[str, Any], known: Sequence[str], what: str, hint: str = ""
) -> None:
    problems = [
        Problem(name, f"cannot be changed; expected one of: {', '.join(known)}")
        for name in changes
        if name not in known
    ]
    if problems:
        raise BadInput(
            (f"{what} cannot be changed this way; nothing was stored"), problems, hint=hint
        )


EDITING = Editing(
    fact_fields=fact_fields,
    revise_fact=revise_fact,
    naming=naming,
    item_fields=item_fields,
    revise_item=revise_item,
    rest_anew=rest_anew,
)
