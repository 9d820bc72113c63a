"""Reviews: one decision of one reviewer on one version of a fact or item, who was to give it, and
what follows from all of them.

Nothing is changed in place: a decision that its reviewer changed is a new row that names the old.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, structs

from proofstone.identity import content_id
from proofstone.records.answer_reviews import AnswerPolicy
from proofstone.records.results import Estimate

__all__ = [
    "CHECK_TASKS",
    "CheckedRate",
    "Review",
    "ReviewDecision",
    "ReviewFunnel",
    "ReviewOutcome",
    "ReviewPlace",
    "ReviewPolicy",
    "ReviewSheet",
    "ReviewTask",
    "ReviewText",
    "ReviewedKind",
    "SheetWithdrawal",
    "review_id",
    "review_sheet_id",
]

ReviewedKind = Literal["fact", "item"]
ReviewTask = Literal["format", "wording", "truth", "reason", "answer", "third", "same"]
# Those that check what statements say, by a sample.
CHECK_TASKS: tuple[ReviewTask, ...] = ("truth", "reason")
ReviewOutcome = Literal["keep", "fix", "drop", "open"]


class Review(Struct, frozen=True, gc=False, kw_only=True):
    """One decision. ``reviewer`` is a random actor id, or empty where ``judge`` names a model.

    ``verdict`` is one of the task's labels (``engines.review.TASKS``). ``changes`` are the new
    values of fields where it asks for a fix; ``rubric`` further marks by name; ``seconds`` how long
    it took, where that is known; ``at`` in seconds since 1970; ``sheet`` the sheet it was given in;
    ``corrects`` the former decision of the same reviewer on the same version. ``answer`` is what
    the reviewer answers a question with, and ``urls`` the pages that say so; of the task ``same``
    it is the answer that was compared, of ``wording`` the new wording that was checked. Whoever
    asks for a fix says in ``rubric["claim"]`` whether the new wording is true.
    """

    id: bytes = b""
    kind: ReviewedKind = "fact"
    target: bytes
    task: ReviewTask
    verdict: str
    reviewer: bytes = b""
    judge: str = ""
    reason: str = ""
    changes: Mapping[str, Any] = {}
    rubric: Mapping[str, str | int | float] = {}
    seconds: float | None = None
    round: int = 1
    at: float
    sheet: bytes | None = None
    corrects: bytes | None = None
    answer: str = ""
    urls: tuple[str, ...] = ()

    @property
    def who(self) -> bytes | str:
        """Whose decision it is: an actor id, or a model's name."""
        return self.reviewer or self.judge


class ReviewPlace(Struct, frozen=True, gc=False):
    """What one row of a sheet asks about."""

    task: ReviewTask
    kind: ReviewedKind
    target: bytes


class ReviewSheet(Struct, frozen=True, gc=False, kw_only=True):
    """What one person was given to review: rows in their order, of one bank or form.

    ``recipe`` holds what the assignment was made from (seed, overlap, readers, the sample), as
    plain JSON values; the same command makes the same sheet. ``at`` stands outside the id.
    """

    id: bytes = b""
    kind: Literal["bank", "form"]
    target: bytes
    reviewer: bytes
    round: int = 1
    recipe: Mapping[str, Any] = {}
    places: tuple[ReviewPlace, ...] = ()
    at: float = 0.0


class ReviewText(Struct, frozen=True, gc=False, kw_only=True):
    """What a reviewer is shown of a fact or item. ``field`` names what a fix rewrites (empty: no
    text can be). ``claim`` is whether it is meant to be true, ``key_field`` the field of a fact
    that holds this; ``because`` the reason that goes with a false one; ``valid_at`` the date at
    which the document behind it is valid."""

    text: str
    field: str = ""
    claim: Literal["true", "false", ""] = ""
    key_field: str = ""
    because: str = ""
    valid_at: str = ""


class ReviewPolicy(Struct, frozen=True, kw_only=True):
    """How decisions of several reviewers become one. Fewer than ``quorum`` leave it open.

    ``drop``: the share of reviewers who must want it gone (``any`` one, the ``majority``, ``all``).
    ``tie``: what half against half comes to under a majority. ``fix``: how many of those who would
    keep it must ask for a change.
    """

    quorum: int = 1
    drop: Literal["any", "majority", "all"] = "majority"
    tie: Literal["open", "keep", "drop"] = "open"
    fix: Literal["any", "majority", "all"] = "any"
    # Not in the stored bytes of policies for statements, whose ids come from these.
    answers: AnswerPolicy | UnsetType = UNSET


class CheckedRate(Struct, frozen=True, kw_only=True):
    """How often a check found things otherwise than meant: of statements meant to be true, of those
    meant to be false, and of their reasons, each apart. ``unsure`` are outside the rate."""

    name: Literal["true", "false", "reason"]
    rate: Estimate
    wrong: int
    unsure: int


class ReviewFunnel(Struct, frozen=True, kw_only=True):
    """What review made of a bank's statements: how many there are, how many ``people`` read,
    what they came to by ``policy``, and how many decisions to fix or drop were ``carried_out``; how
    far readers agree on what several of them read, by measure. ``purged`` ones stand among
    ``statements`` and in no other number."""

    bank: str
    statements: int
    read: int
    people: int
    outcomes: Mapping[ReviewOutcome, int]
    carried_out: int
    shared: int = 0
    measures: Mapping[str, Estimate] = {}
    purged: int = 0
    policy: ReviewPolicy = ReviewPolicy()


class ReviewDecision(Struct, frozen=True, kw_only=True):
    """What a policy makes of all decisions on one version: ``open`` where one more reviewer is
    needed (Encyclo-K's third), ``why`` in a few words. ``votes`` counts the latest decision of each
    reviewer by verdict; ``changes`` are those of a fix. ``wording`` is the new text of a fix that
    waits for somebody else to say whether it is true."""

    kind: ReviewedKind = "fact"
    target: bytes
    task: ReviewTask = "format"
    outcome: ReviewOutcome
    votes: Mapping[str, int]
    why: str = ""
    changes: Mapping[str, Any] = {}
    wording: str = ""


class SheetWithdrawal(Struct, frozen=True, gc=False, kw_only=True):
    """A sheet whose decisions count no longer, and which is not taken in any more: who withdrew it
    (an actor id), why, and when (seconds since 1970)."""

    sheet: bytes
    actor: bytes
    reason: str = ""
    at: float


def review_id(review: Review) -> bytes:
    """The id of a review: all its fields; an answer and its pages only where there are any, so that
    reviews without keep the ids that they had before there were answers."""
    *fields, answer, urls = structs.astuple(review)[1:]
    return content_id("review", [*fields, answer, urls] if answer or urls else fields)


def review_sheet_id(sheet: ReviewSheet) -> bytes:
    """The id of a sheet: for whom, of what, which rows in which order, and how they were chosen."""
    key = [sheet.kind, sheet.target, sheet.reviewer, sheet.round, sheet.recipe]
    return content_id("review-sheet", [*key, [structs.astuple(place) for place in sheet.places]])
