"""Summarize the review of a bank or form: coverage, decisions by a policy, and their validity."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, cast

from msgspec import Struct, UnsetType, structs

from proofstone.build.inputs import builder_of
from proofstone.correct.edit import fields_of
from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.files.tables import read_checked
from proofstone.method import Answers, Method, Reviewing, find_method
from proofstone.records.ids import canonical_json, short
from proofstone.records.knowledge import Fact, permits_publication
from proofstone.records.reviews import (
    ANSWER_STATES,
    CHECK_TASKS,
    QUESTIONS,
    AnswerPolicy,
    AnswerState,
    CheckedAnswer,
    CheckedRate,
    DecidedReviews,
    Review,
    ReviewDecision,
    ReviewOutcome,
    ReviewPolicy,
    ReviewTask,
    ReviewText,
    latest,
    policy_words,
)
from proofstone.results.fact_check import Checked, checked_rates, found_otherwise
from proofstone.review.sheet_answers import read_reviews
from proofstone.review.workbook import TASKS
from proofstone.session.session import Session, Target, acting, find_target
from proofstone.store.lookup import Found
from proofstone.store.store import Store

# All decisions on a version to one: keep, fix, drop, or open until one more review.


def decide(
    reviews: Iterable[Review],
    policy: ReviewPolicy,
    shown: Mapping[bytes, ReviewText] = MappingProxyType({}),
) -> list[ReviewDecision]:
    """Return one decision per version with format reviews, in the order of first reviews.

    A version is dropped if ``policy.drop`` of its reviewers vote so. Otherwise it is fixed if
    ``policy.fix`` of the remaining ones request the same change. It is open with fewer reviewers
    than ``policy.quorum``, for a tie, or for different changes. Encyclo-K's review is
    ``ReviewPolicy(quorum=3)``.

    ``shown`` gives the intended truth of versions. A fix of a false statement also needs a second
    reviewer who finds the new wording false. Any fix is open if half of the reviewers or more find
    its new wording to be otherwise than intended.
    """
    of: dict[tuple[Any, ...], list[Review]] = {}
    checks: dict[bytes, list[Review]] = {}
    for one in latest(reviews):
        if one.task == "format":
            of.setdefault((one.kind, one.target), []).append(one)
        elif one.task == "wording":
            checks.setdefault(one.target, []).append(one)
    return [
        _with_key(_decided(members, policy), members, checks.get(target, []), shown.get(target))
        for (_kind, target), members in of.items()
    ]


def _with_key(
    decided: ReviewDecision,
    reviews: Sequence[Review],
    checks: Sequence[Review],
    shown: ReviewText | None,
) -> ReviewDecision:
    """Return the decision; a fix of a statement with an intended truth includes its answer key.

    It is open until enough reviewers confirm that the new wording keeps it.
    """
    if decided.outcome != "fix" or shown is None or not shown.claim:
        return decided
    wording = str(decided.changes.get(shown.field, ""))
    authors = [one for one in reviews if one.verdict == "fix" and one.changes == decided.changes]
    others = [
        one for one in checks if one.answer == wording and one.who not in {a.who for a in authors}
    ]
    said = [str(one.rubric.get("claim", "")) for one in authors] + [one.verdict for one in others]
    votes = Counter(claim for claim in said if claim in ("true", "false"))
    other = "true" if shown.claim == "false" else "false"
    why = ""
    if votes[other] and votes[other] >= votes[shown.claim]:
        found = f"{votes[other]} of {votes.total()} reviewers find the new wording {other}"
        why = f"intended to be {shown.claim}, and {found}"
    elif shown.claim == "false" and not {"false"} & set(said[1:]):
        why = "intended to be false: a second reviewer must say whether the new wording still is"
    if why:
        return structs.replace(decided, outcome="open", changes={}, why=why, wording=wording)
    if shown.claim == "true" or not shown.key_field:
        return decided
    return structs.replace(decided, changes={**decided.changes, shown.key_field: False})


def _decided(reviews: Sequence[Review], policy: ReviewPolicy) -> ReviewDecision:
    votes = Counter(one.verdict for one in reviews)
    outcome, why = _fate(votes, len(reviews), policy)
    changes: Mapping[str, Any] = {}
    if outcome == "keep":
        asked = [one.changes for one in reviews if one.verdict == "fix"]
        if _is_enough(len(asked), len(asked) + votes["keep"], policy.fix, ties=True):
            if len({canonical_json(dict(one)) for one in asked}) > 1:
                outcome, why = "open", "reviewers request different changes"
            else:
                outcome, changes = "fix", asked[0]
    if outcome in ("drop", "fix"):
        why = "; ".join(
            dict.fromkeys(r.reason for r in reviews if r.verdict == outcome and r.reason)
        )
    return ReviewDecision(
        kind=reviews[0].kind, target=reviews[0].target, outcome=outcome,
        votes={verdict: votes[verdict] for verdict in ("keep", "fix", "drop") if votes[verdict]},
        why=why, changes=changes,
    )  # fmt: skip


def _fate(votes: Counter[str], n: int, policy: ReviewPolicy) -> tuple[ReviewOutcome, str]:
    """Return drop, keep or open, by the votes to drop."""
    if n < policy.quorum:
        return "open", f"{n} of {policy.quorum} reviews done"
    drops = votes["drop"]
    if policy.drop == "majority" and 2 * drops == n:
        return policy.tie, "a tie on dropping it" if policy.tie == "open" else ""
    return ("drop" if _is_enough(drops, n, policy.drop) else "keep"), ""


def _is_enough(said: int, n: int, rule: str, *, ties: bool = False) -> bool:
    """Return True if ``said`` of ``n`` are any, the majority or all; with ``ties`` half
    suffices."""
    if not said:
        return False
    if rule == "any":
        return True
    return said == n if rule == "all" else 2 * said > n or (ties and 2 * said == n)


# Questions: one decision from people's answers.


def usual_policy(answers: Answers | None, *, is_private: bool = False) -> ReviewPolicy:
    """Return the default policy; answers about private documents cite no web page."""
    if answers is not None and is_private:
        return ReviewPolicy(quorum=2, drop="any", answers=AnswerPolicy(urls=0, authoritative=0))
    if answers is not None:
        return ReviewPolicy(quorum=2, drop="any", answers=answers.answer_policy((), ""))
    return ReviewPolicy()


def checked_answers(
    answers: Answers, facts: Sequence[Fact], reviews: Iterable[Review], policy: ReviewPolicy
) -> Sequence[CheckedAnswer]:
    """Return the state of each question, in order."""
    rule = AnswerPolicy() if isinstance(policy.answers, UnsetType) else policy.answers
    return answers.check_answers(facts, reviews, rule)


def decided_of(
    method: Reviewing, facts: Sequence[Fact], reviews: Sequence[Review], policy: ReviewPolicy
) -> list[ReviewDecision]:
    """Return one decision per reviewed fact: by votes on statements, by answers to questions."""
    if method.answers is None:
        return decide(reviews, policy, {fact.id: method.review_text(fact) for fact in facts})
    verdicts: dict[bytes, dict[str, int]] = {}
    for one in latest(reviews):
        if one.task in QUESTIONS and one.reviewer:
            votes = verdicts.setdefault(one.target, {})
            votes[one.verdict] = votes.get(one.verdict, 0) + 1
    found = checked_answers(method.answers, facts, reviews, policy)
    return [_decision(one, verdicts.get(one.target, {})) for one in found if one.people]


def _decision(one: CheckedAnswer, votes: Mapping[str, int]) -> ReviewDecision:
    outcome: ReviewOutcome = "keep" if one.state == "kept" else "drop"
    why = ": ".join(filter(None, ("" if one.state == "kept" else one.state, one.why)))
    return ReviewDecision(
        target=one.target, task="answer", outcome="open" if one.is_waiting else outcome,
        votes=votes, why=why,
    )  # fmt: skip


@dataclass(frozen=True)
class ReviewState:
    """Hold a bank's or form's facts under review, their review texts, and all reviews.

    Each part is read on first use. ``chosen`` restricts the facts.
    """

    store: Store
    found: Found
    chosen: Sequence[Fact] | None = None

    @classmethod
    def of(cls, store: Store, target: Target) -> ReviewState:
        """Return the state of the bank or form that ``target`` names."""
        return cls(store, find_target(store, target, ("bank", "form")))

    def among(self, facts: Sequence[Fact]) -> ReviewState:
        """Return the state restricted to some of its facts."""
        return replace(self, chosen=facts)

    @cached_property
    def method(self) -> Method:
        """Return the method of the bank or form."""
        store, found = self.store, self.found
        is_bank = found.kind == "bank"
        of = store.knowledge.bank(found.id) if is_bank else store.items.item_set(found.id)
        return find_method(of.method)

    @property
    def reviewing(self) -> Reviewing:
        """Return the method's review support. Raises BadUsage without it."""
        if self.method.reviewing is None:
            raise BadUsage(f"{self.method.name} does not support reviews")
        return self.method.reviewing

    @property
    def answers(self) -> Answers | None:
        """Return how questions are answered; None for statements."""
        return None if self.method.reviewing is None else self.method.reviewing.answers

    @cached_property
    def _held(self) -> tuple[Sequence[Fact], int]:
        """Return the readable facts, and the number of purged ones.

        For a form, the facts of its items, without excluded ones.
        """
        if self.found.kind == "bank":
            bank = self.store.knowledge.bank(self.found.id)
            facts = bank.readable_facts()
            return facts, bank.n_facts() - len(facts)
        own, n_purged = self.store.knowledge.readable_facts_of_set(self.found.id)
        if not own and not n_purged:
            raise BadUsage(
                f"form {self.found.name} was imported and has no statements to review",
                hint="review its bank, or import reviews of its items: review import reviews.jsonl",
            )
        return self._in_force(own), n_purged

    @property
    def facts(self) -> Sequence[Fact]:
        """Return the readable facts in force, including those that a review removed.

        Raises BadUsage for a form without facts.
        """
        return self._held[0] if self.chosen is None else self.chosen

    @property
    def n_purged(self) -> int:
        """Return the number of facts whose text was purged with a source."""
        return self._held[1]

    @property
    def facts_under_review(self) -> Sequence[Fact]:
        """Return the facts to review: neither excluded nor purged."""
        return self._in_force(self.facts)

    def _in_force(self, facts: Sequence[Fact]) -> Sequence[Fact]:
        excluded = set(self.store.corrections.excluded_facts(fact.id for fact in facts))
        return [fact for fact in facts if fact.id not in excluded]

    def texts(self, facts: Iterable[Fact] | None = None) -> dict[bytes, ReviewText]:
        """Return the review texts of these facts (default: all), by id."""
        shown = self.reviewing.review_text
        return {fact.id: shown(fact) for fact in (self.facts if facts is None else facts)}

    @cached_property
    def now(self) -> Mapping[bytes, bytes]:
        """Return the current fact of each fact and of each version that it corrects."""
        now = {fact.id: fact.id for fact in self.facts}
        behind = {fact.corrects: fact.id for fact in self.facts if fact.corrects is not None}
        while behind:
            now |= {former: current for former, current in behind.items() if former not in now}
            older = self.store.knowledge.facts_by_id(behind, readable=True)
            behind = {
                fact.corrects: behind[fact.id]
                for fact in older.values()
                if fact.corrects is not None and fact.corrects not in now
            }
        return now

    @cached_property
    def reviews(self) -> Sequence[Review]:
        """Return all reviews of the facts and of the versions that they correct, oldest first."""
        return self.store.reviews.of_facts(self.now)

    @cached_property
    def carried_over(self) -> Sequence[Review]:
        """Return the reviews, with those of former versions moved to equal current ones.

        Such a version was rebuilt because of another change, so its reviews still apply.
        """
        now, shown = self.now, self.reviewing.review_text
        former = {one.target for one in self.reviews if now[one.target] != one.target}
        current = {fact.id: fact for fact in self.facts}
        same = {
            old.id: now[old.id]
            for old in self.store.knowledge.facts_by_id(former, readable=True).values()
            if shown(old) == shown(current[now[old.id]])
        }
        return [
            structs.replace(one, target=same[one.target]) if one.target in same else one
            for one in self.reviews
        ]

    def decided(self, policy: ReviewPolicy) -> list[ReviewDecision]:
        """Return one decision by ``policy`` for each reviewed fact."""
        return decided_of(self.reviewing, self.facts, self.carried_over, policy)

    @cached_property
    def policy(self) -> ReviewPolicy:
        """Return the policy of the newest decision, including former versions.

        For a form without one, that of its bank; otherwise the method's default.
        """
        made = self.store.decided.behind(self.found.id)
        if not made and self.found.kind == "form" and self.bank is not None:
            made = self.store.decided.behind(self.bank)
        if made:
            return made[-1].policy
        is_private = self.answers is not None and self._is_private
        return usual_policy(self.answers, is_private=is_private)

    @cached_property
    def bank(self) -> bytes | None:
        """Return the bank, also of a form; None for a form without one."""
        is_bank = self.found.kind == "bank"
        return self.found.id if is_bank else self.store.items.item_set(self.found.id).bank

    @property
    def _is_private(self) -> bool:
        """Return True for questions about private documents, by their build or the documents'
        licenses.
        """
        builds = [] if self.bank is None else self.store.builds.of_bank(self.bank)
        for _key, build in reversed(builds):
            name = builder_of(find_method(build.method), build.kind).documents
            if name and name in build.params:
                return bool(build.params[name] == "private")
        return are_private(self.store, self.facts)

    def is_fixed(self, decision: ReviewDecision, current: bytes) -> bool:
        """Return True if a fix was applied: the current version differs, or has the changes."""
        if current != decision.target:
            return True
        found = self.store.lookup.find(f"fact:{current.hex()}")
        fields = fields_of(self.store, found) if decision.changes else {}
        return bool(fields) and all(fields.get(k) == v for k, v in decision.changes.items())


def are_private(store: Store, facts: Iterable[Fact]) -> bool:
    """Return True if any fact is from a document without a license that permits publication.

    Only its owners may know such facts, and they must not be searched on the web.
    """
    sources = store.knowledge.sources({fact.source for fact in facts if fact.source})
    return not all(permits_publication(source.license) for source in sources.values())


def reviewer_name(store: Store, who: bytes | str) -> str:
    """Return a reviewer's name, or digits of the actor id; a judge's name."""
    if isinstance(who, str):
        return who
    person = store.people.person(who)
    return person.name if person is not None and person.name else f"actor {short(who)}"


def review_policy(
    session: Session, target: Target, sources: Path | str | None = None
) -> ReviewPolicy:
    """Return the policy of the last decision on a bank or form, or the default.

    The file ``sources`` changes the bundled list of authoritative sites for questions. Raises
    BadUsage for sources of statements, BadInput for a list that cannot be read.
    """
    state = ReviewState.of(session.store, target)
    if sources is None:
        return state.policy
    if state.answers is None:
        raise BadUsage(
            f"--sources: {state.found.name} has statements, whose reviews cite no pages",
            hint="it applies to questions that people answer",
        )
    file = Path(sources)
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as cause:
        raise BadInput(
            f"{file} is not a list of sites", [Problem(file.name, str(cause))],
            hint="expected a UTF-8 text file with one site per line, such as wikipedia.org",
        ) from None  # fmt: skip
    return structs.replace(state.policy, answers=state.answers.answer_policy(lines, file.name))


# Review progress.


class ReaderProgress(Struct, frozen=True, kw_only=True):
    """Count one reviewer's readable statements, completed ones and decisions, for a task."""

    reviewer: str
    task: ReviewTask
    given: int
    done: int
    verdicts: Mapping[str, int]


class Standing(Struct, frozen=True, kw_only=True):
    """Summarize the review of a bank or form.

    ``n_people`` reviewed the format of its statements, with decisions by ``policy``; ``readers``
    are those of every task. ``carried_out`` counts applied decisions to drop or fix. ``purged``
    statements count only in ``n``. ``states`` counts questions by state; empty for statements.
    """

    target: str
    n: int
    n_read: int
    n_people: int
    policy: ReviewPolicy
    outcomes: Mapping[ReviewOutcome, int]
    carried_out: int
    readers: tuple[ReaderProgress, ...]
    rates: tuple[CheckedRate, ...] = ()
    purged: int = 0
    states: Mapping[AnswerState, int] = {}


def review_standing(
    session: Session, target: Target, policy: ReviewPolicy | None = None
) -> Standing:
    """Summarize the reviewers' work on a bank or form, and decisions by ``policy`` or the current
    one.
    """
    return standing(ReviewState.of(session.store, target), policy)


def standing(state: ReviewState, policy: ReviewPolicy | None = None) -> Standing:
    """Summarize a review by ``policy`` or the current one."""
    policy = policy or state.policy
    store, now, reviews = state.store, state.now, state.reviews
    decisions = state.decided(policy)
    excluded = set(store.corrections.excluded_facts(fact.id for fact in state.facts))
    outcomes: dict[ReviewOutcome, int] = {"keep": 0, "fix": 0, "drop": 0, "open": 0}
    done = 0
    for one in decisions:
        outcomes[one.outcome] += 1
        current = now[one.target]
        done += one.outcome == "drop" and current in excluded
        done += one.outcome == "fix" and state.is_fixed(one, current)
    people = {one.reviewer for one in reviews if one.reviewer and one.task not in CHECK_TASKS}
    states: dict[AnswerState, int] = {}
    if state.answers is not None:
        checked = checked_answers(state.answers, state.facts, state.carried_over, policy)
        where = Counter(one.state for one in checked)
        states = {each: where[each] for each in ANSWER_STATES}
    return Standing(
        target=state.found.name, n=len(state.facts) + state.n_purged,
        n_read=len({now[d.target] for d in decisions}),
        n_people=len(people), policy=policy, outcomes=outcomes, carried_out=done,
        readers=tuple(_progress(state)), rates=checked_rates(store, state.reviewing, reviews),
        purged=state.n_purged, states=states,
    )  # fmt: skip


def _progress(state: ReviewState) -> list[ReaderProgress]:
    """Return one line per reviewer and task, in export order, including former versions.

    Of several versions of a statement, the newest counts.
    """
    store, now = state.store, state.now
    given: dict[tuple[bytes | str, ReviewTask], set[bytes]] = {}
    sheets = [s for each in _versions(store, state.found) for s in store.reviews.sheets_of(each)]
    for sheet in sorted(sheets, key=lambda sheet: sheet.at):
        for place in sheet.places:
            if place.target in now:
                given.setdefault((sheet.reviewer, place.task), set()).add(now[place.target])
    said: dict[tuple[bytes | str, ReviewTask], dict[bytes, str]] = {}
    for one in latest(state.reviews):
        said.setdefault((one.who, one.task), {})[now[one.target]] = one.verdict
    lines = []
    for who, task in dict.fromkeys([*given, *said]):
        own = said.get((who, task), {})
        counts = Counter(own.values())
        lines.append(ReaderProgress(
            reviewer=reviewer_name(store, who), task=task, done=len(own),
            given=len(given.get((who, task), set()) | own.keys()),
            verdicts={name: counts[name] for name in TASKS[task].verdicts if counts[name]},
        ))  # fmt: skip
    return lines


def _versions(store: Store, found: Found) -> list[bytes]:
    """Return a bank or form, and those that it corrects: their exports also count."""
    if found.kind == "bank":
        return store.knowledge.versions_of_bank(found.id)
    versions = [found.id]
    while (former := store.items.item_set(versions[-1]).corrects) is not None:
        versions.append(former)
    return versions


# Decisions by a policy, flagged items for ``exclude`` and ``edit --from``, and validity of stored
# decisions.

_DECISION = {"drop": "exclude", "fix": "edit", "keep": "keep", "open": ""}


class ReviewedRow(Struct, frozen=True, kw_only=True):
    """Hold a statement to drop, fix or leave open, as a row of flagged items.

    A person may change its ``decision``. ``key`` is the intended truth.
    """

    target: str
    text: str
    key: str
    outcome: ReviewOutcome
    votes: str
    decision: str
    changes: str = ""
    why: str = ""


class Decided(Struct, frozen=True, kw_only=True):
    """Hold the decisions of a policy: counts by outcome, and rows for a file.

    ``reviews`` are the ids of the reviews, if they are stored.
    """

    policy: ReviewPolicy
    outcomes: dict[ReviewOutcome, int]
    rows: tuple[dict[str, object], ...]
    work: tuple[ReviewedRow, ...] = ()
    reviews: tuple[bytes, ...] = ()


def decide_file(path: Path | str, policy: ReviewPolicy) -> Decided:
    """Decide the reviews of a file by ``policy``, without a workspace.

    Raises BadInput with every problem of its rows.
    """
    stated = read_checked(Path(path), read_reviews)
    names = {one.review.target: one.target for one in stated}
    return _decided_rows(decide([one.review for one in stated], policy), policy, names)


def review_decisions(
    session: Session, target: Target, policy: ReviewPolicy | None = None
) -> Decided:
    """Decide the reviews of a bank or form by a policy (default: the current one), with flagged
    items.

    Nothing is stored. Flagged are statements to drop or fix, statements that a check contradicts,
    and open ones; statements edited since are not.
    """
    state = ReviewState.of(session.store, target)
    policy = policy or state.policy
    decisions = state.decided(policy)
    here = [fact for fact in state.facts if state.now.get(fact.id) == fact.id]
    texts = state.texts(here)
    gone = {one.target for one in decisions if one.outcome == "drop"}
    work = [
        _flagged_item(one, texts[one.target])
        for one in decisions
        if one.outcome != "keep"
        and one.target in texts
        and not (one.outcome == "fix" and state.is_fixed(one, one.target))
    ]
    # A wrong reason does not remove a statement (nor did the paper's five).
    meant = {identity: shown.claim for identity, shown in texts.items() if shown.claim}
    work += [
        _wrong(one, texts[one.target])
        for one in found_otherwise(state.carried_over, meant, "truth")
        if one.state == "otherwise" and one.target not in gone
    ]
    reviews = tuple(sorted({one.id for one in state.reviews}))
    return structs.replace(_decided_rows(decisions, policy), work=tuple(work), reviews=reviews)


def _decided_rows(
    decisions: Sequence[ReviewDecision],
    policy: ReviewPolicy,
    names: Mapping[bytes, str] = MappingProxyType({}),
) -> Decided:
    """Return decisions as rows; ``names`` are targets as written in their file."""
    counts = Counter(one.outcome for one in decisions)
    outcomes: tuple[ReviewOutcome, ...] = ("keep", "fix", "drop", "open")
    rows = []
    for one in decisions:
        row: dict[str, object] = {
            "target": names.get(one.target) or f"{one.kind}:{one.target.hex()}",
            "task": one.task,
            "outcome": one.outcome,
            "votes": dict(one.votes),
            "why": one.why,
        }
        row |= {"changes": dict(one.changes)} if one.changes else {}
        rows.append(row | {"policy": policy_words(policy)})
    return Decided(
        policy=policy, outcomes={name: counts[name] for name in outcomes}, rows=tuple(rows)
    )


def _flagged_item(one: ReviewDecision, shown: ReviewText) -> ReviewedRow:
    return ReviewedRow(
        target=f"{one.kind}:{short(one.target)}",
        text=shown.text,
        key=shown.claim,
        outcome=one.outcome,
        votes=_votes(one.votes),
        decision=_DECISION[one.outcome],
        changes=json.dumps(dict(one.changes), ensure_ascii=False) if one.changes else "",
        why=one.why or "reviewers asked for it",
    )


def _wrong(one: Checked, shown: ReviewText) -> ReviewedRow:
    return ReviewedRow(
        target=f"fact:{short(one.target)}", text=shown.text, key=shown.claim, outcome="drop",
        votes=_votes(one.votes), decision="exclude",
        why="; ".join(("verdict differs from the answer key", *one.reasons)),
    )  # fmt: skip


def _votes(votes: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {verdict}" for verdict, n in votes.items())


# Stored decisions, and whether their reviews still give the same result.


class LastDecision(Struct, frozen=True, kw_only=True):
    """Hold the newest decision on a bank or form.

    ``n_new`` counts reviews added or replaced since. ``stands``: its policy gives the same result
    today.
    """

    made: DecidedReviews
    n_new: int
    stands: bool


def keep_decision(
    session: Session, target: Target, decided: Decided, *, by: str = ""
) -> DecidedReviews:
    """Store a decision: policy, reviews, result, and author.

    A decision equal to the newest one is not stored again. Raises BadUsage without reviews.
    """
    store, found = session.store, session.find(target, "bank", "form")
    if not decided.reviews:
        raise BadUsage(f"{found.name} has no reviews to decide")
    record = DecidedReviews(
        policy=decided.policy,
        reviews=decided.reviews,
        outcomes=decided.outcomes,
        decided={
            str(row["target"]): cast("Literal['fix', 'drop', 'open']", row["outcome"])
            for row in decided.rows
            if row["outcome"] != "keep"
        },
        actor=acting(session, by).actor,
        at=session.clock.now(),
    )
    before = store.decided.every(found.id)
    if before and _said(before[-1]) == _said(record):
        return before[-1]
    kind: Literal["bank", "form"] = "bank" if found.kind == "bank" else "form"
    store.decided.add(kind, found.id, record, record.at)
    return record


def last_decision(session: Session, target: Target) -> LastDecision | None:
    """Return the newest decision on a bank or form, or on a former version, and its validity.

    None without one.
    """
    state = ReviewState.of(session.store, target)
    made = session.store.decided.behind(state.found.id)
    if not made:
        return None
    known = set(made[-1].reviews)
    # Reviews of purged statements no longer exist.
    own = [one for one in state.carried_over if one.id in known]
    again: dict[str, int] = {str(name): 0 for name in made[-1].outcomes}
    for one in decided_of(state.reviewing, state.facts, own, made[-1].policy):
        again[one.outcome] += 1
    return LastDecision(
        made=made[-1],
        n_new=sum(one.id not in known for one in state.reviews),
        stands=again == dict(made[-1].outcomes),
    )


def _said(made: DecidedReviews) -> tuple[object, ...]:
    return made.policy, made.reviews, dict(made.outcomes), dict(made.decided)
