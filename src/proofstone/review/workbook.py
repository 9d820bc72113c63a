"""Build review spreadsheets: an instruction page, and a tab for each task.

Each row has a hidden key (spreadsheet, row, check digits), so that a sorted, filtered or shortened
file can be read by row. Texts are in the current language.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from proofstone.records.reviews import QUESTIONS, ReviewSheet, ReviewTask
from proofstone.records.tables import SheetColumn, SheetTab, Workbook
from proofstone.wording.messages import counted, noted, say, word

# Tasks for reviewers, and their closed labels.
#
# ``format`` is Encyclo-K's review (appendix C): is a statement self-contained and well formed?
# ``truth``: is a statement true, without its intended truth? ``reason``: does the reason of a false
# statement fit? The paper's check of 200 had both: all 200 were false, and the reasons of five did
# not fit. ``wording``: is a proposed wording true, by a second reviewer, since it may have made a
# false statement true?
#
# ``answer`` is Chinese SimpleQA's (3.3): is a question fit, and what is its answer by independent
# search? ``third``: the same, by somebody who sees the answers. ``same``: are people's and the
# model's answer the same?


class Task(Struct, frozen=True, kw_only=True):
    """Define a question to reviewers.

    ``verdicts`` gives each label its words. ``needs_reason`` and ``needs_text`` are labels that
    require one. ``undecided`` is the label without an opinion. ``needs_answer`` labels require an
    answer with at least ``n_pages`` pages.
    """

    name: ReviewTask
    verdicts: Mapping[str, str]
    needs_reason: frozenset[str] = frozenset()
    needs_text: frozenset[str] = frozenset()
    undecided: str = ""
    needs_answer: frozenset[str] = frozenset()
    n_pages: int = 0


_TRUTH = {
    "true": noted("it is true"),
    "false": noted("it is false"),
    "unsure": noted("Not sure"),
}


_FIT = {"answered": noted("it is fit"), "unfit": noted("it is not fit")}


TASKS: Mapping[ReviewTask, Task] = MappingProxyType(
    {
        "format": Task(
            name="format",
            verdicts={"keep": noted("keep it"), "fix": noted("fix it"), "drop": noted("drop it")},
            needs_reason=frozenset({"drop"}),
            needs_text=frozenset({"fix"}),
        ),
        "wording": Task(name="wording", verdicts=_TRUTH, undecided="unsure"),
        "truth": Task(name="truth", verdicts=_TRUTH, undecided="unsure"),
        "reason": Task(
            name="reason",
            verdicts={
                "fits": noted("the reason fits"),
                "misses": noted("it does not fit"),
                "unsure": noted("Not sure"),
            },
            undecided="unsure",
        ),
        "answer": Task(
            name="answer",
            verdicts=_FIT,
            needs_reason=frozenset({"unfit"}),
            needs_answer=frozenset({"answered"}),
            n_pages=2,
        ),
        # If an existing answer is adopted, its pages suffice; otherwise they are checked.
        "third": Task(
            name="third",
            verdicts=_FIT,
            needs_reason=frozenset({"unfit"}),
            needs_answer=frozenset({"answered"}),
        ),
        "same": Task(
            name="same",
            verdicts={"same": noted("the same answer"), "differs": noted("another answer")},
        ),
    }
)


# The tab of each in a spreadsheet.
TABS: Mapping[ReviewTask, str] = MappingProxyType(
    {
        "format": noted("Statements"),
        "wording": noted("Changed statements"),
        "truth": noted("1 True or false"),
        "reason": noted("2 Reasons"),
        "answer": noted("Questions"),
        "third": noted("Different answers"),
        "same": noted("The model's answer"),
    }
)


# Instructions of each task; those for private documents differ.
_TASK_LINES: Mapping[ReviewTask, Sequence[str]] = {
    "format": (
        noted(
            "For each statement, decide whether it can be used unchanged. You need not know the "
            "subject: look at how it is written, not at whether it is true."
        ),
        noted(
            "{keep}: it is self-contained (clear without its book), is one complete sentence or "
            "paragraph, and has no misprint that changes it."
        ),
        noted(
            "{fix}: a small change makes it so. Write the whole statement under New wording, "
            "without changing what it says."
        ),
        noted(
            "{drop}: it refers to a missing figure, chapter or formula, has no clear meaning, "
            "or is not a statement of knowledge. Say why."
        ),
    ),
    "wording": (
        noted("{tab}: another reviewer proposed a new wording for each of these statements. Say "
              "whether the new wording is true. Look up what you do not know."),
    ),
    "truth": (
        noted(
            "For each statement, say whether it is true. Some are intentionally false and not "
            "marked. Look up what you do not know. If you remain unsure, state that."
        ),
    ),
    "reason": (
        noted(
            "The second sheet has statements that are intended to be false, each with the "
            "reason. Complete the first sheet before you look at it. Say whether the reason "
            "states what is wrong."
        ),
    ),
    "answer": (
        noted("{tab}: for each question, decide whether it is fit, and answer it."),
        noted(
            "{unfit}: it has no single correct answer, or one that changes with time; it is "
            "unclear; or no reliable page answers it. Say which."
        ),
        noted(
            "{fit}: search the web yourself, and write the answer alone, as short as possible. "
            "Give at least two supporting pages, full addresses with https://, one of them an "
            "encyclopedia, a public body or another reliable source."
        ),
    ),
    "third": (
        noted(
            "{tab}: people answered these differently, each with the pages listed. Look at "
            "these, search for more, and write the correct answer. Copy one of theirs, or give "
            "a new one with at least two pages."
        ),
    ),
    "same": (
        noted(
            "{tab}: say whether the two are the same answer. They are if no expert would call "
            "one correct and the other incorrect. A part of an answer, or one with additions, "
            "is a different answer."
        ),
    ),
}  # fmt: skip


_PRIVATE_LINES: Mapping[ReviewTask, Sequence[str]] = {
    "answer": (
        noted(
            "{tab}: for each question, decide whether it is fit, and answer it from the passage "
            "in its row."
        ),
        noted("The documents are private. Do not enter these questions into a search engine or "
              "a chatbot."),
        noted(
            "{unfit}: the passage does not answer it, it has several correct answers, it is "
            "unclear, or its answer changes and the question names no date. Say which."
        ),
        noted("{fit}: write the answer alone, as short as it can be. Knowledge that only your "
              "organization has is fit."),
    ),
    "third": (
        noted(
            "{tab}: people answered these differently. Read the passage, and write the correct "
            "answer: copy one of theirs, or give a new one."
        ),
    ),
}  # fmt: skip


def what_to_do(
    sheet: ReviewSheet,
    tasks: Sequence[ReviewTask],
    name: str,
    reviewer: str,
    false_share: float = 0.0,
) -> Iterator[str]:
    """Return the instructions of a spreadsheet with these tasks.

    ``false_share`` is the share of false statements in the format review.
    """
    is_asked = not QUESTIONS.isdisjoint(tasks)
    n = len({place.target for place in sheet.places})
    noun = "question" if is_asked else "statement"
    yield say("Review of {name}", name=name)
    yield say("For {reviewer}: {statements}, round {round}.", reviewer=reviewer,
              statements=counted(n, noun), round=sheet.round)  # fmt: skip
    yield ""
    for task in tasks:
        yield from _lines_of(task, private=is_private(sheet))
        if task == "format" and false_share:
            yield from _about_false(false_share)
        yield ""
    yield say(
        "Fill in the yellow columns only. Empty rows count as not reviewed; you can send back "
        "an incomplete file, and send it again later."
    )  # fmt: skip
    if is_asked:
        yield say(
            "Decide independently: please do not discuss single questions with the others, and "
            "do not use a chatbot."
        )  # fmt: skip
    else:
        yield say(
            "Decide independently: please do not discuss single statements with the others "
            "before all files are back."
        )  # fmt: skip
    yield say(
        "You may filter and hide rows; to sort or delete some, remove the protection first (it "
        "has no password). Leave the gray columns unchanged: corrections go into a yellow one."
    )  # fmt: skip
    yield say("Save it as .xlsx or .ods, under any name, and send it back.")


def _lines_of(task: ReviewTask, *, private: bool) -> Iterator[str]:
    """Return the instructions of a task."""
    labels = {**TASKS["format"].verdicts, "fit": _FIT["answered"], "unfit": _FIT["unfit"]}
    named = {name: word(text) for name, text in {**labels, "tab": TABS[task]}.items()}
    lines = (_PRIVATE_LINES if private else {}).get(task, _TASK_LINES[task])
    yield from (say(line, **named) for line in lines)


def _about_false(share: float) -> Iterator[str]:
    if share == 1.0:
        yield say("All of these statements are intentionally false. Leave them false.")
    elif abs(share - 0.5) < 0.1:
        yield say(
            "About half of these statements are intentionally false, and not marked. Leave them "
            "false."
        )  # fmt: skip
    else:
        yield say((
            "About {percent}% of these statements are intentionally false, and not marked. "
            "Leave them false."
        ),
                  percent=min(max(round(share * 10), 1), 9) * 10)  # fmt: skip
    yield say("{fix} is for language only. Do not correct what a statement claims. For each new "
              "wording, say whether it is true; a second reviewer checks it.",
              fix=word(TASKS["format"].verdicts["fix"]))  # fmt: skip


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


# Headings that identify a column, in every language.
TITLES: Mapping[Role, tuple[str, ...]] = MappingProxyType(
    {
        "key": ("proofstone key",),
        "number": (noted("No."),),
        "text": (noted("Statement"), noted("Question")),
        "reworded": (noted("Wording that a reviewer proposed"),),
        "because": (noted("Reason why it is false"),),
        "passage": (noted("Source passage"),),
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
    """Hold the columns of one fact or item; empty if not shown.

    ``found`` is people's answer to a question, ``model`` the model's. ``reworded`` is a reviewer's
    proposed wording, for a check. ``valid_at`` is the date to which a question refers.
    """

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
    """Return True if questions are answered from private documents only."""
    return sheet.recipe.get("documents") == "private"


def row_key(sheet: ReviewSheet, position: int) -> str:
    """Return the key of a row: 16 digits of its spreadsheet, its place from 1, and 8 check digits.

    The check digits cover the row's content, so that a mistyped or truncated key is not mistaken
    for another row's.
    """
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
    """Build the workbook of a spreadsheet whose places show ``rows``.

    ``name`` is the bank's or form's, ``false_share`` the share of false statements to review.
    """
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
    """Return a row's text in an optional column.

    The reason is shown only if it is reviewed, since it reveals a false statement. Passages are
    shown to people who answer for private documents only, others' answers to a third person, and
    the model's answer for comparisons.
    """
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
