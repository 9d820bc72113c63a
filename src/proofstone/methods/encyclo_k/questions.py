"""Questions made elsewhere from the rows of a file, checked whole, and the row of any item."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from proofstone.choices.answer_format import read_answer_format
from proofstone.errors import BadInput, Problem
from proofstone.files.fields import (
    LETTERS,
    QUESTION_COLUMNS,
    Fields,
    RowOptions,
    came,
    collapsed,
    has_option_columns,
    read_gold,
    read_golds,
    read_options,
)
from proofstone.methods.encyclo_k.payloads import ChoiceQuestion, ComposedQuestion, SingleStatement
from proofstone.methods.encyclo_k.question_text import as_choice, statement_as_choice
from proofstone.methods.encyclo_k.statements import read_stratum, write_stratum
from proofstone.records.items import Item, LoadedItem, item_id
from proofstone.records.tables import Row
from proofstone.texts.languages import UNDETERMINED, guess_language

_VERDICTS: tuple[str, ...] = ("true", "false")


@dataclass(slots=True, eq=False)
class _Draft:
    """A row's item; ``language`` None: to be guessed. That of a single ``statement`` is put as a
    question once its language is known."""

    place: str
    key: str
    item: Item
    language: str | None
    is_sound: bool
    statement: str = ""


def recognises(columns: Iterable[str]) -> bool:
    """Whether a file with these columns holds questions with options, or statements to judge."""
    names = set(columns)
    asks = not names.isdisjoint(QUESTION_COLUMNS)
    return (asks and has_option_columns(names)) or "statement" in names


def read_items(rows: Iterable[Row]) -> Sequence[Item]:
    """Questions in the order of their rows. The columns are listed in ``rows``.

    Raises BadInput with every problem of all rows.
    """
    problems: list[Problem] = []
    drafts = [_draft(Fields(row, problems)) for row in rows]
    _check_repeats(drafts, problems)
    if problems:
        raise BadInput("The questions cannot be read.", problems)
    guessed = _guess_language(drafts)
    return [_finished(draft, guessed) for draft in drafts]


def _draft(fields: Fields) -> _Draft:
    statement = "" if fields.has(*QUESTION_COLUMNS) else fields.text("statement")
    question = statement or fields.required_text(*QUESTION_COLUMNS)
    options = RowOptions(_VERDICTS) if statement else read_options(fields)
    gold = _gold(fields, options, is_statement=bool(statement))
    item = Item(
        kind="encyclo_k.choice",
        payload=ChoiceQuestion(
            question=question,
            options=options.texts,
            gold=gold[0] if gold else 0,
            also=gold[1:],
            answer_format=_answer_format(fields),
        ),
        stratum=read_stratum(fields),
        number=fields.number("number") or 0,
        corrects=fields.identity("corrects"),
    )
    key = fields.key("id", "question_id", "uuid")
    return _Draft(fields.place, key, item, fields.language(), fields.is_sound, statement)


def _gold(fields: Fields, options: RowOptions, *, is_statement: bool) -> tuple[int, ...]:
    """The places of the right options; none where the row does not say it, which is noted."""
    if is_statement:
        place = _verdict(fields)
    else:
        several = read_golds(fields, options) if options.texts else ()
        if several:
            return several
        place = read_gold(fields, options) if options.texts else None
    return () if place is None else (place,)


def _answer_format(fields: Fields) -> str:
    """How answers to the row's question look; empty where it does not say."""
    stated = fields.text("answer_format").strip()
    if stated:
        try:
            read_answer_format(stated)
        except BadInput as error:
            fields.wrong("answer_format", error.message)
    return stated


def _verdict(fields: Fields) -> int | None:
    """0 where the row says that its statement is true, 1 where false; None where neither."""
    correct = fields.truth("answer", "correct")
    if correct is None and not fields.has("answer", "correct"):
        fields.wrong("answer", "is missing; give true or false")
    return None if correct is None else int(not correct)


def _guess_language(drafts: Sequence[_Draft]) -> str:
    """The language of all rows without one, guessed from them together."""
    unknown = [draft.item.payload.question for draft in drafts if draft.language is None]
    return guess_language(unknown)


def _finished(draft: _Draft, guessed: str) -> Item:
    language = guessed if draft.language is None else draft.language
    item = msgspec.structs.replace(draft.item, language=language)
    if draft.statement:
        correct = item.payload.gold == 0
        payload = statement_as_choice(draft.statement, language, correct=correct)
        item = msgspec.structs.replace(item, payload=payload)
    return msgspec.structs.replace(item, id=item_id(item))


def _check_repeats(drafts: Sequence[_Draft], problems: list[Problem]) -> None:
    keys: dict[str, str] = {}
    asked: dict[tuple[str, frozenset[str]], str] = {}
    for draft in drafts:
        first = keys.setdefault(draft.key, draft.place) if draft.key else draft.place
        if first != draft.place:
            twice = f"{came(draft.key)} is already the id of {first}"
            problems.append(Problem(f"{draft.place}, field id", twice))
        if draft.is_sound:
            question: ChoiceQuestion = draft.item.payload
            content = collapsed(question.question), frozenset(question.options)
            first = asked.setdefault(content, draft.place)
            if first != draft.place:
                repeats = f"repeats the question of {first} with the same options"
                problems.append(Problem(f"{draft.place}, field question", repeats))


# ---------------------------------------------------------------- writing


def write_item(loaded: LoadedItem) -> dict[str, Any]:
    """The row of an item with its texts, from which ``read_items`` takes one that asks the same;
    that of one composed of statements, or about one, also says which they are."""
    item = loaded.item
    row: dict[str, Any] = {
        "id": item.id.hex(),
        **(_verdict_row(loaded) if isinstance(item.payload, SingleStatement) else _row(loaded)),
        "language": item.language or UNDETERMINED,
        **write_stratum(item.stratum),
        "number": item.number,
    }
    if item.corrects:
        row["corrects"] = item.corrects.hex()
    return row | (_composition(loaded) if isinstance(item.payload, ComposedQuestion) else {})


def _row(loaded: LoadedItem) -> dict[str, Any]:
    """A question, its options and which of them is right."""
    choice = as_choice(loaded)
    return {
        "question": choice.question,
        "options": list(choice.options),
        **_answer(choice),
        **({"answer_format": choice.answer_format} if choice.answer_format else {}),
    }


def _answer(choice: ChoiceQuestion) -> dict[str, Any]:
    """Which option is right, or all that are."""
    if not choice.also:
        return {"answer": LETTERS[choice.gold], "answer_index": choice.gold}
    return {"answer": ", ".join(LETTERS[place] for place in choice.golds)}


def _verdict_row(loaded: LoadedItem) -> dict[str, Any]:
    """A single statement and whether it is true; why not, where it is false."""
    (fact,) = loaded.facts
    return {
        "statement": fact.payload.text,
        "answer": _VERDICTS[0] if fact.payload.correct else _VERDICTS[1],
        "reason": fact.payload.reason,
        "statement_id": fact.id.hex(),
    }


def _composition(loaded: LoadedItem) -> dict[str, Any]:
    """What a composed question was made of, statement by statement in the order shown."""
    payload: ComposedQuestion = loaded.item.payload
    return {
        "asked": "correct" if payload.asks_correct else "incorrect",
        "template": payload.template,
        "wording": payload.wording,
        "statements": [fact.payload.text for fact in loaded.facts],
        "statements_correct": [fact.payload.correct for fact in loaded.facts],
        "statement_ids": [fact.id.hex() for fact in loaded.facts],
    }
