"""What reviewers are asked, and the closed labels that they answer with.

``format`` is Encyclo-K's review (appendix C): does a statement stand alone and is it well formed.
``truth`` asks of a statement whether it is true, without saying what it is meant to be; ``reason``
whether the reason fits that goes with a falsified one. The paper's check of 200 kept the last two
apart: all 200 were false, and the reasons of five did not fit. ``wording`` asks somebody else
whether the new wording that a reviewer wrote for a statement is true: the reviewer may have made a
false statement true.

``answer`` is Chinese SimpleQA's (3.3): is a question fit, and what is its answer by one's own
search. ``third`` asks the same of somebody who sees what others found; ``same`` whether what people
found and the model's answer are one.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from proofstone.records import ReviewTask
from proofstone.wording import noted

__all__ = ["QUESTIONS", "TABS", "TASKS", "Task"]


class Task(Struct, frozen=True, kw_only=True):
    """A question to reviewers. ``verdicts`` gives each label its words; ``needs_reason`` and
    ``needs_text`` are those that cannot stand without one. ``undecided`` says nothing either
    way. ``needs_answer`` are those that come with an answer, which has at least ``n_pages`` pages.
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
    "unsure": noted("I cannot tell"),
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
                "unsure": noted("I cannot tell"),
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
        # Who takes an answer that is there may leave the pages to it; a stage checks the others.
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

# The tab of each in a sheet.
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
# Those in which people answer questions: who answers sees the question alone.
QUESTIONS: frozenset[ReviewTask] = frozenset({"answer", "third", "same"})
