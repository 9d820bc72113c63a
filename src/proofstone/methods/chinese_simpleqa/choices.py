"""Multiple-choice questions and twins from the rows of a file, and the rows of them.

A choice is a row as the sets have it: ``question``, options and an answer, in any shape that
``files/columns`` reads; ``primary_category`` | ``category`` | ``topic`` |
``discipline``, ``secondary_category`` | ``subcategory`` | ``subtopic`` | ``subject`` | ``field``,
``language``, ``id`` and ``corrects`` as a short question has them.

A twin is a row of a short question that has besides ``closed_question``, the question as it stands
above ``options``; ``answer_letter``, the right one of them; ``origin``, the fact that it was made
from; and ``made``, converted or generated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from proofstone.errors import BadInput, Problem
from proofstone.files.fields import (
    LETTERS,
    QUESTION_COLUMNS,
    Fields,
    came,
    collapsed,
    has_option_columns,
    read_gold,
    read_letter,
    read_options,
)
from proofstone.methods.chinese_simpleqa.payloads import Choice, Closed, Twin, TwinMade, closed_of
from proofstone.methods.chinese_simpleqa.questions import (
    PRIMARY,
    SECONDARY,
    check_categories,
    made_row,
    read_draft,
)
from proofstone.records.items import LoadedItem
from proofstone.records.knowledge import BuiltFact, Fact, Stratum, fact_id
from proofstone.records.tables import Row
from proofstone.texts.languages import UNDETERMINED, guess_language

_PRIMARY = (*PRIMARY, "discipline")


_SECONDARY = (*SECONDARY, "subject", "field")


_MADE: tuple[TwinMade, ...] = ("", "converted", "generated")


@dataclass(slots=True, eq=False)
class _Draft:
    """A row's fact; ``language`` None: to be guessed from its texts."""

    place: str
    key: str
    kind: str
    payload: Choice | Twin
    stratum: Stratum
    language: str | None
    corrects: bytes | None
    is_sound: bool

    @property
    def closed(self) -> Closed:
        """What it asks over options."""
        return self.payload.closed if isinstance(self.payload, Twin) else self.payload


def is_choice_row(columns: Iterable[str]) -> bool:
    """Whether a row with these columns is a question with options, alone or as a twin."""
    return has_option_columns(columns)


def read_choices(rows: Iterable[Row]) -> Sequence[BuiltFact]:
    """Choices and twins in the order of their rows. Raises BadInput with every problem of all."""
    problems: list[Problem] = []
    drafts = [_draft(Fields(row, problems)) for row in rows]
    check_categories(drafts, problems)
    _check_repeats(drafts, problems)
    if problems:
        raise BadInput("The questions cannot be read.", problems)
    guessed = guess_language(d.closed.question for d in drafts if d.language is None)
    return [_built(d, guessed if d.language is None else d.language) for d in drafts]


def _draft(fields: Fields) -> _Draft:
    return _twin(fields) if fields.has("closed_question") else _choice(fields)


def _choice(fields: Fields) -> _Draft:
    question = fields.required_text(*QUESTION_COLUMNS)
    options = read_options(fields)
    gold = read_gold(fields, options) if options.texts else None
    stratum = Stratum(
        discipline=fields.label(*_PRIMARY).strip(), field=fields.label(*_SECONDARY).strip()
    )
    return _Draft(
        place=fields.place,
        key=fields.key("id", "question_id", "uuid"),
        kind="chinese_simpleqa.choice",
        payload=Choice(question=question, options=options.texts, gold=gold or 0),
        stratum=stratum,
        language=fields.language(),
        corrects=fields.identity("corrects"),
        is_sound=fields.is_sound,
    )


def _twin(fields: Fields) -> _Draft:
    draft = read_draft(fields)
    options = read_options(fields)
    gold = read_letter(fields, options) if options.texts else None
    twin = Twin(
        **structs.asdict(draft.asked),
        closed_question=fields.required_text("closed_question"),
        options=options.texts,
        gold=gold or 0,
        origin=fields.identity("origin"),
        made=_made(fields),
    )
    return _Draft(
        place=draft.place,
        key=draft.key,
        kind="chinese_simpleqa.twin",
        payload=twin,
        stratum=draft.stratum,
        language=draft.language,
        corrects=draft.corrects,
        is_sound=fields.is_sound,
    )


def _made(fields: Fields) -> TwinMade:
    text = fields.text("made").strip().lower()
    for known in _MADE:
        if text == known:
            return known
    fields.wrong("made", f"expected converted or generated, came {came(text)}")
    return ""


def _check_repeats(drafts: Sequence[_Draft], problems: list[Problem]) -> None:
    keys: dict[str, str] = {}
    asked: dict[tuple[str, frozenset[str]], str] = {}
    for draft in drafts:
        first = keys.setdefault(draft.key, draft.place) if draft.key else draft.place
        if first != draft.place:
            twice = f"{came(draft.key)} is already the id of {first}"
            problems.append(Problem(f"{draft.place}, field id", twice))
        if not draft.is_sound:
            continue
        content = collapsed(draft.closed.question), frozenset(draft.closed.options)
        first = asked.setdefault(content, draft.place)
        if first != draft.place:
            repeats = f"repeats the question of {first} with the same options"
            problems.append(Problem(f"{draft.place}, field question", repeats))


# ---------------------------------------------------------------- made and written


def _built(draft: _Draft, language: str) -> BuiltFact:
    fact = Fact(
        kind=draft.kind,
        payload=draft.payload,
        language=language,
        stratum=draft.stratum,
        corrects=draft.corrects,
    )
    return BuiltFact(structs.replace(fact, id=fact_id(fact)))


def write_choice(built: BuiltFact) -> dict[str, Any]:
    """The row of a choice or twin, from which ``read_choices`` makes this very fact again."""
    fact = built.fact
    payload: Choice | Twin = fact.payload
    if isinstance(payload, Choice):
        row = _row(fact.id, payload, fact.stratum, fact.language)
        return {**row, "corrects": fact.corrects.hex()} if fact.corrects else row
    twin = {
        "closed_question": payload.closed_question,
        "options": list(payload.options),
        "answer_letter": LETTERS[payload.gold],
        "origin": payload.origin.hex() if payload.origin else "",
        "made": payload.made,
    }
    row = made_row(fact.id, payload, fact.language, fact.stratum, fact.corrects)
    return {**row, **{name: value for name, value in twin.items() if value}}


def write_closed_item(loaded: LoadedItem) -> dict[str, Any]:
    """The row of an item that is asked over options, in the order that it shows."""
    item, closed = loaded.item, closed_of(loaded)
    if closed is None:
        raise ValueError("the item is asked openly")
    return {**_row(item.id, closed, item.stratum, item.language), "number": item.number}


def _row(identity: bytes, closed: Closed, stratum: Stratum, language: str) -> dict[str, Any]:
    categories = {"primary_category": stratum.discipline, "secondary_category": stratum.field}
    return {
        "id": identity.hex(),
        "question": closed.question,
        "options": list(closed.options),
        "answer": LETTERS[closed.gold],
        "answer_index": closed.gold,
        **{name: value for name, value in categories.items() if value},
        "language": language or UNDETERMINED,
    }
