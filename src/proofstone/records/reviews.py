"""Reviews: decisions of reviewers on facts and items, assignments, and their consequences.

Rows are never edited: a changed decision is a new row that names the old one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

from msgspec import UNSET, Struct, UnsetType, structs

from proofstone.records.ids import content_id
from proofstone.records.runs import Estimate

# Corrections by people: overrides of verdicts, and edits, exclusions and inclusions.
#
# Each is a new row that names what it corrects; nothing is edited.

Verdict = Literal["correct", "incorrect", "invalidated"]


Action = Literal["edit", "exclude", "include"]


class Override(Struct, frozen=True, gc=False, kw_only=True):
    """A person's override of the verdict on a response.

    ``run`` and ``sample`` identify the response; the override applies wherever this response is
    used. ``invalidated`` invalidates the response: it counts as neither correct nor wrong.
    ``actor`` is a random id; ``at`` is in seconds since 1970; ``replaces`` names the former
    override of the same response.
    """

    id: bytes = b""
    run: bytes
    item: bytes
    sample: int
    verdict: Verdict
    reason: str
    actor: bytes
    at: float
    replaces: bytes | None = None


class Correction(Struct, frozen=True, gc=False, kw_only=True):
    """A correction of a fact, item or form, with its author and reason.

    ``target`` is the excluded or included row, or the new version of an edit (which names the old
    one). ``follows`` is the former exclusion or inclusion of the same row.
    """

    id: bytes = b""
    action: Action
    kind: Literal["fact", "item", "form"]
    target: bytes
    reason: str
    actor: bytes
    at: float
    follows: bytes | None = None


def override_id(override: Override) -> bytes:
    """Return the id of an override: all its fields."""
    return content_id("override", structs.astuple(override)[1:])


def correction_id(correction: Correction) -> bytes:
    """Return the id of a correction: all its fields."""
    return content_id("correction", structs.astuple(correction)[1:])


# People are random actor ids in rows. Names are in one table outside hashes and exports.


class Person(Struct, frozen=True, gc=False, kw_only=True):
    """The name of an actor. Erasing a person deletes this row; the actor's id remains
    everywhere.
    """

    actor: bytes
    name: str
    mail: str = ""
    pay_details: str = ""


# Fact-finding tasks: people answer questions by searching, for comparison with a model's answers.

AnswerState = Literal[
    "waits for a first answer",
    "waits for a second answer",
    "waits for a third person",
    "waits for a comparison",
    "not compliant",
    "too few pages",
    "no authoritative source",
    "differs from the model",
    "kept",
]


"State of a question: who it waits for, why it was discarded, or that it is kept."


ANSWER_STATES: tuple[AnswerState, ...] = get_args(AnswerState)


class AnswerPolicy(Struct, frozen=True, kw_only=True):
    """Evidence required of an answer.

    At least ``urls`` different pages, and at least ``authoritative`` of them from ``sources``.
    These are sites as ``review.sheet_answers.read_site`` returns them, sorted. An answer without
    pages refers to the document that the question was made from.
    """

    urls: int = 2
    authoritative: int = 1
    sources: tuple[str, ...] = ()


class CheckedAnswer(Struct, frozen=True, kw_only=True):
    """State of one question.

    ``answer`` is the agreed answer, or the third person's decision; empty before. ``answers`` are
    those of the first two people, each with its pages, sorted; ``why`` is the reason in words.
    ``people`` contributed to it; ``uncounted`` decisions did not count.
    """

    target: bytes
    state: AnswerState
    answer: str = ""
    answers: tuple[tuple[str, tuple[str, ...]], ...] = ()
    why: str = ""
    people: frozenset[bytes] = frozenset()
    uncounted: int = 0

    @property
    def is_waiting(self) -> bool:
        """Return True if the question waits for someone."""
        return self.state.startswith("waits")


ReviewedKind = Literal["fact", "item"]


ReviewTask = Literal["format", "wording", "truth", "reason", "answer", "third", "same"]


# Tasks that fact-check a sample of statements.
CHECK_TASKS: tuple[ReviewTask, ...] = ("truth", "reason")


# Tasks in which people answer questions and see the question only.
QUESTIONS: frozenset[ReviewTask] = frozenset({"answer", "third", "same"})


ReviewOutcome = Literal["keep", "fix", "drop", "open"]


class Review(Struct, frozen=True, gc=False, kw_only=True):
    """One decision. ``reviewer`` is a random actor id, or empty if ``judge`` names a model.

    ``verdict`` is one of the task's labels (``review.workbook.TASKS``). ``changes`` are the new
    field values of a fix; ``rubric`` holds further marks by name; ``seconds`` is the time taken, if
    known; ``at`` is in seconds since 1970. ``sheet`` is the review spreadsheet; ``corrects`` is the
    same reviewer's former decision on the same version. ``answer`` is the reviewer's answer and
    ``urls`` its pages. For the task ``same`` it is the compared answer, for ``wording`` the new
    wording. A fix states in ``rubric["claim"]`` whether the new wording is true.
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
        """Return who decided: an actor id, or a model's name."""
        return self.reviewer or self.judge


def latest(reviews: Iterable[Review]) -> list[Review]:
    """Return the newest decision of each reviewer on each version and task.

    The order is that of their first decisions; with equal times the later in the list wins. A
    decision that another corrects never counts, whatever its time.
    """
    every = list(reviews)
    corrected = {one.corrects for one in every if one.corrects is not None}
    newest: dict[tuple[Any, ...], Review] = {}
    for one in sorted(every, key=lambda one: one.at):
        if one.id and one.id in corrected:
            continue
        newest[one.kind, one.target, one.task, one.who] = one
    return list(newest.values())


class ReviewPlace(Struct, frozen=True, gc=False):
    """The subject of one spreadsheet row."""

    task: ReviewTask
    kind: ReviewedKind
    target: bytes


class ReviewSheet(Struct, frozen=True, gc=False, kw_only=True):
    """One person's review assignment: ordered rows of one bank or form.

    ``recipe`` holds the assignment's parameters (seed, overlap, reviewers, sample) as plain JSON
    values; the same command makes the same spreadsheet. ``at`` is not part of the id.
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
    """A fact or item as shown to a reviewer.

    ``field`` is the field that a fix rewrites (empty: none). ``claim`` is whether it is meant to be
    true, ``key_field`` the field of a fact that holds this. ``because`` is the reason given with a
    false one; ``valid_at`` is the date of validity of its document.
    """

    text: str
    field: str = ""
    claim: Literal["true", "false", ""] = ""
    key_field: str = ""
    because: str = ""
    valid_at: str = ""


class ReviewPolicy(Struct, frozen=True, kw_only=True):
    """How several reviewers' decisions are combined. Fewer than ``quorum`` leave it open.

    ``drop`` is the share of reviewers needed to drop it (``any`` one, the ``majority``, ``all``).
    ``tie`` is the result of an even split under a majority. ``fix`` is how many of those who would
    keep it must request a change.
    """

    quorum: int = 1
    drop: Literal["any", "majority", "all"] = "majority"
    tie: Literal["open", "keep", "drop"] = "open"
    fix: Literal["any", "majority", "all"] = "any"
    # Omitted from the stored bytes of policies for statements, whose ids hash these bytes.
    answers: AnswerPolicy | UnsetType = UNSET


class CheckedRate(Struct, frozen=True, kw_only=True):
    """Error rate found by a fact-check, separately for true statements, false ones, and reasons.

    ``unsure`` decisions are not part of the rate.
    """

    name: Literal["true", "false", "reason"]
    rate: Estimate
    wrong: int
    unsure: int


class Upkeep(Struct, frozen=True, kw_only=True):
    """Reviews and corrections behind the items of some runs.

    ``n_overridden`` responses were overridden by people, ``n_corrected`` items are corrected
    versions, and ``judges`` scored. ``n_read`` items use only statements that people reviewed,
    ``n_partly_read`` some, by ``n_readers`` people in all. ``checked`` is the result of the banks'
    fact-check, without the ``n_purged`` statements purged since.
    """

    n_overridden: int = 0
    n_corrected: int = 0
    judges: tuple[str, ...] = ()
    n_read: int = 0
    n_partly_read: int = 0
    n_readers: int = 0
    checked: tuple[CheckedRate, ...] = ()
    n_purged: int = 0


class ReviewFunnel(Struct, frozen=True, kw_only=True):
    """Review funnel of a bank's statements.

    How many there are, how many ``people`` reviewed, the outcomes under ``policy``, how many fix or
    drop decisions were ``carried_out``, and inter-annotator agreement by measure. ``purged`` ones
    are part of ``statements`` and of no other number.
    """

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
    """Combined decision on one version under a policy.

    ``open`` if one more reviewer is needed (Encyclo-K's third), with ``why`` in a few words.
    ``votes`` counts the latest decision of each reviewer by verdict; ``changes`` are those of a
    fix. ``wording`` is the new text of a fix that another person must still check.
    """

    kind: ReviewedKind = "fact"
    target: bytes
    task: ReviewTask = "format"
    outcome: ReviewOutcome
    votes: Mapping[str, int]
    why: str = ""
    changes: Mapping[str, Any] = {}
    wording: str = ""


class SheetWithdrawal(Struct, frozen=True, gc=False, kw_only=True):
    """A withdrawn spreadsheet, whose decisions no longer count and which is not imported again.

    ``actor`` is an actor id, ``at`` in seconds since 1970.
    """

    sheet: bytes
    actor: bytes
    reason: str = ""
    at: float


def review_id(review: Review) -> bytes:
    """Return the id of a review: all its fields.

    The answer and its pages only if there are any, so the ids of reviews without them do not depend
    on these fields.
    """
    *fields, answer, urls = structs.astuple(review)[1:]
    return content_id("review", [*fields, answer, urls] if answer or urls else fields)


def review_sheet_id(sheet: ReviewSheet) -> bytes:
    """Return the id of a spreadsheet: its reviewer, subject, ordered rows, and how they were
    chosen.
    """
    key = [sheet.kind, sheet.target, sheet.reviewer, sheet.round, sheet.recipe]
    return content_id("review-sheet", [*key, [structs.astuple(place) for place in sheet.places]])


# Final decision on a bank's or form's reviews: the policy and the reviews it used.


class DecidedReviews(Struct, frozen=True, kw_only=True):
    """One decision on all existing reviews.

    ``reviews`` are their ids, sorted. ``outcomes`` counts the statements by outcome, and
    ``decided`` names each that was not kept, by its id in hexadecimal. The same reviews and
    ``policy`` give the same result. ``actor`` is who decided, ``at`` when (seconds since 1970).
    """

    policy: ReviewPolicy
    reviews: tuple[bytes, ...]
    outcomes: Mapping[ReviewOutcome, int]
    decided: Mapping[str, Literal["fix", "drop", "open"]]
    actor: bytes
    at: float


def policy_words(policy: ReviewPolicy) -> str:
    """Return a policy as its options are typed: ``quorum 1, drop majority, tie open, fix any``.

    For answers it is the required evidence.
    """
    if not isinstance(policy.answers, UnsetType):
        rule = policy.answers
        if not rule.urls:
            return "two answers from the documents, a third if they differ"
        return (
            f"two answers, a third if they differ, at least {rule.urls} pages each, "
            f"{rule.authoritative} of them from {len(rule.sources):,} authoritative sources"
        )
    return f"quorum {policy.quorum}, drop {policy.drop}, tie {policy.tie}, fix {policy.fix}"


# A build's judges compared with people on the same statements.


class CheckedJudge(Struct, frozen=True, kw_only=True):
    """One ``judge``, or the panel decision if empty, compared with people.

    ``counts[i][j]`` are the statements with label i from people and label j from the judge; on
    another ``silent``, labeled by people, the judge gave none. ``measures`` are agreement and
    coefficients by name; empty if no statement has both labels.
    """

    judge: str
    counts: tuple[tuple[int, ...], ...]
    silent: int
    measures: Mapping[str, Estimate] = {}

    @property
    def n(self) -> int:
        """Return the number of statements that both labeled."""
        return sum(map(sum, self.counts))

    @property
    def agreed(self) -> int:
        """Return the number of statements with the same label from both."""
        return sum(row[place] for place, row in enumerate(self.counts))


class CheckedQuestion(Struct, frozen=True, kw_only=True):
    """A question to the judges of a ``build``, and people's labels on the same statements.

    ``task`` is the review task and ``labels`` are those of the judges. Of the bank's statements
    ``judged`` were judged in their present wording, ``read`` of these by people, who had no label
    on ``unsure``. ``against`` counts verdicts against texts that did not enter the bank, which
    people do not review. ``judges``: the panel first if there are several, then each.
    """

    build: bytes
    step: str
    question: str
    task: ReviewTask
    labels: tuple[str, ...]
    judged: int
    read: int
    unsure: int
    against: int
    judges: tuple[CheckedJudge, ...] = ()
