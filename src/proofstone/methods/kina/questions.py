"""Read questions and statements from the rows of a file, and write them.

Alternative column names are separated by a bar. A missing column, null and an empty text are
equivalent. A row with ``stem`` | ``question`` is a question, one with ``statement`` | ``text`` a
statement.

- ``options``: texts, in any format that ``files/fields`` reads, and ``answer``: a letter, an index
  or an option's text. Options of a combination are numbers of statements: ``"1, 3"``.
- ``statements``: a list of texts; or the numbered lines that end the stem.
- ``explanations``, ``sources``, ``pages``: a list with one text per option, or an object by letter.
- ``question_source``, ``material``, ``preprint`` (why a preprint is accepted), ``made_by``.
- ``discipline``, ``field``, ``subfield``: names of the taxonomy, in any case; ``book``.
- of a statement: ``correct``, ``group``, ``explanation`` | ``reason``,
  ``source`` | ``source_title`` | ``book``, ``page``.
- ``language``, ``id``, ``corrects``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import structs

from proofstone.errors import BadInput, Problem
from proofstone.files.fields import (
    LETTERS,
    Fields,
    QuestionDraft,
    came,
    check_repeats,
    collapsed,
    read_answer_key,
    read_json,
    read_options,
    read_questions,
)
from proofstone.ingest.taxonomy import Located, find_taxonomy, locate
from proofstone.methods.kina.payloads import (
    ORIGINS,
    OptionNote,
    Origin,
    Question,
    Statement,
    question_of,
)
from proofstone.records.items import Item, LoadedItem
from proofstone.records.knowledge import BuiltFact, Fact, Stratum, Taxonomy, fact_id
from proofstone.records.tables import Row
from proofstone.texts.languages import UNDETERMINED

STEM = ("stem", "question", "Question", "question_content")


STATEMENT = ("statement", "text")


_LEVELS = ("discipline", "field", "subfield", "book")


_BY_OPTION = {"explanations": "explanation", "sources": "source", "pages": "page"}


# A combination as written: numbers of statements, with or without brackets and words between.
_COMBINATION = re.compile(r"[\[({]?\s*\d{1,2}(?:\s*(?:[,，、;；和]|and)\s*\d{1,2})*\s*[\])}]?")


_NUMBERED = re.compile(r"^[ \t]*\(?(\d{1,2})[.)、．)][ \t]*", re.MULTILINE)


def read_items(_rows: Iterable[Row]) -> Sequence[Item]:
    """Raise BadInput: questions are imported as a bank."""
    raise BadInput(
        "kina's questions are read as a bank, so that rules can screen them",
        hint="proofstone import FILE --as bank --method kina",
    )


# The taxonomy of 261 subfields (appendix D).


def kina_taxonomy() -> Taxonomy:
    """Return the 12 disciplines, 70 fields and 261 subfields with their published item counts."""
    return find_taxonomy("kina")


@cache
def place_in_taxonomy(stratum: Stratum) -> Located:
    """Return the place of a question in the taxonomy, or what name is unknown there."""
    return locate(kina_taxonomy(), stratum)


# Rows to facts.


def read_facts(rows: Iterable[Row]) -> Sequence[BuiltFact]:
    """Read questions and statements. Raises BadInput with every problem of all rows."""
    return [_fact(draft) for draft in read_questions(rows, _draft, _check)]


def _draft(fields: Fields) -> QuestionDraft:
    is_statement = not fields.has(*STEM) and fields.has(*STATEMENT)
    payload = _statement(fields) if is_statement else _question(fields)
    stated = Stratum(**{level: fields.label(level).strip() for level in _LEVELS})
    return QuestionDraft(
        place=fields.place,
        key=fields.key("id", "uuid", "question_id"),
        question=_words(payload),
        payload=payload,
        stratum=place_in_taxonomy(stated).stratum,
        language=fields.language(),
        corrects=fields.identity("corrects"),
        is_sound=fields.is_sound,
    )


def _words(payload: Question | Statement) -> str:
    if isinstance(payload, Statement):
        return payload.text
    return "\n".join([payload.stem, *payload.statements])


def _statement(fields: Fields) -> Statement:
    correct = fields.truth("correct")
    if correct is None and fields.is_sound:
        fields.wrong("correct", "is missing; expected true or false")
    return Statement(
        text=fields.required_text(*STATEMENT),
        correct=bool(correct),
        group=_group(fields),
        note=OptionNote(
            explanation=fields.text("explanation", "reason"),
            source=fields.text("source", "source_title", "book"),
            page=fields.label("page"),
        ),
    )


def _group(fields: Fields) -> str:
    """Return what a statement shares with its falsifications: its id, or that of its origin."""
    if "group" in fields.values:
        return fields.key("group")
    return fields.key("origin", "id")


def _question(fields: Fields) -> Question:
    stem, statements = _stem(fields)
    options = read_options(fields)
    right = read_answer_key(fields, options) if options.texts else None
    sets = _sets(fields, options.texts, len(statements)) if statements else ()
    return Question(
        stem=stem,
        answer_key=right or 0,
        statements=statements,
        sets=sets,
        texts=() if statements else options.texts,
        notes=_notes(fields, len(options.texts)),
        source=fields.text("question_source"),
        material=fields.text("material", "question_material"),
        preprint=fields.text("preprint"),
        made_by=_origin(fields),
    )


def _stem(fields: Fields) -> tuple[str, tuple[str, ...]]:
    """Return the stem and the statements; without their column the numbered lines that end it."""
    text = fields.required_text(*STEM)
    if fields.has("statements") or _is_standard(fields):
        return text, fields.texts("statements")
    marks = list(_NUMBERED.finditer(text))
    if [int(mark[1]) for mark in marks] != list(range(1, len(marks) + 1)):
        marks = []
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    parts = [text[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=False)]
    return (text[: marks[0].start()].strip(), tuple(parts)) if marks else (text, ())


def _is_standard(fields: Fields) -> bool:
    """Return True unless every option is a combination of numbers."""
    columns = [fields.values.get("options"), *(fields.values.get(each) for each in LETTERS)]
    value = read_json(columns[0]) if isinstance(columns[0], str) else columns[0]
    found = value if value is not None else [each for each in columns[1:] if each not in (None, "")]
    texts = list(found.values()) if isinstance(found, dict) else found
    return not (
        isinstance(texts, list)
        and all(isinstance(each, str) and _COMBINATION.fullmatch(each.strip()) for each in texts)
    )


def _sets(fields: Fields, texts: Sequence[str], n: int) -> tuple[tuple[int, ...], ...]:
    """Return each option as indexes of statements; adds a problem for each that is none."""
    found: list[tuple[int, ...]] = []
    for letter, text in zip(LETTERS, texts, strict=False):
        said = text.strip()
        numbers = [int(each) for each in re.findall(r"\d+", said)]
        if not _COMBINATION.fullmatch(said):
            fields.wrong(
                "options",
                f"option {letter}: expected numbers of statements such as 1, 3, got {came(said)}",
            )
        elif not all(1 <= number <= n for number in numbers):
            fields.wrong("options", f"option {letter}: {came(said)} is not among {n} statements")
        elif len(set(numbers)) < len(numbers):
            fields.wrong("options", f"option {letter}: {came(said)} names a statement twice")
        else:
            found.append(tuple(sorted(number - 1 for number in numbers)))
    if len(set(found)) < len(found):
        fields.wrong("options", "two options are the same set of statements")
    return tuple(found)


def _notes(fields: Fields, n: int) -> tuple[OptionNote, ...]:
    given = {name: _of_options(fields, column, n) for column, name in _BY_OPTION.items()}
    notes = [
        OptionNote(**{name: texts[place] for name, texts in given.items()}) for place in range(n)
    ]
    return tuple(notes) if any(note != OptionNote() for note in notes) else ()


def _of_options(fields: Fields, column: str, n: int) -> list[str]:
    """Return one text per option, from a list or an object by letter; empty where missing."""
    value = fields.values.get(column)
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        value = read_json(value)
    if value is None or value == "":
        return [""] * n
    if isinstance(value, Mapping):
        unknown = sorted(set(map(str, value)) - set(LETTERS[:n]))
        if unknown:
            fields.wrong(column, f"{', '.join(unknown)}: not among the {n} options")
        value = [value.get(letter) for letter in LETTERS[:n]]
    if not isinstance(value, list) or len(value) != n:
        fields.wrong(column, f"expected {n} texts, one per option, or an object by letter")
        return [""] * n
    return ["" if each is None else str(each) for each in value]


def _origin(fields: Fields) -> Origin:
    said = fields.text("made_by").strip().lower()
    for known in ORIGINS:
        if said == known:
            return known
    fields.wrong("made_by", f"expected one of {', '.join(filter(None, ORIGINS))}, got {came(said)}")
    return ""


def _check(drafts: Sequence[QuestionDraft], problems: list[Problem]) -> None:
    check_repeats(drafts, problems, lambda draft: _content(draft) if draft.is_sound else None)


def _content(draft: QuestionDraft) -> tuple[str, ...]:
    payload: Question | Statement = draft.payload
    options = payload.options if isinstance(payload, Question) else ()
    return (collapsed(draft.question), *options)


def _fact(draft: QuestionDraft) -> BuiltFact:
    payload: Question | Statement = draft.payload
    is_question = isinstance(payload, Question)
    fact = Fact(
        kind="kina.question" if is_question else "kina.statement",
        payload=payload,
        language=draft.language or "",
        stratum=draft.stratum,
        corrects=draft.corrects,
    )
    return BuiltFact(structs.replace(fact, id=fact_id(fact)))


# Facts and items to rows.


def write_fact(built: BuiltFact, _facts: Mapping[bytes, Fact]) -> dict[str, Any]:
    """Return the row of a question or statement; ``read_facts`` reads it back unchanged."""
    fact = built.fact
    payload: Question | Statement = fact.payload
    row = _question_row(payload) if isinstance(payload, Question) else _statement_row(payload)
    return {
        "id": fact.id.hex(),
        **row,
        **_stratum_row(fact.stratum),
        **({"corrects": fact.corrects.hex()} if fact.corrects else {}),
        "language": fact.language or UNDETERMINED,
    }


def write_item(item: LoadedItem) -> dict[str, Any]:
    """Return the row of an item with its texts, its options in the order shown."""
    return {
        "id": item.item.id.hex(),
        **_question_row(question_of(item)),
        **_stratum_row(item.item.stratum),
        "language": item.item.language or UNDETERMINED,
        "number": item.item.number,
    }


def _stratum_row(stratum: Stratum) -> dict[str, str]:
    return {level: name for level in _LEVELS if (name := getattr(stratum, level))}


def _question_row(question: Question) -> dict[str, Any]:
    optional: dict[str, Any] = {
        "statements": list(question.statements),
        **{
            column: [getattr(note, name) for note in question.notes]
            for column, name in _BY_OPTION.items()
        },
        "question_source": question.source,
        "material": question.material,
        "preprint": question.preprint,
        "made_by": question.made_by,
    }
    return {
        "stem": question.stem,
        "options": list(question.options),
        "answer_letter": LETTERS[question.answer_key],
        "answer": question.options[question.answer_key],
        "kind": question.kind,
        **{name: value for name, value in optional.items() if value},
    }


def _statement_row(statement: Statement) -> dict[str, Any]:
    optional = {
        "explanation": statement.note.explanation,
        "source": statement.note.source,
        "page": statement.note.page,
    }
    return {
        "statement": statement.text,
        "correct": statement.correct,
        "group": statement.group,
        **{name: value for name, value in optional.items() if value},
    }
