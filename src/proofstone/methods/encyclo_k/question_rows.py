"""Questions made elsewhere from the rows of a file, checked whole, and the row of any item."""

from __future__ import annotations

import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import orjson

from proofstone.engines.ingest import UNDETERMINED, Fields, came, guess_language, read_json
from proofstone.errors import BadInput, Problem
from proofstone.methods.encyclo_k.payloads import ChoiceQuestion, ComposedQuestion, SingleStatement
from proofstone.methods.encyclo_k.rendering import as_choice, statement_as_choice
from proofstone.methods.encyclo_k.statement_drafts import read_stratum, write_stratum
from proofstone.ports import Row
from proofstone.records import Item, LoadedItem, item_id

__all__ = ["LETTERS", "read_items", "recognises", "write_item"]

LETTERS = string.ascii_uppercase
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
    has_options = not names.isdisjoint({"options", "choices"}) or {"A", "B"} <= names
    return ("question" in names and has_options) or "statement" in names


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
    statement = "" if fields.has("question") else fields.text("statement")
    question = statement or fields.required_text("question")
    options = _VERDICTS if statement else _options(fields)
    gold = _verdict(fields) if statement else _gold(fields, options) if options else None
    item = Item(
        kind="encyclo_k.choice",
        payload=ChoiceQuestion(question=question, options=options, gold=gold or 0),
        stratum=read_stratum(fields),
        number=fields.number("number") or 0,
        corrects=fields.identity("corrects"),
    )
    key = fields.key("id", "question_id", "uuid")
    return _Draft(fields.place, key, item, fields.language(), fields.is_sound, statement)


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
            content = _collapsed(question.question), frozenset(question.options)
            first = asked.setdefault(content, draft.place)
            if first != draft.place:
                repeats = f"repeats the question of {first} with the same options"
                problems.append(Problem(f"{draft.place}, field question", repeats))


# ---------------------------------------------------------------- options


def _options(fields: Fields) -> tuple[str, ...]:
    """The texts of the options, or nothing where they are not usable (and the problem noted)."""
    name, value = fields.find("options", "choices")
    if value is None:
        value = {letter: fields.values[letter] for letter in LETTERS if fields.has(letter)}
    elif isinstance(value, str):
        value = read_json(value)
    wrong = _wrong_letters(value) if isinstance(value, dict) else []
    if isinstance(value, dict):
        value = [value[letter] for letter in sorted(value)]
    if not isinstance(value, list):
        wrong = ["expected a list of texts, the JSON text of one, or columns A, B, C, ..."]
    else:
        wrong = wrong or _wrong_options(value)
    for what in wrong:
        fields.wrong(name, what)
    return () if wrong else tuple(_text(option) for option in value)


def _wrong_letters(options: dict[str, Any]) -> list[str]:
    """What is wrong with the letters of options, which go from A without a gap."""
    if sorted(options) == list(LETTERS[: len(options)]):
        return []
    return [f"expected letters from A without a gap, came {came(', '.join(options))}"]


def _wrong_options(options: list[Any]) -> list[str]:
    if not 2 <= len(options) <= len(LETTERS):
        return [f"expected 2 to {len(LETTERS)} options, came {len(options)}"]
    wrong = [
        f"option {place} is empty or no text"
        for place, option in enumerate(options, start=1)
        if not _text(option).strip()
    ]
    if not wrong and len({_collapsed(_text(option)) for option in options}) < len(options):
        wrong.append("two options are the same")
    return wrong


def _text(option: object) -> str:
    """An option's text; a number as JSON spells it; nothing for what is neither."""
    if isinstance(option, str):
        return option
    is_number = isinstance(option, int | float) and not isinstance(option, bool)
    return orjson.dumps(option).decode() if is_number else ""


def _collapsed(text: str) -> str:
    return " ".join(text.split())


# ---------------------------------------------------------------- the answer


def _gold(fields: Fields, options: tuple[str, ...]) -> int | None:
    """The place of the right option, or None where nothing or too much says it.

    ``answer`` may be a letter, a place from 0 or an option's text; where these differ,
    ``answer_letter`` or ``answer_index`` must say which is meant.
    """
    name, answer = fields.find("answer", "gold")
    exact = _exact(fields, options)
    if answer is None:
        if not fields.has("answer_index", "answer_letter"):
            fields.wrong(name, "is missing; give a letter, a place from 0, or the option's text")
        return exact
    readings = _readings(answer, options)
    if exact is not None and exact in readings:
        return exact
    if exact is not None:
        named = f"option {LETTERS[exact]}, which answer_index or answer_letter names"
        fields.wrong(name, f"{came(answer)} is not {named}")
    elif not readings:
        fields.wrong(name, f"{came(answer)} is no letter, place from 0 or text of its options")
    elif len(readings) > 1:
        meant = " or ".join(LETTERS[place] for place in sorted(readings))
        fields.wrong(name, f"{came(answer)} can mean option {meant}; say it in answer_letter")
    return min(readings, default=None)


def _exact(fields: Fields, options: tuple[str, ...]) -> int | None:
    """The place that ``answer_index`` or ``answer_letter`` gives."""
    index = fields.number("answer_index")
    letter = fields.text("answer_letter").strip().upper()
    places = []
    if index is not None:
        places.append(("answer_index", index))
    if letter:
        place = LETTERS.find(letter) if len(letter) == 1 else -1
        places.append(("answer_letter", place))
    for name, place in places:
        if not 0 <= place < len(options):
            fields.wrong(name, f"is none of the {len(options)} options")
            return None
    if len({place for _, place in places}) == 2:
        fields.wrong("answer_letter", "names another option than answer_index")
    return places[0][1] if places else None


def _readings(answer: object, options: tuple[str, ...]) -> set[int]:
    """All places that an answer can mean."""
    wanted = _collapsed(_text(answer))
    found = {place for place, option in enumerate(options) if _collapsed(option) == wanted}
    if len(wanted) == 1 and wanted.upper() in LETTERS:
        found.add(LETTERS.index(wanted.upper()))
    if wanted.isascii() and wanted.isdecimal():
        found.add(int(wanted))
    return {place for place in found if place < len(options)}


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
        "answer": LETTERS[choice.gold],
        "answer_index": choice.gold,
    }


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
