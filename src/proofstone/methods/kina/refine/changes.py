"""Apply a model's changes to a question: only changed fields, explanations in step.

The rules are those of section E.7, refinement: a changed option needs its explanation changed or
confirmed, and a new fact needs a new source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct, field, structs

from proofstone.methods.kina.payloads import OptionNote, Question, letters_of
from proofstone.methods.kina.refine.versions import STRATEGIES, Issue


class Changes(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changed fields: statements by number from 1, options and explanations by letter."""

    stem: str = ""
    statements: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    answer: str = ""
    explanations: dict[str, str] = field(default_factory=dict)


class Revision(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An author's response."""

    changes: Changes
    confirmed: tuple[str, ...]
    strategies: tuple[str, ...]
    new_fact: bool
    new_sources: tuple[str, ...]


def revision_fault(question: Question, revision: Revision, issues: tuple[Issue, ...]) -> str:
    """Return what is wrong with a revision, all of it; empty if nothing is."""
    return "; ".join(_faults(question, revision, issues))


def _faults(question: Question, revision: Revision, issues: tuple[Issue, ...]) -> Iterator[str]:
    changes, letters = revision.changes, letters_of(question)
    numbers = {str(number) for number in range(1, len(question.statements) + 1)}
    named = {*changes.options, *changes.explanations, *revision.confirmed}
    named |= {changes.answer} - {""}
    unknown = sorted(named - {*letters}) + sorted({*changes.statements} - numbers)
    if unknown:
        yield f"no such option or statement: {', '.join(unknown)}"
        return
    wanted = {STRATEGIES[issue.type] for issue in issues}
    if not revision.strategies or not {*revision.strategies} <= wanted:
        yield f"strategies must be of {', '.join(sorted(wanted))}"
    if changes == Changes():
        yield "nothing is changed"
    unread = [letter for letter in changes.options if _places(question, changes, letter) is None]
    if unread:
        yield f"options that do not name statements: {', '.join(unread)}"
        return
    if any(not text.strip() for text in (*changes.statements.values(), *changes.options.values())):
        yield "a text is empty"
    same = list(_unchanged(question, changes))
    if same:
        yield f"returned without a change: {', '.join(same)}"
    if len({*applied(question, revision).options}) < len(letters):
        yield "two options are identical"
    silent = [
        letter
        for letter in _touched(question, changes)
        if letter not in changes.explanations and letter not in revision.confirmed
    ]
    if question.notes and silent:
        yield f"explanations neither changed nor confirmed: {', '.join(silent)}"
    new = [source for source in revision.new_sources if source.strip()]
    if revision.new_fact and not any(source not in question.source for source in new):
        yield "a new fact without a new source"


def _touched(question: Question, changes: Changes) -> list[str]:
    """Return the letters whose option, statements or correctness change."""
    letters = letters_of(question)
    changed = {int(number) - 1 for number in changes.statements}
    found = {*changes.options}
    found |= {
        letter
        for letter, places in zip(letters, question.sets, strict=False)
        if changed & {*places}
    }
    if changes.answer and changes.answer != letters[question.answer_key]:
        found |= {changes.answer, letters[question.answer_key]}
    return sorted(found)


def _unchanged(question: Question, changes: Changes) -> Iterator[str]:
    letters = letters_of(question)
    if changes.stem and changes.stem == question.stem:
        yield "stem"
    if changes.answer == letters[question.answer_key]:
        yield "answer"
    for number, text in changes.statements.items():
        if text == question.statements[int(number) - 1]:
            yield f"statement {number}"
    for letter, text in changes.options.items():
        if text == question.options[letters.index(letter)]:
            yield f"option {letter}"
    for letter, text in changes.explanations.items():
        if question.notes and text == question.notes[letters.index(letter)].explanation:
            yield f"explanation {letter}"


def _places(question: Question, changes: Changes, letter: str) -> tuple[int, ...] | None:
    """Return the statements of a changed combination; () for a standard question, None if it is
    none.
    """
    if not question.statements:
        return ()
    text = changes.options[letter]
    if not re.fullmatch(r"\s*\d+(?:\s*,\s*\d+)*\s*", text):
        return None
    places = sorted({int(number) - 1 for number in text.split(",")})
    return tuple(places) if places[0] >= 0 and places[-1] < len(question.statements) else None


def applied(question: Question, revision: Revision) -> Question:
    """Return the question with its changes, which have no fault but identical options."""
    changes, letters = revision.changes, letters_of(question)
    sets, texts = list(question.sets), list(question.texts)
    for letter, text in changes.options.items():
        if question.statements:
            sets[letters.index(letter)] = _places(question, changes, letter) or ()
        else:
            texts[letters.index(letter)] = text
    statements = [
        changes.statements.get(str(number), text)
        for number, text in enumerate(question.statements, 1)
    ]
    notes = list(question.notes or [OptionNote()] * len(letters))
    for letter, text in changes.explanations.items():
        place = letters.index(letter)
        notes[place] = structs.replace(notes[place], explanation=text)
    has_notes = bool(question.notes or changes.explanations)
    new = [each for each in revision.new_sources if each.strip() and each not in question.source]
    return structs.replace(
        question,
        stem=changes.stem or question.stem,
        statements=tuple(statements),
        sets=tuple(sets),
        texts=tuple(texts),
        notes=tuple(notes) if has_notes else (),
        answer_key=letters.index(changes.answer) if changes.answer else question.answer_key,
        source="; ".join(filter(None, [question.source, *new])),
    )
