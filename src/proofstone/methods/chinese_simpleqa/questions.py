"""Read questions from the rows of a file, and write them: short questions, choices, and twins.

The rows of one file are of one kind: if any has options, all have. Alternative column names are
separated by a bar; other columns are ignored. A missing column, null and an empty text are
equivalent.

- ``question`` | ``problem`` | ``query`` and ``answer`` | ``reference`` | ``answer_key`` are
  required; an answer may be a whole number.
- ``aliases`` | ``answer_aliases``: equivalent answers, as a list, the JSON text of one, or
  comma-separated.
- ``primary_category`` | ``category`` | ``topic`` and ``secondary_category`` | ``subcategory`` |
  ``subtopic``: in none of the rows, or in all.
- ``answer_type``: ``date``, ``number``, ``person``, ``place``, ``organisation`` or ``other``.
- ``tolerance``: accepted deviation of a number, if the question states one.
- ``language``: a code such as en or zh, ``und`` for none; detected for all rows without one.
- ``urls``: supporting pages, as a list.
- ``valid_at``: the date at which the supporting document is valid.
- ``id``, unique in the file; ``number`` and ``corrects`` as in an export.

A choice is a row of a multiple-choice set: ``question``, options and an answer, in any format that
``files/fields`` reads. Its categories may also be ``discipline``, and ``subject`` | ``field``.
``language``, ``id`` and ``corrects`` are as above.

A twin is a row of a short question with additional columns. ``closed_question`` is the question for
``options``, and ``answer_letter`` the correct one. ``origin`` is its source fact, and ``made`` is
converted or generated.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, get_args

from msgspec import UNSET, structs

from proofstone.errors import BadInput, Problem
from proofstone.files.fields import (
    ANSWER_COLUMNS,
    LETTERS,
    QUESTION_COLUMNS,
    Fields,
    QuestionDraft,
    came,
    check_repeats,
    collapsed,
    has_option_columns,
    read_answer_key,
    read_letter,
    read_options,
    read_questions,
)
from proofstone.methods.chinese_simpleqa.payloads import (
    ANSWER_TYPES,
    AnswerType,
    Choice,
    Closed,
    Pair,
    ShortAnswer,
    ShortQuestion,
    Twin,
    TwinMade,
    asked_of,
    closed_of,
)
from proofstone.methods.chinese_simpleqa.sameness import plain_answer
from proofstone.records.items import Item, LoadedItem, identified_item
from proofstone.records.knowledge import BuiltFact, Fact, Stratum, fact_id
from proofstone.records.tables import Row
from proofstone.texts.languages import UNDETERMINED, guess_language

QUESTION = ("question", "problem", "query")


ANSWER = ("answer", "reference", "gold", "answer_key")


_PRIMARY = ("primary_category", "category", "topic")


_SECONDARY = ("secondary_category", "subcategory", "subtopic")


# Columns of multiple-choice questions.
_CHOICES = frozenset({"options", "choices", "A", "B", "statement"})


# Columns of questions that rest on a document, which are not of this method.
_ON_DOCUMENTS = frozenset({"document", "document_id", "paper", "paper_title"})


def recognises(columns: Iterable[str]) -> bool:
    """Return True if the columns are those of short questions: question and answer, no options."""
    names = set(columns)
    return not names.isdisjoint(QUESTION) and not names.isdisjoint(ANSWER) and not names & _CHOICES


def recognises_facts(columns: Iterable[str]) -> bool:
    """Return True if the columns are those of facts: short or multiple-choice questions."""
    names = set(columns)
    if "evidence" in names and names & _ON_DOCUMENTS:
        return False
    if recognises(names):
        return True
    is_asked = not names.isdisjoint(QUESTION_COLUMNS)
    has_answer = not names.isdisjoint((*ANSWER_COLUMNS, "answer_letter", "answer_index"))
    return is_asked and has_answer and has_option_columns(names)


def read_items(rows: Iterable[Row]) -> Sequence[Item]:
    """Read short questions in row order.

    Raises BadInput with every problem of all rows, and for multiple-choice questions, which are run
    from a bank.
    """
    listed = list(rows)
    if any(has_option_columns(row.values) for row in listed):
        raise BadInput(
            "these questions have options; short questions have none",
            hint=(
                "run the file directly: proofstone run FILE; or import it as a bank, whose "
                "forms can be open or multiple-choice: proofstone import FILE --as bank"
            ),
        )
    return [_item(draft) for draft in read_questions(listed, _short_draft, _check_short)]


def read_facts(rows: Iterable[Row]) -> Sequence[BuiltFact]:
    """Read the facts of a file. Raises BadInput with every problem of all rows."""
    listed = list(rows)
    if any(has_option_columns(row.values) for row in listed):
        return [_fact(draft) for draft in read_questions(listed, _closed_draft, _check_closed)]
    return [_fact(draft) for draft in read_questions(listed, _short_draft, _check_short)]


def read_pairs(rows: Iterable[Row]) -> Sequence[tuple[Item, str]]:
    """Read questions like ``read_items``, each with the text of its column ``passage``, or "".

    Raises BadInput with every problem of all rows, and for multiple-choice questions.
    """
    listed: list[Row] = []
    for row in rows:
        if has_option_columns(row.values):
            raise BadInput(
                f"{row.place} has options; expected a question and its answer",
                hint="convert them to open questions: --from-choices",
            )
        listed.append(row)
    passages = [Fields(row, []).text("passage").strip() for row in listed]
    return list(zip(read_items(listed), passages, strict=True))


def read_question(fields: Fields) -> Item:
    """Parse the question of one row, detecting a missing language; problems are recorded in
    ``fields``.
    """
    draft = _short_draft(fields)
    if draft.language is None:
        draft.language = guess_language([draft.question])
    return _item(draft)


# ---------------------------------------------------------------- one row


def _short_draft(fields: Fields) -> QuestionDraft:
    """Parse the short question of one row; problems are recorded in ``fields``."""
    question = fields.required_text(*QUESTION)
    answer = _answer(fields)
    asked = ShortQuestion(
        question=question,
        answer=answer,
        aliases=_aliases(fields, answer),
        answer_type=_answer_type(fields),
        tolerance=_tolerance(fields),
        urls=tuple(url for url in fields.texts("urls") if url.strip()),
        valid_at=fields.label("valid_at").strip() or UNSET,
    )
    stratum = Stratum(
        discipline=fields.label(*_PRIMARY).strip(), field=fields.label(*_SECONDARY).strip()
    )
    return QuestionDraft(
        place=fields.place,
        key=fields.key("id"),
        question=question,
        payload=asked,
        stratum=stratum,
        language=fields.language(),
        number=fields.number("number") or 0,
        corrects=fields.identity("corrects"),
        is_sound=fields.is_sound,
    )


def _closed_draft(fields: Fields) -> QuestionDraft:
    """Parse the choice or the twin of one row."""
    if fields.has("closed_question"):
        draft = _short_draft(fields)
        options = read_options(fields)
        answer_key = read_letter(fields, options) if options.texts else None
        draft.payload = Twin(
            **structs.asdict(draft.payload),
            closed_question=fields.required_text("closed_question"),
            options=options.texts,
            answer_key=answer_key or 0,
            origin=fields.identity("origin"),
            made=_made(fields),
        )
        draft.question = draft.payload.closed_question
        draft.is_sound = fields.is_sound
        return draft
    question = fields.required_text(*QUESTION_COLUMNS)
    options = read_options(fields)
    answer_key = read_answer_key(fields, options) if options.texts else None
    stratum = Stratum(
        discipline=fields.label(*_PRIMARY, "discipline").strip(),
        field=fields.label(*_SECONDARY, "subject", "field").strip(),
    )
    return QuestionDraft(
        place=fields.place,
        key=fields.key("id", "question_id", "uuid"),
        question=question,
        payload=Choice(question=question, options=options.texts, answer_key=answer_key or 0),
        stratum=stratum,
        language=fields.language(),
        corrects=fields.identity("corrects"),
        is_sound=fields.is_sound,
    )


def _answer(fields: Fields) -> str:
    answer = fields.label(*ANSWER)
    if not answer.strip() and fields.is_sound:
        fields.wrong(fields.find(*ANSWER)[0], "is missing or empty; expected an answer")
    elif answer.strip() and not plain_answer(answer):
        fields.wrong(fields.find(*ANSWER)[0], f"{came(answer)} has only punctuation")
    return answer


def _aliases(fields: Fields, answer: str) -> tuple[str, ...]:
    """Return the distinct aliases, without those equal to the answer."""
    found: dict[str, str] = {}
    for alias in fields.texts("aliases", "answer_aliases"):
        plain = plain_answer(alias)
        if not plain:
            fields.wrong("aliases", f"{came(alias)} is not an answer")
        found.setdefault(plain, alias)
    found.pop(plain_answer(answer), None)
    return tuple(found.values())


def _answer_type(fields: Fields) -> AnswerType:
    text = fields.text("answer_type").strip().lower()
    for known in ANSWER_TYPES:
        if text == known:
            return known
    listed = ", ".join(filter(None, ANSWER_TYPES))
    fields.wrong("answer_type", f"expected one of {listed}, got {came(text)}")
    return ""


def _tolerance(fields: Fields) -> float:
    value = fields.find("tolerance")[1]
    if value is None:
        return 0.0
    try:
        number = float(value) if isinstance(value, str | int | float) else math.nan
    except ValueError:
        number = math.nan
    if not 0.0 <= number < math.inf or isinstance(value, bool):
        fields.wrong("tolerance", f"expected a number of 0 or more, got {came(value)}")
        return 0.0
    return number


def _made(fields: Fields) -> TwinMade:
    text = fields.text("made").strip().lower()
    for known in get_args(TwinMade):
        if text == known:
            made: TwinMade = known
            return made
    fields.wrong("made", f"expected converted or generated, got {came(text)}")
    return ""


# -------------------------------------------------------------------- checks across rows


def _check_short(drafts: Sequence[QuestionDraft], problems: list[Problem]) -> None:
    _check_categories(drafts, problems)
    check_repeats(drafts, problems, lambda draft: plain_answer(draft.question))
    _check_aliases([draft for draft in drafts if draft.is_sound], problems)


def _check_closed(drafts: Sequence[QuestionDraft], problems: list[Problem]) -> None:
    def content(draft: QuestionDraft) -> Hashable:
        options = frozenset(draft.payload.options)
        return (collapsed(draft.question), options) if draft.is_sound else None

    _check_categories(drafts, problems)
    check_repeats(drafts, problems, content, " with the same options")


def _check_categories(drafts: Sequence[QuestionDraft], problems: list[Problem]) -> None:
    """Check that all rows have a category if some have one."""
    for level, name in (("discipline", _PRIMARY[0]), ("field", _SECONDARY[0])):
        empty = [draft for draft in drafts if not getattr(draft.stratum, level)]
        if len(empty) < len(drafts):
            what = "is empty, but other questions of the file have one"
            problems += [Problem(f"{draft.place}, field {name}", what) for draft in empty]


def _check_aliases(drafts: Sequence[QuestionDraft], problems: list[Problem]) -> None:
    """Check that equivalent answers are symmetric across questions.

    If an alias is the answer of another question, that question must accept this one's answer.
    Otherwise the alias is in the wrong row, or one of the two is too strict.
    """
    taken: dict[str, list[tuple[QuestionDraft, set[str]]]] = {}
    for draft in drafts:
        plain = {plain_answer(text) for text in draft.payload.answers}
        taken.setdefault(plain_answer(draft.payload.answer), []).append((draft, plain))
    for draft in drafts:
        asked: ShortQuestion = draft.payload
        own = plain_answer(asked.answer)
        for alias in asked.aliases:
            others = [o for o, plain in taken.get(plain_answer(alias), ()) if own not in plain]
            problems += [
                Problem(
                    f"{draft.place}, field aliases",
                    f"{came(alias)} is the answer of {other.place}, which does not accept "
                    f"{came(asked.answer)}: remove it here, or add that alias there",
                )
                for other in others[:1]
            ]


# ----------------------------------------------------------------- build and write


def _item(draft: QuestionDraft) -> Item:
    return identified_item(
        Item(
            kind="chinese_simpleqa.question",
            payload=draft.payload,
            language=draft.language or "",
            stratum=draft.stratum,
            number=draft.number,
            corrects=draft.corrects,
        )
    )


def _fact(draft: QuestionDraft) -> BuiltFact:
    payload = draft.payload
    if isinstance(payload, ShortQuestion):
        payload = Pair(**structs.asdict(payload))
    fact = Fact(
        kind=str(type(payload).__struct_config__.tag),
        payload=payload,
        language=draft.language or "",
        stratum=draft.stratum,
        corrects=draft.corrects,
    )
    return BuiltFact(structs.replace(fact, id=fact_id(fact)))


def write_item(loaded: LoadedItem) -> dict[str, Any]:
    """Return the row of an item with its texts, multiple-choice items in the usual format."""
    closed = closed_of(loaded)
    if closed is not None:
        return {**_closed_row(loaded.item, closed), "number": loaded.item.number}
    return {**_short_row(loaded.item, asked_of(loaded)), "number": loaded.item.number}


def write_fact(built: BuiltFact, _facts: Mapping[bytes, Fact]) -> dict[str, Any]:
    """Return the row of a fact; ``read_facts`` reads it back unchanged."""
    fact = built.fact
    payload: Pair | Choice | Twin = fact.payload
    if isinstance(payload, Choice):
        row = _closed_row(fact, payload)
        return {**row, "corrects": fact.corrects.hex()} if fact.corrects else row
    row = _short_row(fact, payload)
    if isinstance(payload, Pair):
        return row
    twin = {
        "closed_question": payload.closed_question,
        "options": list(payload.options),
        "answer_letter": LETTERS[payload.answer_key],
        "origin": payload.origin.hex() if payload.origin else "",
        "made": payload.made,
    }
    return {**row, **{name: value for name, value in twin.items() if value}}


def _short_row(of: Item | Fact, asked: ShortAnswer) -> dict[str, Any]:
    """Return the row of a question, with the column names that are read."""
    optional = {
        "aliases": list(asked.aliases),
        "primary_category": of.stratum.discipline,
        "secondary_category": of.stratum.field,
        "answer_type": asked.answer_type,
        "tolerance": asked.tolerance,
        "urls": list(asked.urls),
        "valid_at": asked.validity,
        "corrects": of.corrects.hex() if of.corrects else "",
    }
    return {
        "id": of.id.hex(),
        "question": asked.question,
        "answer": asked.answer,
        **{name: value for name, value in optional.items() if value},
        "language": of.language or UNDETERMINED,
    }


def _closed_row(of: Item | Fact, closed: Closed) -> dict[str, Any]:
    categories = {"primary_category": of.stratum.discipline, "secondary_category": of.stratum.field}
    return {
        "id": of.id.hex(),
        "question": closed.question,
        "options": list(closed.options),
        "answer": LETTERS[closed.answer_key],
        "answer_index": closed.answer_key,
        **{name: value for name, value in categories.items() if value},
        "language": of.language or UNDETERMINED,
    }
