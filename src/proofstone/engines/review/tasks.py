"""What reviewers are asked, and the closed labels that they answer with.

``format`` is Encyclo-K's review (appendix C): does a statement stand alone and is it well formed.
``truth`` asks of a statement whether it is true, without saying what it is meant to be; ``reason``
whether the reason fits that goes with a falsified one. The paper's check of 200 kept the last two
apart: all 200 were false, and the reasons of five did not fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from proofstone.records import ReviewTask
from proofstone.wording import noted

__all__ = ["TASKS", "Task"]


class Task(Struct, frozen=True, kw_only=True):
    """A question to reviewers. ``verdicts`` gives each label its words; ``needs_reason`` and
    ``needs_text`` are those that cannot stand without one. ``undecided`` says nothing either
    way."""

    name: ReviewTask
    verdicts: Mapping[str, str]
    needs_reason: frozenset[str] = frozenset()
    needs_text: frozenset[str] = frozenset()
    undecided: str = ""


TASKS: Mapping[ReviewTask, Task] = MappingProxyType(
    {
        "format": Task(
            name="format",
            verdicts={"keep": noted("keep it"), "fix": noted("fix it"), "drop": noted("drop it")},
            needs_reason=frozenset({"drop"}),
            needs_text=frozenset({"fix"}),
        ),
        "truth": Task(
            name="truth",
            verdicts={
                "true": noted("it is true"),
                "false": noted("it is false"),
                "unsure": noted("I cannot tell"),
            },
            undecided="unsure",
        ),
        "reason": Task(
            name="reason",
            verdicts={
                "fits": noted("the reason fits"),
                "misses": noted("it does not fit"),
                "unsure": noted("I cannot tell"),
            },
            undecided="unsure",
        ),
    }
)
