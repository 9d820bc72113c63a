"""Reviews: one decision of one reviewer on one version of a fact or item, who was to give it, and
what follows from all of them.

Nothing is changed in place: a decision that its reviewer changed is a new row that names the old.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

from msgspec import UNSET, Struct, UnsetType, structs

from proofstone.records.ids import content_id
from proofstone.records.runs import Estimate

# Corrections by people: rulings over replies, and what was edited, retired and restored.
#
# Each is a row of its own that names what it corrects; nothing is changed in place.

Verdict = Literal["correct", "incorrect", "invalidated"]


Action = Literal["edit", "exclude", "include"]


class Override(Struct, frozen=True, gc=False, kw_only=True):
    """A person's ruling over a reply to an item, whatever the scorer made of it.

    ``run`` and ``sample`` say where the reply was met; it holds wherever this very reply serves.
    ``invalidated``: the reply is left out, neither right nor wrong. ``actor`` is a random id;
    ``at`` is in seconds since 1970; ``replaces`` names the former ruling over the same reply.
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
    """What was done to a fact, item or form, by whom and why.

    ``target`` is the row that was retired or restored, or the new version that an edit made (which
    names the old one). ``follows`` is the former retirement or restoration of the same row.
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
    """The id of a ruling: all its fields."""
    return content_id("override", structs.astuple(override)[1:])


def correction_id(correction: Correction) -> bytes:
    """The id of a correction: all its fields."""
    return content_id("correction", structs.astuple(correction)[1:])


# People as rows know them: random actor ids. Names stand in one table outside hash and export.


class Person(Struct, frozen=True, gc=False, kw_only=True):
    """Who an actor is. Erasing a person deletes this row and leaves the actor's id everywhere."""

    actor: bytes
    name: str
    mail: str = ""
    pay_details: str = ""


# Questions that people answer by searching, so that their answers are set against a model's.

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


"""Where a question stands: whom it waits for, why it was discarded, or that it is kept."""


ANSWER_STATES: tuple[AnswerState, ...] = get_args(AnswerState)


class AnswerPolicy(Struct, frozen=True, kw_only=True):
    """What an answer must rest on: at least so many different pages (``urls``), at least so many of
    them of ``sources``. These are sites as ``review.sheet_answers.read_site`` gives them, sorted.
    Without any page it rests on the document that the question was made from."""

    urls: int = 2
    authoritative: int = 1
    sources: tuple[str, ...] = ()


class CheckedAnswer(Struct, frozen=True, kw_only=True):
    """Where one question stands. ``answer`` is what people agree on, or what the third decided;
    empty before. ``answers`` are what the first two found, each with its pages, sorted; ``why`` in
    words. ``people`` have had a hand in it, ``uncounted`` decisions did not count."""

    target: bytes
    state: AnswerState
    answer: str = ""
    answers: tuple[tuple[str, tuple[str, ...]], ...] = ()
    why: str = ""
    people: frozenset[bytes] = frozenset()
    uncounted: int = 0

    @property
    def is_waiting(self) -> bool:
        """Whether somebody has still to look at it."""
        return self.state.startswith("waits")


ReviewedKind = Literal["fact", "item"]


ReviewTask = Literal["format", "wording", "truth", "reason", "answer", "third", "same"]


# Those that check what statements say, by a sample.
CHECK_TASKS: tuple[ReviewTask, ...] = ("truth", "reason")


# Those in which people answer questions: who answers sees the question alone.
QUESTIONS: frozenset[ReviewTask] = frozenset({"answer", "third", "same"})


ReviewOutcome = Literal["keep", "fix", "drop", "open"]


class Review(Struct, frozen=True, gc=False, kw_only=True):
    """One decision. ``reviewer`` is a random actor id, or empty where ``judge`` names a model.

    ``verdict`` is one of the task's labels (``review.workbook.TASKS``). ``changes`` are the new
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


def latest(reviews: Iterable[Review]) -> list[Review]:
    """The newest decision of each reviewer on each version and task, in the order of their first
    ones; of two at one time the later in the list. What another names as corrected never counts,
    whatever the clocks said."""
    every = list(reviews)
    corrected = {one.corrects for one in every if one.corrects is not None}
    newest: dict[tuple[Any, ...], Review] = {}
    for one in sorted(every, key=lambda one: one.at):
        if one.id and one.id in corrected:
            continue
        newest[one.kind, one.target, one.task, one.who] = one
    return list(newest.values())


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


class Upkeep(Struct, frozen=True, kw_only=True):
    """What a workspace knows of the items of some runs: of how many people ruled on a reply, how
    many are versions that somebody corrected, and which judges scored. ``n_read`` rest on
    statements that people have reviewed, all of them, ``n_partly_read`` on some, by ``n_readers``
    people in all; ``checked`` is what a check of the banks' truth came to, without the ``n_purged``
    statements that were purged since."""

    n_overridden: int = 0
    n_corrected: int = 0
    judges: tuple[str, ...] = ()
    n_read: int = 0
    n_partly_read: int = 0
    n_readers: int = 0
    checked: tuple[CheckedRate, ...] = ()
    n_purged: int = 0


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


# What was decided of a bank's or form's reviews: by which policy, from which reviews.


class DecidedReviews(Struct, frozen=True, kw_only=True):
    """One decision on all reviews that there were: ``reviews`` are their ids, sorted; ``outcomes``
    counts what the statements came to, and ``decided`` names each that was not kept, by its id in
    hexadecimal. With these reviews and this ``policy`` anybody comes to the same. ``actor`` is who
    decided, ``at`` when (seconds since 1970)."""

    policy: ReviewPolicy
    reviews: tuple[bytes, ...]
    outcomes: Mapping[ReviewOutcome, int]
    decided: Mapping[str, Literal["fix", "drop", "open"]]
    actor: bytes
    at: float


def policy_words(policy: ReviewPolicy) -> str:
    """``quorum 1, drop majority, tie open, fix any``: a policy as its options are typed; of answers
    what they must rest on."""
    if not isinstance(policy.answers, UnsetType):
        rule = policy.answers
        if not rule.urls:
            return "two answers from the documents, a third where they differ"
        return (
            f"two answers, a third where they differ, at least {rule.urls} pages each, "
            f"{rule.authoritative} of them from {len(rule.sources):,} authoritative sources"
        )
    return f"quorum {policy.quorum}, drop {policy.drop}, tie {policy.tie}, fix {policy.fix}"


# Judges of a build checked by people: both on the same statements.


class CheckedJudge(Struct, frozen=True, kw_only=True):
    """One ``judge``, or where it is empty what all together decided, against people.

    ``counts[i][j]`` are the statements that people gave label i and the judge label j; on
    ``silent`` more, which people labelled, the judge gave none. ``measures`` are agreement and
    coefficients by name; none where no statement has both labels.
    """

    judge: str
    counts: tuple[tuple[int, ...], ...]
    silent: int
    measures: Mapping[str, Estimate] = {}

    @property
    def n(self) -> int:
        """The statements that both labelled."""
        return sum(map(sum, self.counts))

    @property
    def agreed(self) -> int:
        """Those of them that have one label by both."""
        return sum(row[place] for place, row in enumerate(self.counts))


class CheckedQuestion(Struct, frozen=True, kw_only=True):
    """A question to the judges of a ``build``, and what people said on the same statements when
    asked for ``task``.

    ``labels`` are those of the judges. Of the bank's statements ``judged`` were judged as they
    read, and of these ``read`` by people, who came to no label on ``unsure``. ``against`` counts
    verdicts against texts that did not come into the bank, where no person reads them. ``judges``:
    all together first where they are several, then each.
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
