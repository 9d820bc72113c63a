"""What stands in a reviewer's sheet: a first page that says what to do, and a tab for each task.

Each row carries a hidden key (sheet, row, check digits), so that a sheet that was sorted, filtered
or shortened is read row by row. Texts are in the language in force.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from proofstone.engines.review.instructions import what_to_do
from proofstone.engines.review.tasks import QUESTIONS, TABS, TASKS, Task
from proofstone.records import ReviewSheet, ReviewTask, SheetColumn, SheetTab, Workbook
from proofstone.wording import noted, say, word

__all__ = ["TITLES", "Role", "SheetRow", "is_private", "make_workbook", "row_key"]

Role = Literal["key", "number", "text", "reworded", "because", "passage", "page", "source",
               "valid", "found", "model", "verdict", "new", "claim", "answer", "url", "url2",
               "urls", "why"]  # fmt: skip

_LONGEST_PASSAGE = 8_000
_QUESTIONS: Mapping[ReviewTask, str] = MappingProxyType(
    {
        "format": noted("Your decision"),
        "wording": noted("Is the new wording true?"),
        "truth": noted("Is it true?"),
        "reason": noted("Does the reason fit?"),
        "answer": noted("Is the question fit?"),
        "third": noted("Is the question fit?"),
        "same": noted("Is it the same answer?"),
    }
)
# The heads by which a column is known again, in every language.
TITLES: Mapping[Role, tuple[str, ...]] = MappingProxyType(
    {
        "key": ("proofstone key",),
        "number": (noted("No."),),
        "text": (noted("Statement"), noted("Question")),
        "reworded": (noted("Wording that a reader proposed"),),
        "because": (noted("Why it is said to be false"),),
        "passage": (noted("Passage it was taken from"),),
        "page": (noted("Page"),),
        "source": (noted("Source"),),
        "valid": (noted("Valid at"),),
        "found": (noted("What people found"),),
        "model": (noted("What the model said"),),
        "verdict": tuple(dict.fromkeys(_QUESTIONS.values())),
        "new": (noted("New wording"),),
        "claim": (noted("Truth of the new wording"),),
        "answer": (noted("Your answer"),),
        "url": (noted("First page (URL)"),),
        "url2": (noted("Second page (URL)"),),
        "urls": (noted("More pages (URLs)"),),
        "why": (noted("Reason or remark"),),
    }
)
_WIDTHS: Mapping[Role, int] = MappingProxyType(
    {
        "key": 12, "number": 6, "text": 52, "reworded": 52, "because": 36, "passage": 60,
        "page": 12, "source": 18, "valid": 12, "found": 48, "model": 32, "verdict": 18,
        "new": 44, "claim": 18, "answer": 28, "url": 32, "url2": 32, "urls": 24, "why": 36,
    }
)  # fmt: skip
_ANSWERS: frozenset[Role] = frozenset(
    {"verdict", "new", "claim", "answer", "url", "url2", "urls", "why"}
)
_OPTIONAL: tuple[Role, ...] = (
    "reworded", "because", "passage", "page", "source", "valid", "found", "model",
)  # fmt: skip


class SheetRow(Struct, frozen=True, kw_only=True):
    """What is shown of one fact or item; empty where there is nothing to show. ``found`` is what
    people answered a question with, ``model`` the answer that stands with it; ``reworded`` the
    wording that a reader proposed, which somebody else checks; ``valid_at`` the date for which a
    question is asked."""

    text: str
    reworded: str = ""
    because: str = ""
    passage: str = ""
    page: str = ""
    source: str = ""
    valid_at: str = ""
    found: str = ""
    model: str = ""


def is_private(sheet: ReviewSheet) -> bool:
    """Whether a sheet's questions are answered from private documents alone."""
    return sheet.recipe.get("documents") == "private"


def row_key(sheet: ReviewSheet, position: int) -> str:
    """The key of a row: 16 digits of its sheet, its place from 1, and 8 check digits over what it
    asks about, so that a key that was typed or cut is not taken for another row's."""
    place = sheet.places[position]
    content = b"|".join((sheet.id, str(position).encode(), place.task.encode(), place.target))
    return f"{sheet.id.hex()[:16]}-{position + 1}-{sha256(content).hexdigest()[:8]}"


def make_workbook(
    sheet: ReviewSheet,
    rows: Sequence[SheetRow],
    *,
    name: str,
    reviewer: str,
    false_share: float = 0,
) -> Workbook:
    """The workbook of a sheet whose places show ``rows``; ``name`` is the bank's or form's, and
    ``false_share`` how much of what is read was made false on purpose."""
    tasks = list(dict.fromkeys(place.task for place in sheet.places))
    return Workbook(
        about_name=say("What to do"),
        about=tuple(what_to_do(sheet, tasks, name, reviewer, false_share)),
        tabs=tuple(_tab(sheet, rows, TASKS[task]) for task in tasks),
    )


def _tab(sheet: ReviewSheet, rows: Sequence[SheetRow], task: Task) -> SheetTab:
    places = [n for n, place in enumerate(sheet.places) if place.task == task.name]
    private = is_private(sheet)
    shown = [
        role
        for role in _OPTIONAL
        if any(_fact_text(rows[n], role, task, private=private) for n in places)
    ]
    roles: list[Role] = ["key", "number", "text", *shown, "verdict"]
    if task.needs_answer:
        roles += ["answer"] if is_private(sheet) else ["answer", "url", "url2", "urls"]
    roles += ["new", "claim", "why"] if task.needs_text else ["why"]
    return SheetTab(
        name=word(TABS[task.name]),
        columns=tuple(_column(role, task) for role in roles),
        rows=[
            [_cell(sheet, rows, n, number, role, task) for role in roles]
            for number, n in enumerate(places, start=1)
        ],
    )


def _column(role: Role, task: Task) -> SheetColumn:
    is_verdict = role == "verdict"
    title = TITLES[role][0] if not is_verdict else _QUESTIONS[task.name]
    if role == "text" and task.name in QUESTIONS:
        title = TITLES[role][1]
    labels = {"verdict": task.verdicts, "claim": TASKS["wording"].verdicts}.get(role, {})
    choices = tuple(word(text) for text in labels.values())
    return SheetColumn(
        title=title if role == "key" else word(title),
        width=_WIDTHS[role],
        is_hidden=role == "key",
        is_answer=role in _ANSWERS,
        choices=choices,
        wrong=say("Choose one of: {choices}", choices=" / ".join(choices)) if choices else "",
    )


def _cell(
    sheet: ReviewSheet, rows: Sequence[SheetRow], n: int, number: int, role: Role, task: Task
) -> str:
    if role == "key":
        return row_key(sheet, n)
    if role == "number":
        return str(number)
    if role == "text":
        return rows[n].text
    return _fact_text(rows[n], role, task, private=is_private(sheet))


def _fact_text(row: SheetRow, role: Role, task: Task, *, private: bool) -> str:
    """What a row shows in a column that not all sheets have; the reason only where it is asked
    about, since it says that the statement is meant to be false. Who answers sees no passage but of
    private documents, a third what others found, and the model's answer only who compares."""
    if task.name in QUESTIONS and not (private and role in ("passage", "page", "source")):
        shown = {"found": row.found if task.name != "answer" else "",
                 "model": row.model if task.name == "same" else "",
                 "valid": row.valid_at}  # fmt: skip
        return shown.get(role, "")
    if role == "reworded":
        return row.reworded if task.name == "wording" else ""
    if role == "passage":
        cut = row.passage[:_LONGEST_PASSAGE]
        return cut if cut == row.passage else f"{cut} [...]"
    if role == "because":
        return row.because if task.name == "reason" else ""
    return {"page": row.page, "source": row.source}.get(role, "")
