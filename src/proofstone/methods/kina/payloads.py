"""Define stored payloads: a question, a true or false statement, and the items that ask them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, get_args

from msgspec import Struct

from proofstone.choices.options import labels
from proofstone.files.fields import has_option_columns
from proofstone.method import ShownOptions
from proofstone.records.items import LoadedItem
from proofstone.texts.languages import is_chinese

# Who made a question; one that a model wrote is marked so for good.
Origin = Literal["", "people", "statement bank", "model"]


ORIGINS: tuple[Origin, ...] = get_args(Origin)


class OptionNote(Struct, frozen=True, gc=False):
    """Why an option is right or wrong, and the source of that with its page (Table 10)."""

    explanation: str = ""
    source: str = ""
    page: str = ""


class Question(Struct, frozen=True, gc=False, kw_only=True, tag="kina.question"):
    """A fact: a question with its options, exactly one of which is right (``answer_key``).

    A combination has ``statements``, and each option is a set of them: ``sets`` are their indexes,
    ascending. A standard question has no statements, and ``texts`` are its options. ``notes`` has
    one entry per option, or none. ``preprint`` says why a preprint is an accepted source.
    """

    stem: str
    answer_key: int
    statements: tuple[str, ...] = ()
    sets: tuple[tuple[int, ...], ...] = ()
    texts: tuple[str, ...] = ()
    notes: tuple[OptionNote, ...] = ()
    source: str = ""
    material: str = ""
    preprint: str = ""
    made_by: Origin = ""

    @property
    def kind(self) -> str:
        """``combination`` or ``standard``."""
        return "combination" if self.statements else "standard"

    @property
    def options(self) -> tuple[str, ...]:
        """The options as shown."""
        return tuple(map(option_text, self.sets)) if self.statements else self.texts


class Statement(Struct, frozen=True, gc=False, kw_only=True, tag="kina.statement"):
    """A fact: a true or false statement. Those of one ``group`` are never in one question."""

    text: str
    correct: bool
    group: str = ""
    note: OptionNote = OptionNote()


class Asked(Struct, frozen=True, gc=False, kw_only=True, tag="kina.asked"):
    """An item that asks its one fact; ``order`` are the places of the options as shown."""

    order: tuple[int, ...]


class Composed(Struct, frozen=True, gc=False, kw_only=True, tag="kina.composed"):
    """An item composed of its facts, which are statements; the options are sets of them."""

    sets: tuple[tuple[int, ...], ...]
    answer_key: int


# The stem of a composed question, which says what makes an option right.
_STEMS = (
    "Consider the numbered statements. Which option lists all the true ones, and no false one?",
    "请考察下列编号的陈述。哪个选项恰好列出了全部正确的陈述，且不含任何错误的陈述？",
)


STEMS_VERSION = 1  # incremented with every change of the stems


def option_text(places: tuple[int, ...]) -> str:
    """Return a combination as shown: ``option_text((0, 2)) == "1, 3"``."""
    return ", ".join(str(place + 1) for place in places)


def question_of(item: LoadedItem) -> Question:
    """Return the question that an item asks, its options in the order shown."""
    payload = item.item.payload
    if isinstance(payload, Composed):
        return _composed(item, payload)
    (fact,) = item.facts
    question: Question = fact.payload
    return reordered(question, payload.order)


def reordered(question: Question, order: tuple[int, ...]) -> Question:
    """Return a question with its options in this order of their places."""
    return Question(
        stem=question.stem,
        answer_key=order.index(question.answer_key),
        statements=question.statements,
        sets=tuple(question.sets[place] for place in order) if question.sets else (),
        texts=tuple(question.texts[place] for place in order) if question.texts else (),
        notes=tuple(question.notes[place] for place in order) if question.notes else (),
        source=question.source,
        material=question.material,
        preprint=question.preprint,
        made_by=question.made_by,
    )


def _composed(item: LoadedItem, payload: Composed) -> Question:
    statements: list[Statement] = [fact.payload for fact in item.facts]
    chinese = is_chinese(item.item.language)
    return Question(
        stem=_STEMS[chinese],
        answer_key=payload.answer_key,
        statements=tuple(each.text for each in statements),
        sets=payload.sets,
        notes=tuple(_note(statements, places, chinese=chinese) for places in payload.sets),
        source="; ".join(_distinct(each.note.source for each in statements)),
        made_by="statement bank",
    )


def _note(statements: list[Statement], places: tuple[int, ...], *, chinese: bool) -> OptionNote:
    """Return the note of a combination: what its statements are, and what it leaves out."""
    left_out = [
        place for place, each in enumerate(statements) if each.correct and place not in places
    ]
    told = [_judged(statements[place], place, chinese=chinese) for place in places]
    if left_out:
        told.append(f"{'遗漏' if chinese else 'It leaves out'} {option_text(tuple(left_out))}")
    shown = [statements[place].note for place in places]
    return OptionNote(
        explanation=("" if chinese else " ").join(
            _sentence(each, chinese=chinese) for each in told
        ),
        source="; ".join(_distinct(note.source for note in shown)),
        page=", ".join(_distinct(note.page for note in shown)),
    )


# A full stop at the end, also before a quotation mark or a parenthesis that closes.
_CLOSED = re.compile(r"[.!?。！？…][\"'”’)\]」』）]*$")


def _sentence(text: str, *, chinese: bool) -> str:
    return text if _CLOSED.search(text) else text + ("。" if chinese else ".")


def _judged(statement: Statement, place: int, *, chinese: bool) -> str:
    if chinese:
        verdict = f"陈述{place + 1}{'正确' if statement.correct else '错误'}"
    else:
        verdict = f"Statement {place + 1} is {'true' if statement.correct else 'false'}"
    reason = statement.note.explanation
    return f"{verdict}{'：' if chinese else ': '}{reason}" if reason else verdict


def _distinct(texts: Iterable[str]) -> list[str]:
    return [text for text in dict.fromkeys(texts) if text]


def letters_of(question: Question) -> str:
    """Return the letters of a question's options."""
    return labels(len(question.options))


def options_shown(item: LoadedItem) -> ShownOptions:
    """Return the options of a question, and the place of the right one."""
    question = question_of(item)
    return ShownOptions(question.options, (question.answer_key,))


# Files by their columns.


def recognises_facts(columns: Iterable[str]) -> bool:
    """Return True for columns of questions with a ``stem``, options and an answer."""
    names = set(columns)
    return {"stem", "answer"} <= names and has_option_columns(names)


def recognises(_columns: Iterable[str]) -> bool:
    """Return False: questions are imported as a bank, where rules screen them."""
    return False
