"""Where the review of a bank or form stands: what of it people read, and what came of that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from msgspec import Struct, structs

from proofstone.build.inputs import builder_of
from proofstone.correct.edit import fields_of
from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.method import Answers, Method, Reviewing, find_method
from proofstone.records.ids import short
from proofstone.records.knowledge import Fact, permits_publication
from proofstone.records.reviews import (
    ANSWER_STATES,
    CHECK_TASKS,
    AnswerState,
    CheckedRate,
    Review,
    ReviewDecision,
    ReviewOutcome,
    ReviewPolicy,
    ReviewTask,
    ReviewText,
    latest,
)
from proofstone.results.truth_check import checked_rates
from proofstone.review.policy import checked_answers, decided_of, usual_policy
from proofstone.review.workbook import TASKS
from proofstone.session.session import Session, Target, find_target
from proofstone.store.lookup import Found
from proofstone.store.store import Store


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
        retired = set(self.store.corrections.retired_facts(fact.id for fact in facts))
        return [fact for fact in facts if fact.id not in retired]

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
    def carried(self) -> Sequence[Review]:
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
        return decided_of(self.reviewing, self.facts, self.carried, policy)

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
    return not all(permits_publication(source.licence) for source in sources.values())


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
    retired = set(store.corrections.retired_facts(fact.id for fact in state.facts))
    outcomes: dict[ReviewOutcome, int] = {"keep": 0, "fix": 0, "drop": 0, "open": 0}
    done = 0
    for one in decisions:
        outcomes[one.outcome] += 1
        current = now[one.target]
        done += one.outcome == "drop" and current in retired
        done += one.outcome == "fix" and state.is_fixed(one, current)
    people = {one.reviewer for one in reviews if one.reviewer and one.task not in CHECK_TASKS}
    return Standing(
        target=state.found.name, n=len(state.facts) + state.n_purged,
        n_read=len({now[d.target] for d in decisions}),
        n_people=len(people), policy=policy, outcomes=outcomes, carried_out=done,
        readers=tuple(_progress(state)), rates=checked_rates(store, state.reviewing, reviews),
        purged=state.n_purged, states=_states(state, policy),
    )  # fmt: skip


def _states(state: ReviewState, policy: ReviewPolicy) -> dict[AnswerState, int]:
    if state.answers is None:
        return {}
    found = checked_answers(state.answers, state.facts, state.carried, policy)
    counts = Counter(one.state for one in found)
    return {each: counts[each] for each in ANSWER_STATES}


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
