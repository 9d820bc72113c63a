"""What stands in a reviewer's sheet: a first page that says what to do, and a tab for each task.

Each row carries a hidden key (sheet, row, check digits), so that a sheet that was sorted, filtered
or shortened is read row by row. Texts are in the language in force.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from proofstone.engines.review.tasks import TASKS, Task
from proofstone.records import ReviewSheet, ReviewTask, SheetColumn, SheetTab, Workbook
from proofstone.wording import counted, noted, say, word

__all__ = ["TITLES", "Role", "SheetRow", "make_workbook", "row_key"]

Role = Literal["key", "number", "text", "because", "passage", "page", "source", "verdict", "new",
               "why"]  # fmt: skip

_LONGEST_PASSAGE = 8_000
_QUESTIONS: Mapping[ReviewTask, str] = MappingProxyType(
    {
        "format": noted("Your decision"),
        "truth": noted("Is it true?"),
        "reason": noted("Does the reason fit?"),
    }
)
_TABS: Mapping[ReviewTask, str] = MappingProxyType(
    {"format": noted("Statements"), "truth": noted("1 True or false"), "reason": noted("2 Reasons")}
)
# The heads by which a column is known again, in every language.
TITLES: Mapping[Role, tuple[str, ...]] = MappingProxyType(
    {
        "key": ("proofstone key",),
        "number": (noted("No."),),
        "text": (noted("Statement"),),
        "because": (noted("Why it is said to be false"),),
        "passage": (noted("Passage it was taken from"),),
        "page": (noted("Page"),),
        "source": (noted("Source"),),
        "verdict": tuple(_QUESTIONS.values()),
        "new": (noted("New wording"),),
        "why": (noted("Reason or remark"),),
    }
)
_WIDTHS: Mapping[Role, int] = MappingProxyType(
    {
        "key": 12, "number": 6, "text": 52, "because": 36, "passage": 60, "page": 12, "source": 18,
        "verdict": 18, "new": 44, "why": 36,
    }
)  # fmt: skip
_ANSWERS: frozenset[Role] = frozenset({"verdict", "new", "why"})
_OPTIONAL: tuple[Role, ...] = ("because", "passage", "page", "source")


class SheetRow(Struct, frozen=True, kw_only=True):
    """What is shown of one fact or item; empty where there is nothing to show."""

    text: str
    because: str = ""
    passage: str = ""
    page: str = ""
    source: str = ""


def row_key(sheet: ReviewSheet, position: int) -> str:
    """The key of a row: 16 digits of its sheet, its place from 1, and 8 check digits over what it
    asks about, so that a key that was typed or cut is not taken for another row's."""
    place = sheet.places[position]
    content = b"|".join((sheet.id, str(position).encode(), place.task.encode(), place.target))
    return f"{sheet.id.hex()[:16]}-{position + 1}-{sha256(content).hexdigest()[:8]}"


def make_workbook(
    sheet: ReviewSheet, rows: Sequence[SheetRow], *, name: str, reviewer: str
) -> Workbook:
    """The workbook of a sheet whose places show ``rows``; ``name`` is the bank's or form's."""
    tasks = list(dict.fromkeys(place.task for place in sheet.places))
    return Workbook(
        about_name=say("What to do"),
        about=tuple(_about(sheet, tasks, name, reviewer)),
        tabs=tuple(_tab(sheet, rows, TASKS[task]) for task in tasks),
    )


def _tab(sheet: ReviewSheet, rows: Sequence[SheetRow], task: Task) -> SheetTab:
    places = [n for n, place in enumerate(sheet.places) if place.task == task.name]
    shown = [role for role in _OPTIONAL if any(_fact_text(rows[n], role, task) for n in places)]
    roles: list[Role] = ["key", "number", "text", *shown, "verdict"]
    roles += ["new", "why"] if task.needs_text else ["why"]
    return SheetTab(
        name=word(_TABS[task.name]),
        columns=tuple(_column(role, task) for role in roles),
        rows=[
            [_cell(sheet, rows, n, number, role, task) for role in roles]
            for number, n in enumerate(places, start=1)
        ],
    )


def _column(role: Role, task: Task) -> SheetColumn:
    is_verdict = role == "verdict"
    title = TITLES[role][0] if not is_verdict else _QUESTIONS[task.name]
    choices = tuple(word(text) for text in task.verdicts.values()) if is_verdict else ()
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
    return _fact_text(rows[n], role, task)


def _fact_text(row: SheetRow, role: Role, task: Task) -> str:
    """What a row shows in a column that not all sheets have; the reason only where it is asked
    about, since it says that the statement is meant to be false."""
    if role == "passage":
        cut = row.passage[:_LONGEST_PASSAGE]
        return cut if cut == row.passage else f"{cut} [...]"
    if role == "because":
        return row.because if task.name == "reason" else ""
    return {"page": row.page, "source": row.source}.get(role, "")


def _about(
    sheet: ReviewSheet, tasks: Sequence[ReviewTask], name: str, reviewer: str
) -> Iterator[str]:
    n = len({place.target for place in sheet.places})
    yield say("Review of {name}", name=name)
    yield say("For {reviewer}: {statements}, round {round}.", reviewer=reviewer,
              statements=counted(n, "statement"), round=sheet.round)  # fmt: skip
    yield ""
    for task in tasks:
        yield from _TASK_LINES[task]()
        yield ""
    yield say("Fill in the yellow columns only. Empty rows count as not looked at; you can send "
              "the file back half done, and again when there is more.")  # fmt: skip
    yield say("Decide by yourself: please do not talk about single statements with the others "
              "before all files are back.")  # fmt: skip
    yield say("You may filter and hide rows; to sort or delete some, take the protection off first "
              "(it has no password). Leave the grey columns as they are: what should read "
              "otherwise goes into a yellow one.")  # fmt: skip
    yield say("Save it as .xlsx or .ods, under any name, and send it back.")


def _about_format() -> Iterator[str]:
    labels = [word(text) for text in TASKS["format"].verdicts.values()]
    yield say("Of each statement decide whether it can be used as it stands. You need not know the "
              "subject: look at how it is written, not at whether it is true.")  # fmt: skip
    yield say("{keep}: it can be understood without its book, is one complete sentence or "
              "paragraph, and has no misprint that changes it.", keep=labels[0])  # fmt: skip
    yield say("{fix}: a small change makes it so. Write the whole statement anew under New "
              "wording, without changing what it says.", fix=labels[1])  # fmt: skip
    yield say("{drop}: it points at a figure, a chapter or a formula that is not there, has no "
              "clear meaning, or is no statement of knowledge. Say why.",
              drop=labels[2])  # fmt: skip


def _about_truth() -> Iterator[str]:
    yield say("Of each statement say whether it is true. Some were made false on purpose; you are "
              "not told which. Look up what you do not know, and say so if you cannot tell."
              )  # fmt: skip


def _about_reason() -> Iterator[str]:
    yield say("The second sheet holds statements that are meant to be false, each with the reason. "
              "Fill in the first sheet before you look at it. Say whether the reason states what "
              "is wrong.")  # fmt: skip


_TASK_LINES = MappingProxyType(
    {"format": _about_format, "truth": _about_truth, "reason": _about_reason}
)
