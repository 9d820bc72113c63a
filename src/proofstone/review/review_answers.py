"""Questions that people answer: where each stands, what its sheets show, and who may not decide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec import UnsetType, structs

from proofstone.errors import Problem
from proofstone.method import Answers, Reviewing, find_method
from proofstone.records.knowledge import Fact
from proofstone.records.licences import permits_publication
from proofstone.records.reviews import (
    AnswerPolicy,
    CheckedAnswer,
    Review,
    ReviewDecision,
    ReviewOutcome,
    ReviewPolicy,
    ReviewTask,
)
from proofstone.review.decide import decide, latest, pages_of
from proofstone.review.sheets import QUESTIONS, SheetRow, is_private
from proofstone.store.store import Store

_TASKS: Mapping[str, ReviewTask] = {
    "waits for a first answer": "answer",
    "waits for a second answer": "answer",
    "waits for a third person": "third",
    "waits for a comparison": "same",
}


_TWICE = {
    "answer": "this person has looked at others' answers to the question, and cannot answer it",
    "third": "this person has a part in the question already: another third must decide",
    "same": "this person has a part in the question already: somebody else must compare",
}


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


def are_private(store: Store, facts: Iterable[Fact]) -> bool:
    """Whether any of the facts was made from a document that no license permits to publish: what
    only its owners may know, and what nobody is to search the web for."""
    sources = store.knowledge.sources({fact.source for fact in facts if fact.source})
    return not all(permits_publication(source.licence) for source in sources.values())


# ---------------------------------------------------------------- sheets


def answer_tasks(found: Iterable[CheckedAnswer]) -> dict[bytes, ReviewTask]:
    """What the next person is asked about each question that waits for one."""
    return {one.target: _TASKS[one.state] for one in found if one.is_waiting}


def answer_rows(
    method: Reviewing,
    answers: Answers,
    facts: Iterable[Fact],
    found: Iterable[CheckedAnswer],
    grounds: Mapping[bytes, SheetRow] = MappingProxyType({}),
) -> dict[bytes, SheetRow]:
    """What sheets show of questions. Which column a row's ``found`` and ``model`` stand in, and
    whether at all, is the task's: nobody who answers sees either. Whose answer is whose is not
    said. ``grounds`` are the passages that questions about private documents are answered from."""
    checked = {one.target: one for one in found}
    return {
        fact.id: structs.replace(
            grounds.get(fact.id, SheetRow(text="")),
            text=method.review_text(fact).text,
            valid_at=method.review_text(fact).valid_at,
            found=_found(checked[fact.id]),
            model="\n".join(_on_a_line(text) for text in answers.model_answers(fact)),
        )
        for fact in facts
    }


def _found(one: CheckedAnswer) -> str:
    if one.answer:
        return _on_a_line(one.answer)
    return "\n\n".join("\n".join((_on_a_line(answer), *urls)) for answer, urls in one.answers)


def _on_a_line(text: str) -> str:
    return " ".join(text.split())


# ---------------------------------------------------------------- who may not decide


def hand_problems(store: Store, taken: Sequence[tuple[str, Review]]) -> Iterator[Problem]:
    """What is wrong with decisions on questions (each with its place) beside those that are here:
    a person who has a part in a question already, and a third who takes over no answer and names
    fewer than two pages."""
    own = [(where, one) for where, one in taken if one.task in QUESTIONS]
    targets = {one.target for _where, one in own}
    known = latest([*store.reviews.of_facts(targets), *(one for _where, one in own)])
    beside: dict[bytes, list[Review]] = {}
    for one in known:
        if one.task in QUESTIONS:
            beside.setdefault(one.target, []).append(one)
    facts = store.knowledge.facts_by_id(targets, readable=True)
    for where, one in own:
        others = beside[one.target]
        if any(o.who == one.who and o.task != one.task for o in others):
            yield Problem(where, _TWICE[one.task])
        elif (
            one.task == "third"
            and one.verdict == "answered"
            and one.target in facts
            and not _is_private(store, one, facts[one.target])
        ):
            yield from _unsupported(where, one, facts[one.target], others)


def _is_private(store: Store, one: Review, fact: Fact) -> bool:
    """Whether a decision was given without the web: as its sheet was made, else by the document."""
    sheet = None if one.sheet is None else store.reviews.sheet(one.sheet.hex())
    return are_private(store, [fact]) if sheet is None else is_private(sheet)


def _unsupported(
    where: str, one: Review, fact: Fact, others: Sequence[Review]
) -> Iterator[Problem]:
    method = find_method(fact.kind.partition(".")[0]).reviewing
    rule = None if method is None else method.answers
    if rule is None or len(pages_of(one.urls)) >= AnswerPolicy().urls:
        return
    answers = [o.answer for o in others if o.task == "answer"]
    if not any(rule.same_answer(fact, one.answer, answer) for answer in answers):
        yield Problem(where, f"{one.answer!r} is none of the answers that were found, and so needs "
                      "two pages of its own")  # fmt: skip
