"""Render questions as prompts and for display; read and write question rows.

Alternative column names are separated by a bar; other columns are ignored. A missing column, null
and an empty text are equivalent. Columns without a stated type are text.

Columns, one question per row:

- ``question``; ``options`` | ``choices`` (a list of 2 to 26 texts, the JSON text of one, or an
  object by letter) or columns A, B, C, ...
- ``answer`` | ``answer_key``: a letter, a place counted from 0, or an option's text, if it is
  unambiguous; ``answer_letter`` and ``answer_index`` (from 0) are exact.
- Instead of both, ``statement`` and an ``answer`` of true or false: one statement for a verdict.
- ``id`` | ``question_id`` | ``uuid``, unique in the file; ``language`` (detected for all such rows
  together) and the levels of the taxonomy as above; ``number`` and ``corrects`` as in an export.

The export of a composed question adds columns that ``read_items`` ignores: ``asked`` (correct,
incorrect), ``template`` and ``wording`` (their numbers). It also adds ``statements``,
``statements_correct`` and ``statement_ids`` in the order shown. A single statement is exported as
``statement`` and ``answer``, with its ``reason`` and ``statement_id``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Literal, TypeAlias

from proofstone.choices import likelihood
from proofstone.choices.answer_format import read_answer_format
from proofstone.choices.options import labels, option_text, roman
from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.files.fields import (
    LETTERS,
    QUESTION_COLUMNS,
    Fields,
    QuestionDraft,
    RowOptions,
    check_repeats,
    collapsed,
    has_option_columns,
    read_answer_key,
    read_answer_keys,
    read_options,
    read_questions,
)
from proofstone.method import check_prompt_method
from proofstone.methods.encyclo_k.compose import is_composed, is_of_statements
from proofstone.methods.encyclo_k.payloads import (
    ChoiceQuestion,
    ComposedQuestion,
    SingleStatement,
    Statement,
    judging,
    phrasing,
)
from proofstone.methods.encyclo_k.statements import read_stratum, write_stratum
from proofstone.records.ids import short
from proofstone.records.items import Item, ItemSet, LoadedItem, identified_item
from proofstone.records.knowledge import Fact
from proofstone.records.tables import Row
from proofstone.texts.languages import UNDETERMINED

# The task of an item under a prompting method: options to choose from, or verdicts.
#
# The paper has three settings: a question's options (``choice``), a single statement
# (``statement``), and each statement of a question (``verdicts``). Prompting methods combine direct
# or step-by-step prompting with options or verdicts.

Task: TypeAlias = Literal["choice", "statement", "verdicts"]


STEP = "answer"


PUBLISHED = "as-published"  # the request of the paper's appendix A.3


VERDICTS = "verdicts"  # the step that asks for several verdicts; the scorer identifies them by it


PROMPT_METHODS = {
    "direct": "the answer only, without reasoning",
    "cot": "chain of thought, then the answer",
    "as-published": (
        "the paper's request, reworded: analyze each statement and option, then the answer line"
    ),
    "verdicts": "true or false for each statement of a question, without reasoning",
    "verdicts-cot": "chain of thought, then true or false for each statement of a question",
    **likelihood.PROMPT_METHODS,
}


_OF_VERDICTS = frozenset({"verdicts", "verdicts-cot"})


def is_stepwise(prompt_method: str) -> bool:
    """Return True if a prompting method asks for reasoning before the answer."""
    return prompt_method in {"cot", PUBLISHED, "verdicts-cot"}


def last_step(prompt_method: str) -> str:
    """Return the step whose response is scored."""
    if prompt_method in likelihood.VARIANTS:
        return likelihood.STEP
    return VERDICTS if prompt_method in _OF_VERDICTS else STEP


def task_of(item: Item, prompt_method: str) -> Task:
    """Return the task of an item under a prompting method."""
    if isinstance(item.payload, SingleStatement):
        return "statement"
    return "verdicts" if prompt_method in _OF_VERDICTS else "choice"


def task_of_set(item_set: ItemSet, prompt_method: str) -> Task:
    """Return the task of all items of a set.

    Raises BadUsage for a prompting method that does not fit them.
    """
    check_prompt_method(prompt_method, PROMPT_METHODS)
    if is_of_statements(item_set.recipe):
        if prompt_method in _OF_VERDICTS:
            raise BadUsage(
                f"{item_set.name} holds single statements; {prompt_method} is a prompting method "
                "for composed questions",
                hint="use direct or cot; each statement then gets its verdict from a call",
            )
        if prompt_method == PUBLISHED:
            raise BadUsage(
                f"{item_set.name} holds single statements; the paper has no prompt for them",
                hint="ask direct or cot",
            )
        if prompt_method == likelihood.LETTER:
            raise BadUsage(
                f"{item_set.name} holds single statements: {prompt_method} needs options "
                f"with letters",
                hint="--prompt-method direct, or option-likelihood on a completions endpoint",
            )
        return "statement"
    if prompt_method in _OF_VERDICTS and not is_composed(item_set):
        raise BadUsage(
            f"{item_set.name} was imported; the statements of its questions, and so the correct "
            "verdicts, are unknown",
            hint=f"{prompt_method} needs a form built from a bank: proofstone build form BANK",
        )
    return "verdicts" if prompt_method in _OF_VERDICTS else "choice"


RENDERING = 1  # incremented with every change of a rendered text; part of the prompt hash


def letters(item: LoadedItem) -> str:
    """Return the letters of an item's options: ``"ABCD"``."""
    return labels(len(item.item.payload.options))


def key_letter(item: LoadedItem) -> str:
    """Return the letter of the correct option, or of all correct ones: ``"A, C"``."""
    payload: ComposedQuestion | ChoiceQuestion = item.item.payload
    if isinstance(payload, ChoiceQuestion):
        return ", ".join(letters(item)[place] for place in payload.answer_keys)
    return letters(item)[payload.answer_key]


def asks_for_all(item: LoadedItem) -> bool:
    """Return True if several options are correct and all must be named."""
    payload = item.item.payload
    return isinstance(payload, ChoiceQuestion) and bool(payload.also)


def option_texts(item: LoadedItem) -> tuple[str, ...]:
    """Return the text of each option, without its letter."""
    payload: ComposedQuestion | ChoiceQuestion = item.item.payload
    if isinstance(payload, ChoiceQuestion):
        return payload.options
    return tuple(map(option_text, payload.options))


def render(item: LoadedItem, task: Task = "choice") -> str:
    """Return the question with its statements, and any options, in the item's language."""
    if task != "choice":
        return stem(item, task)
    heading = phrasing(item.item.language).options
    options = zip(letters(item), option_texts(item), strict=True)
    lines = [stem(item), "", heading, *[f"{letter}) {text}" for letter, text in options]]
    return "\n".join(lines)


def stem(item: LoadedItem, task: Task = "choice") -> str:
    """Return the question with its statements and without options."""
    payload: ComposedQuestion | ChoiceQuestion = item.item.payload
    if isinstance(payload, ChoiceQuestion):
        return payload.question
    if task == "statement":
        return f"{sentence(item, task)}\n\n{item.facts[0].payload.text}"
    return "\n".join([sentence(item, task), "", *_numbered(item.facts)])


def sentence(item: LoadedItem, task: Task = "choice") -> str:
    """Return the question sentence without statements; for an imported question, its full text."""
    payload: ComposedQuestion | ChoiceQuestion = item.item.payload
    if isinstance(payload, ChoiceQuestion):
        return payload.question
    if task == "choice":
        return _asked(item, payload)
    words = judging(item.item.language)
    return words.statement if task == "statement" else words.each


def as_choice(item: LoadedItem) -> ChoiceQuestion:
    """Return a composed question as a self-contained multiple-choice question."""
    payload: ComposedQuestion | ChoiceQuestion = item.item.payload
    if isinstance(payload, ChoiceQuestion):
        return payload
    return ChoiceQuestion(
        question=stem(item), options=option_texts(item), answer_key=payload.answer_key
    )


def statement_as_choice(text: str, language: str, *, correct: bool) -> ChoiceQuestion:
    """Return a single statement as a self-contained question with its two verdicts as options."""
    words = judging(language)
    return ChoiceQuestion(
        question=f"{words.statement}\n\n{text}",
        options=(words.true, words.false),
        answer_key=0 if correct else 1,
    )


def query(item: LoadedItem) -> str:
    """Return the search query: the statements, or an imported question's text and options."""
    payload: ComposedQuestion | ChoiceQuestion = item.item.payload
    if isinstance(payload, ChoiceQuestion):
        return "\n".join([payload.question, *payload.options])
    return "\n".join(fact.payload.text for fact in item.facts)


def show(item: LoadedItem) -> str:
    """Show the item with its correct option marked, and the truth and reason of each statement."""
    if isinstance(item.item.payload, SingleStatement):
        return "\n".join([_heading(item), "", *_shown_statement("", item.facts[0])])
    return "\n".join([_heading(item), "", *_shown_question(item), "", *_marked_options(item)])


def _asked(item: LoadedItem, payload: ComposedQuestion) -> str:
    phrases = phrasing(item.item.language)
    return phrases.ask(payload.template, payload.wording, correct=payload.asks_correct)


def _numbered(facts: Sequence[Fact]) -> list[str]:
    return [f"{roman(count)}. {fact.payload.text}" for count, fact in enumerate(facts, start=1)]


def _heading(item: LoadedItem) -> str:
    stratum = item.item.stratum
    path = [stratum.discipline, stratum.field, stratum.subfield, stratum.book]
    place = " / ".join(filter(None, path))
    number = f"number {item.item.number}" if item.facts or item.item.number else ""
    parts = [f"item {short(item.item.id)}", number, place, item.item.language]
    return "  ".join(filter(None, parts))


def _shown_question(item: LoadedItem) -> list[str]:
    payload: ComposedQuestion | ChoiceQuestion = item.item.payload
    if isinstance(payload, ChoiceQuestion):
        return [payload.question]
    lines = [_asked(item, payload), ""]
    for count, fact in enumerate(item.facts, start=1):
        lines += _shown_statement(f"{roman(count)}. ", fact)
    return lines


def _shown_statement(numeral: str, fact: Fact) -> list[str]:
    """Show a statement with its truth, and the reason if it is false."""
    lines = [f"  {'true ' if fact.payload.correct else 'false'}  {numeral}{fact.payload.text}"]
    if not fact.payload.correct and fact.payload.reason:
        lines.append(f"         because: {fact.payload.reason}")
    return lines


def _marked_options(item: LoadedItem) -> list[str]:
    answer_key = key_letter(item)
    return [
        f"{'->' if letter in answer_key else '  '} {letter}) {text}"
        for letter, text in zip(letters(item), option_texts(item), strict=True)
    ]


# Imported questions from the rows of a file, checked whole, and the row of any item.

_VERDICTS: tuple[str, ...] = ("true", "false")


def recognises(columns: Iterable[str]) -> bool:
    """Return True if the columns are those of multiple-choice questions or true/false
    statements."""
    names = set(columns)
    asks = not names.isdisjoint(QUESTION_COLUMNS)
    return (asks and has_option_columns(names)) or "statement" in names


def read_items(rows: Iterable[Row]) -> Sequence[Item]:
    """Read questions in row order. Raises BadInput with every problem of all rows."""
    return [_item(draft) for draft in read_questions(rows, _draft, _check)]


def _draft(fields: Fields) -> QuestionDraft:
    """Parse a question row; a statement becomes a question once its language is known."""
    statement = "" if fields.has(*QUESTION_COLUMNS) else fields.text("statement")
    question = statement or fields.required_text(*QUESTION_COLUMNS)
    options = RowOptions(_VERDICTS) if statement else read_options(fields)
    answer_key = _answer_key(fields, options, is_statement=bool(statement))
    payload = ChoiceQuestion(
        question=question,
        options=options.texts,
        answer_key=answer_key[0] if answer_key else 0,
        also=answer_key[1:],
        answer_format=_answer_format(fields),
    )
    return QuestionDraft(
        place=fields.place,
        question=question,
        payload=Statement(text=statement, correct=answer_key == (0,)) if statement else payload,
        stratum=read_stratum(fields),
        number=fields.number("number") or 0,
        corrects=fields.identity("corrects"),
        key=fields.key("id", "question_id", "uuid"),
        language=fields.language(),
        is_sound=fields.is_sound,
    )


def _check(drafts: Sequence[QuestionDraft], problems: list[Problem]) -> None:
    def content(draft: QuestionDraft) -> Hashable:
        asked: ChoiceQuestion | Statement = draft.payload
        options = _VERDICTS if isinstance(asked, Statement) else asked.options
        return (collapsed(draft.question), frozenset(options)) if draft.is_sound else None

    check_repeats(drafts, problems, content, " with the same options")


def _item(draft: QuestionDraft) -> Item:
    payload, language = draft.payload, draft.language or ""
    if isinstance(payload, Statement):
        payload = statement_as_choice(payload.text, language, correct=payload.correct)
    return identified_item(
        Item(
            kind="encyclo_k.choice",
            payload=payload,
            language=language,
            stratum=draft.stratum,
            number=draft.number,
            corrects=draft.corrects,
        )
    )


def _answer_key(fields: Fields, options: RowOptions, *, is_statement: bool) -> tuple[int, ...]:
    """Return the places of the correct options; empty if the row lacks them, which is recorded."""
    if is_statement:
        place = _verdict(fields)
    else:
        several = read_answer_keys(fields, options) if options.texts else ()
        if several:
            return several
        place = read_answer_key(fields, options) if options.texts else None
    return () if place is None else (place,)


def _answer_format(fields: Fields) -> str:
    """Return the answer format of the row's question; empty if not given."""
    stated = fields.text("answer_format").strip()
    if stated:
        try:
            read_answer_format(stated)
        except BadInput as error:
            fields.wrong("answer_format", error.message)
    return stated


def _verdict(fields: Fields) -> int | None:
    """Return 0 if the row's statement is true, 1 if false; None without a verdict."""
    correct = fields.truth("answer", "correct")
    if correct is None and not fields.has("answer", "correct"):
        fields.wrong("answer", "is missing; expected true or false")
    return None if correct is None else int(not correct)


# ------------------------------------------------------------------ write


def write_item(loaded: LoadedItem) -> dict[str, Any]:
    """Return the row of an item with its texts; ``read_items`` reads back an equivalent question.

    The row of a composed or single-statement item also has its statements.
    """
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
    """Return a question, its options and its answer key."""
    choice = as_choice(loaded)
    return {
        "question": choice.question,
        "options": list(choice.options),
        **_answer(choice),
        **({"answer_format": choice.answer_format} if choice.answer_format else {}),
    }


def _answer(choice: ChoiceQuestion) -> dict[str, Any]:
    """Return the correct option, or all correct ones."""
    if not choice.also:
        return {"answer": LETTERS[choice.answer_key], "answer_index": choice.answer_key}
    return {"answer": ", ".join(LETTERS[place] for place in choice.answer_keys)}


def _verdict_row(loaded: LoadedItem) -> dict[str, Any]:
    """Return a single statement and its truth, and the reason if it is false."""
    (fact,) = loaded.facts
    return {
        "statement": fact.payload.text,
        "answer": _VERDICTS[0] if fact.payload.correct else _VERDICTS[1],
        "reason": fact.payload.reason,
        "statement_id": fact.id.hex(),
    }


def _composition(loaded: LoadedItem) -> dict[str, Any]:
    """Return the statements of a composed question in the order shown."""
    payload: ComposedQuestion = loaded.item.payload
    return {
        "asked": "correct" if payload.asks_correct else "incorrect",
        "template": payload.template,
        "wording": payload.wording,
        "statements": [fact.payload.text for fact in loaded.facts],
        "statements_correct": [fact.payload.correct for fact in loaded.facts],
        "statement_ids": [fact.id.hex() for fact in loaded.facts],
    }
