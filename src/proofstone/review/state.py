"""Where the review of a bank or form stands: what of it people read, what a policy makes of that,
and whether what was decided still holds."""

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

# From all decisions on a version to one: keep, fix, drop, or open until one more has read it.


def decide(
    reviews: Iterable[Review],
    policy: ReviewPolicy,
    shown: Mapping[bytes, ReviewText] = MappingProxyType({}),
) -> list[ReviewDecision]:
    """One decision a version that anybody reviewed for its format, in the order of first reviews.

    First whether it goes: by ``policy.drop`` of those who read it. Of those who would keep it,
    ``policy.fix`` of them asking for a change make it a fix, provided that they want the same
    change. Fewer than ``policy.quorum``, half against half, and different changes leave it open:
    a third reviewer decides. Encyclo-K's review is ``ReviewPolicy(quorum=3)``.

    ``shown`` says what versions are meant to be. A fix of one that is meant to be false needs
    somebody besides its author who finds the new wording false; a fix of any version stays open
    where as many readers or more find its new wording to be otherwise than meant.
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
    """The decision; a fix of a statement whose truth is meant names its key, or is open until
    enough readers have said that its new wording keeps it."""
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
        found = f"{votes[other]} of {votes.total()} readers find the new wording {other}"
        why = f"meant to be {shown.claim}, and {found}"
    elif shown.claim == "false" and not {"false"} & set(said[1:]):
        why = "false on purpose: a second reader must say whether the new wording still is"
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
                outcome, why = "open", "they want different changes"
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
    """Whether it goes, stays, or is open, by those who would drop it against all others."""
    if n < policy.quorum:
        return "open", f"{n} of {policy.quorum} have read it"
    drops = votes["drop"]
    if policy.drop == "majority" and 2 * drops == n:
        return policy.tie, "half of them would drop it" if policy.tie == "open" else ""
    return ("drop" if _is_enough(drops, n, policy.drop) else "keep"), ""


def _is_enough(said: int, n: int, rule: str, *, ties: bool = False) -> bool:
    """Whether ``said`` of ``n`` are any, the majority or all; with ``ties`` half suffices."""
    if not said:
        return False
    if rule == "any":
        return True
    return said == n if rule == "all" else 2 * said > n or (ties and 2 * said == n)


# Questions that people answer: one decision by what their own answers come to.


def usual_policy(answers: Answers | None, *, is_private: bool = False) -> ReviewPolicy:
    """By what reviews are decided where nobody named anything; of private documents people answer
    from these alone, and name no page of the web."""
    if answers is not None and is_private:
        return ReviewPolicy(quorum=2, drop="any", answers=AnswerPolicy(urls=0, authoritative=0))
    if answers is not None:
        return ReviewPolicy(quorum=2, drop="any", answers=answers.answer_policy((), ""))
    return ReviewPolicy()


def checked_answers(
    answers: Answers, facts: Sequence[Fact], reviews: Iterable[Review], policy: ReviewPolicy
) -> Sequence[CheckedAnswer]:
    """Where each question stands, in their order."""
    rule = AnswerPolicy() if isinstance(policy.answers, UnsetType) else policy.answers
    return answers.check_answers(facts, reviews, rule)


def decided_of(
    method: Reviewing, facts: Sequence[Fact], reviews: Sequence[Review], policy: ReviewPolicy
) -> list[ReviewDecision]:
    """One decision a fact that anybody reviewed: of statements what their readers want, of
    questions what people's own answers come to."""
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
    """What of a bank or form people review: its facts in force, what reviewers are shown of them,
    and all that was said of them. Each part is read when it is first asked for. ``chosen`` are the
    facts that are meant, where not all are."""

    store: Store
    found: Found
    chosen: Sequence[Fact] | None = None

    @classmethod
    def of(cls, store: Store, target: Target) -> ReviewState:
        """The state of the bank or form that ``target`` names."""
        return cls(store, find_target(store, target, ("bank", "form")))

    def among(self, facts: Sequence[Fact]) -> ReviewState:
        """The same of some of its facts."""
        return replace(self, chosen=facts)

    @cached_property
    def method(self) -> Method:
        """The method of the bank or form."""
        store, found = self.store, self.found
        is_bank = found.kind == "bank"
        of = store.knowledge.bank(found.id) if is_bank else store.items.item_set(found.id)
        return find_method(of.method)

    @property
    def reviewing(self) -> Reviewing:
        """What a reviewer is shown. Raises BadUsage where the method has no sheets."""
        if self.method.reviewing is None:
            raise BadUsage(f"{self.method.name} has no sheets for reviewers")
        return self.method.reviewing

    @property
    def answers(self) -> Answers | None:
        """How questions are answered; None for statements."""
        return None if self.method.reviewing is None else self.method.reviewing.answers

    @cached_property
    def _held(self) -> tuple[Sequence[Fact], int]:
        """The facts that can be read, and how many more lost their text when a source was purged;
        of a form those that its items rest on, but for retired ones."""
        if self.found.kind == "bank":
            bank = self.store.knowledge.bank(self.found.id)
            facts = bank.readable_facts()
            return facts, bank.n_facts() - len(facts)
        own, n_purged = self.store.knowledge.readable_facts_of_set(self.found.id)
        if not own and not n_purged:
            raise BadUsage(
                f"form {self.found.name} was made elsewhere and rests on no statements",
                hint="review its bank, or take its items' reviews in: review import reviews.jsonl",
            )
        return self._in_force(own), n_purged

    @property
    def facts(self) -> Sequence[Fact]:
        """The facts in force that can be read: of a bank all, also those that a review took out.
        Raises BadUsage for a form that rests on none."""
        return self._held[0] if self.chosen is None else self.chosen

    @property
    def n_purged(self) -> int:
        """How many facts more lost their text when a source was purged."""
        return self._held[1]

    @property
    def facts_under_review(self) -> Sequence[Fact]:
        """The facts that people read: neither retired nor purged."""
        return self._in_force(self.facts)

    def _in_force(self, facts: Sequence[Fact]) -> Sequence[Fact]:
        excluded = set(self.store.corrections.excluded_facts(fact.id for fact in facts))
        return [fact for fact in facts if fact.id not in excluded]

    def texts(self, facts: Iterable[Fact] | None = None) -> dict[bytes, ReviewText]:
        """What reviewers are shown of these facts, else of all, by id."""
        shown = self.reviewing.review_text
        return {fact.id: shown(fact) for fact in (self.facts if facts is None else facts)}

    @cached_property
    def now(self) -> Mapping[bytes, bytes]:
        """For each fact, and each version that it corrects, the fact that stands for it now."""
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
        """All reviews of the facts and of the versions that they correct, oldest first."""
        return self.store.reviews.of_facts(self.now)

    @cached_property
    def bundled(self) -> Sequence[Review]:
        """The reviews, those of former versions taken as of the version that stands now where it
        reads the same: it was made anew because of something else (a falsified statement with its
        true one), and what was said of it is still to be done."""
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
        """What ``policy`` makes of the reviews: one decision a fact that anybody read."""
        return decided_of(self.reviewing, self.facts, self.bundled, policy)

    @cached_property
    def policy(self) -> ReviewPolicy:
        """The policy of the newest decision, also on a version that this one corrects; of a form
        without any that of its bank; else the usual one of its method."""
        made = self.store.decided.behind(self.found.id)
        if not made and self.found.kind == "form" and self.bank is not None:
            made = self.store.decided.behind(self.bank)
        if made:
            return made[-1].policy
        is_private = self.answers is not None and self._is_private
        return usual_policy(self.answers, is_private=is_private)

    @cached_property
    def bank(self) -> bytes | None:
        """The bank, also of a form; None of a form without one."""
        is_bank = self.found.kind == "bank"
        return self.found.id if is_bank else self.store.items.item_set(self.found.id).bank

    @property
    def _is_private(self) -> bool:
        """Whether the questions are about private documents: as their build was told, else by the
        licenses of the documents."""
        builds = [] if self.bank is None else self.store.builds.of_bank(self.bank)
        for _key, build in reversed(builds):
            name = builder_of(find_method(build.method), build.kind).documents
            if name and name in build.params:
                return bool(build.params[name] == "private")
        return are_private(self.store, self.facts)

    def is_fixed(self, decision: ReviewDecision, current: bytes) -> bool:
        """Whether a fix was followed: the version that stands now (``current``) reads otherwise
        than the one that was reviewed, or has the changes."""
        if current != decision.target:
            return True
        found = self.store.lookup.find(f"fact:{current.hex()}")
        fields = fields_of(self.store, found) if decision.changes else {}
        return bool(fields) and all(fields.get(k) == v for k, v in decision.changes.items())


def are_private(store: Store, facts: Iterable[Fact]) -> bool:
    """Whether any of the facts was made from a document that no license permits to publish: what
    only its owners may know, and what nobody is to search the web for."""
    sources = store.knowledge.sources({fact.source for fact in facts if fact.source})
    return not all(permits_publication(source.license) for source in sources.values())


def reviewer_name(store: Store, who: bytes | str) -> str:
    """A reviewer as people know them: a name, else digits of the actor id; a judge's name."""
    if isinstance(who, str):
        return who
    person = store.people.person(who)
    return person.name if person is not None and person.name else f"actor {short(who)}"


def review_policy(
    session: Session, target: Target, sources: Path | str | None = None
) -> ReviewPolicy:
    """The policy by which a bank or form was decided last, else the usual one; for questions
    that people answer, the file ``sources`` says which sites are authoritative, over the carried
    list. Raises BadUsage for sources of statements, BadInput for a list that cannot be read."""
    state = ReviewState.of(session.store, target)
    if sources is None:
        return state.policy
    if state.answers is None:
        raise BadUsage(
            f"--sources: {state.found.name} holds statements, and no pages stand behind reviews of "
            "them",
            hint="it is for questions that people answer",
        )
    file = Path(sources)
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as cause:
        raise BadInput(
            f"{file} cannot be read as a list of sites", [Problem(file.name, str(cause))],
            hint="a text file in UTF-8, with a site a line, as wikipedia.org",
        ) from None  # fmt: skip
    return structs.replace(state.policy, answers=state.answers.answer_policy(lines, file.name))


# How far a review is.


class ReaderProgress(Struct, frozen=True, kw_only=True):
    """Of the statements that one reviewer was given for a task, those that can be read still, how
    many have a decision; what was decided."""

    reviewer: str
    task: ReviewTask
    given: int
    done: int
    verdicts: Mapping[str, int]


class Standing(Struct, frozen=True, kw_only=True):
    """The review of a bank or form: how many of its statements ``n_people`` read for their format,
    and what came of them under ``policy``; ``readers`` are those of every task. ``carried_out``
    counts decisions to drop or fix that were followed. Of ``purged`` ones nothing is left to read:
    they stand in no other number but ``n``. ``states`` counts questions that people answer by where
    they stand; empty for statements."""

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
    """Who read how much of a bank or form, and what came of it by ``policy``, else by that in
    force."""
    return standing(ReviewState.of(session.store, target), policy)


def standing(state: ReviewState, policy: ReviewPolicy | None = None) -> Standing:
    """Where a review stands by ``policy``, else by that in force."""
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
        checked = checked_answers(state.answers, state.facts, state.bundled, policy)
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
    """One line a reviewer and task, in the order in which sheets were given out, also of versions
    that this one corrects; of several versions of a statement the newest counts."""
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
    """A bank or form, and those that it corrects: what was given out of them is of it too."""
    if found.kind == "bank":
        return store.knowledge.versions_of_bank(found.id)
    versions = [found.id]
    while (former := store.items.item_set(versions[-1]).corrects) is not None:
        versions.append(former)
    return versions


# What reviews come to by a policy: decisions, the work list that ``exclude`` and ``edit --from``
# carry out, and whether a decision that was stored still stands.

_DECISION = {"drop": "exclude", "fix": "edit", "keep": "keep", "open": ""}


class ReviewedRow(Struct, frozen=True, kw_only=True):
    """A statement on which something is to be done, or left open, as a row of a work list; a person
    may write another ``decision``. ``key`` is what the statement is meant to be, true or false."""

    target: str
    text: str
    key: str
    outcome: ReviewOutcome
    votes: str
    decision: str
    changes: str = ""
    why: str = ""


class Decided(Struct, frozen=True, kw_only=True):
    """What a policy makes of all reviews: how many of each outcome, and each as a row of a file.
    ``reviews`` are the ids of those that it was made from, where they are stored."""

    policy: ReviewPolicy
    outcomes: dict[ReviewOutcome, int]
    rows: tuple[dict[str, object], ...]
    work: tuple[ReviewedRow, ...] = ()
    reviews: tuple[bytes, ...] = ()


def decide_file(path: Path | str, policy: ReviewPolicy) -> Decided:
    """What ``policy`` makes of the reviews in a file; no workspace is asked. Raises BadInput with
    every problem of its rows."""
    stated = read_checked(Path(path), read_reviews)
    names = {one.review.target: one.target for one in stated}
    return _decided_rows(decide([one.review for one in stated], policy), policy, names)


def review_decisions(
    session: Session, target: Target, policy: ReviewPolicy | None = None
) -> Decided:
    """What a policy (else the one in force) makes of the reviews of a bank's or form's statements,
    with the work list of what is to be done. Nothing is stored.

    To do are those that go or change, those that a check found otherwise than meant, and those left
    open; of a statement that reads otherwise since nothing is left to do.
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
    # A reason that does not fit takes no statement away (the paper's five did not either).
    meant = {identity: shown.claim for identity, shown in texts.items() if shown.claim}
    work += [
        _wrong(one, texts[one.target])
        for one in found_otherwise(state.bundled, meant, "truth")
        if one.state == "otherwise" and one.target not in gone
    ]
    reviews = tuple(sorted({one.id for one in state.reviews}))
    return structs.replace(_decided_rows(decisions, policy), work=tuple(work), reviews=reviews)


def _decided_rows(
    decisions: Sequence[ReviewDecision],
    policy: ReviewPolicy,
    names: Mapping[bytes, str] = MappingProxyType({}),
) -> Decided:
    """Decisions as rows; ``names`` are targets in the words of the file they came from."""
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
        why="; ".join(("found otherwise than meant", *one.reasons)),
    )  # fmt: skip


def _votes(votes: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {verdict}" for verdict, n in votes.items())


# Decisions as they were made, and whether their reviews still come to the same.


class LastDecision(Struct, frozen=True, kw_only=True):
    """The newest decision on a bank or form. ``n_new`` reviews came in since, or others are here;
    ``stands`` where its policy and its own reviews come to the same today."""

    made: DecidedReviews
    n_new: int
    stands: bool


def keep_decision(
    session: Session, target: Target, decided: Decided, *, by: str = ""
) -> DecidedReviews:
    """Stores what was decided: the policy, the reviews, what they came to, and who decided; what
    says the same as the newest decision on this target is not stored again. Raises BadUsage where
    nobody has reviewed it."""
    store, found = session.store, session.find(target, "bank", "form")
    if not decided.reviews:
        raise BadUsage(f"nobody has reviewed {found.name}, so nothing is decided")
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
    """The newest decision on a bank or form, or on one that it corrects, and whether it stands;
    None without one."""
    state = ReviewState.of(session.store, target)
    made = session.store.decided.behind(state.found.id)
    if not made:
        return None
    known = set(made[-1].reviews)
    # Reviews of statements that were purged since are no more.
    own = [one for one in state.bundled if one.id in known]
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
