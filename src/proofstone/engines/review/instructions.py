"""What the first page of a reviewer's sheet says: what to look at, how to decide, what comes next.

Texts are in the language in force.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from proofstone.engines.review.tasks import QUESTIONS, TABS, TASKS
from proofstone.records import ReviewSheet, ReviewTask
from proofstone.wording import counted, say, word

__all__ = ["what_to_do"]


def what_to_do(
    sheet: ReviewSheet,
    tasks: Sequence[ReviewTask],
    name: str,
    reviewer: str,
    false_share: float = 0.0,
) -> Iterator[str]:
    """The lines of a sheet's first page, for the tasks that it holds; ``false_share`` of the
    statements that are read for their format were made false on purpose."""
    is_asked = not QUESTIONS.isdisjoint(tasks)
    n = len({place.target for place in sheet.places})
    noun = "question" if is_asked else "statement"
    yield say("Review of {name}", name=name)
    yield say("For {reviewer}: {statements}, round {round}.", reviewer=reviewer,
              statements=counted(n, noun), round=sheet.round)  # fmt: skip
    yield ""
    for task in tasks:
        private = sheet.recipe.get("documents") == "private"
        yield from (_PRIVATE_LINES if private else {}).get(task, _TASK_LINES[task])()
        if task == "format" and false_share:
            yield from _about_false(false_share)
        yield ""
    yield say("Fill in the yellow columns only. Empty rows count as not looked at; you can send "
              "the file back half done, and again when there is more.")  # fmt: skip
    if is_asked:
        yield say("Decide by yourself: please do not talk about single questions with the others, "
                  "and ask no chatbot.")  # fmt: skip
    else:
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


def _about_false(share: float) -> Iterator[str]:
    if share == 1.0:
        yield say("All of these statements are false on purpose. Leave them false.")
    elif abs(share - 0.5) < 0.1:
        yield say("About half of these statements are false on purpose; the sheet does not say "
                  "which. Leave them false.")  # fmt: skip
    else:
        yield say("About {percent}% of these statements are false on purpose; the sheet does not "
                  "say which. Leave them false.",
                  percent=min(max(round(share * 10), 1), 9) * 10)  # fmt: skip
    labels = [word(text) for text in TASKS["format"].verdicts.values()]
    yield say("{fix} is for language only. Do not correct what a statement claims. For each new "
              "wording, say whether it is true; a second reviewer checks it.",
              fix=labels[1])  # fmt: skip


def _about_wording() -> Iterator[str]:
    yield say("{tab}: another reviewer proposed a new wording for each of these statements. Say "
              "whether the new wording is true. Look up what you do not know.",
              tab=word(TABS["wording"]))  # fmt: skip


def _about_truth() -> Iterator[str]:
    yield say("Of each statement say whether it is true. Some were made false on purpose; you are "
              "not told which. Look up what you do not know, and say so if you cannot tell."
              )  # fmt: skip


def _about_reason() -> Iterator[str]:
    yield say("The second sheet holds statements that are meant to be false, each with the reason. "
              "Fill in the first sheet before you look at it. Say whether the reason states what "
              "is wrong.")  # fmt: skip


def _about_answer() -> Iterator[str]:
    fit, unfit = (word(text) for text in TASKS["answer"].verdicts.values())
    yield say("{tab}: of each question decide whether it is fit, and answer it.",
              tab=word(TABS["answer"]))  # fmt: skip
    yield say("{unfit}: it has no single right answer, or one that changes with time; it is "
              "unclear what is asked; or no page that one can trust answers it. Say which.",
              unfit=unfit)  # fmt: skip
    yield say("{fit}: search the web yourself, and write the answer alone, as short as it can be. "
              "Give at least two pages that say so, whole addresses with https://, one of them an "
              "encyclopaedia, a public body or another source that people trust.",
              fit=fit)  # fmt: skip


def _about_third() -> Iterator[str]:
    yield say("{tab}: people answered these differently, each with the pages named. Look at these, "
              "search for more, and write the answer that is right. Take over one of theirs as it "
              "stands, or give your own with at least two pages.",
              tab=word(TABS["third"]))  # fmt: skip


def _about_same() -> Iterator[str]:
    yield say("{tab}: say whether the two are one answer. They are where nobody who knows the "
              "subject would call one right and the other wrong; a part of an answer, or one with "
              "more in it, is another answer.", tab=word(TABS["same"]))  # fmt: skip


def _about_private_answer() -> Iterator[str]:
    fit, unfit = (word(text) for text in TASKS["answer"].verdicts.values())
    yield say("{tab}: of each question decide whether it is fit, and answer it from the passage "
              "beside it.", tab=word(TABS["answer"]))  # fmt: skip
    yield say("The documents are private. Do not enter these questions into a search engine or a "
              "chatbot.")  # fmt: skip
    yield say("{unfit}: the passage does not answer it, it has several right answers, it is "
              "unclear, or its answer changes and the question names no date. Say which.",
              unfit=unfit)  # fmt: skip
    yield say("{fit}: write the answer alone, as short as it can be. Knowledge that only your "
              "organization has is fit.", fit=fit)  # fmt: skip


def _about_private_third() -> Iterator[str]:
    yield say("{tab}: people answered these differently. Read the passage, and write the answer "
              "that is right: one of theirs as it stands, or your own.",
              tab=word(TABS["third"]))  # fmt: skip


_PRIVATE_LINES: Mapping[ReviewTask, Callable[[], Iterator[str]]] = MappingProxyType(
    {"answer": _about_private_answer, "third": _about_private_third}
)
_TASK_LINES: Mapping[ReviewTask, Callable[[], Iterator[str]]] = MappingProxyType(
    {
        "format": _about_format,
        "wording": _about_wording,
        "truth": _about_truth,
        "reason": _about_reason,
        "answer": _about_answer,
        "third": _about_third,
        "same": _about_same,
    }
)
