"""Sheets in which questions are answered: two people each, a third where they differ, and somebody
who compares with the model's answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, UnsetType, structs

from proofstone.engines.review import SheetRow
from proofstone.engines.store import Found, Store
from proofstone.errors import BadUsage
from proofstone.ports import Reviews, ReviewsAnswers
from proofstone.records import Fact, ReviewPlace, ReviewTask
from proofstone.stages.review_answers import answer_rows, answer_tasks, checked_answers
from proofstone.stages.review_facts import carried, reviewed_texts, reviews_of, shown_rows
from proofstone.stages.review_policies import policy_in_force
from proofstone.stages.sheets_asked import SheetsAsked

__all__ = ["QuestionsGiven", "completed", "questions_given"]

_IN_ORDER: tuple[ReviewTask, ...] = ("answer", "third", "same")
_OVERLAP = 0.2


class QuestionsGiven(Struct, frozen=True):
    """Of questions that people answer: what each is asked about, and what is shown of it."""

    tasks: Mapping[bytes, ReviewTask]
    rows: Mapping[bytes, SheetRow]
    is_private: bool = False

    def places(self, facts: Sequence[Fact]) -> list[ReviewPlace]:
        """What a sheet asks about these, tab by tab."""
        places = [ReviewPlace(self.tasks[fact.id], "fact", fact.id) for fact in facts]
        return sorted(places, key=lambda place: _IN_ORDER.index(place.task))


def completed(method: Reviews, asked: SheetsAsked) -> SheetsAsked:
    """With what was not named. Raises BadUsage for what questions leave no choice of."""
    if not isinstance(method, ReviewsAnswers):
        return asked if asked.overlap is not None else structs.replace(asked, overlap=_OVERLAP)
    named = {
        "--truth": asked.truth, "--half-width": asked.half_width, "--only": asked.only or None,
        "--overlap": asked.overlap, "--readers": asked.readers,
    }  # fmt: skip
    refused = [name for name, value in named.items() if value is not None]
    if refused:
        raise BadUsage(
            f"{', '.join(refused)}: questions are answered by two people each, and by a third "
            "where they differ",
            hint="leave it out; --undecided gives out what comes after the first two",
        )
    readers = None if asked.undecided else min(2, len(asked.people))
    return structs.replace(asked, overlap=1.0, readers=readers)


def questions_given(
    store: Store, found: Found, method: Reviews, chosen: Sequence[Fact], asked: SheetsAsked
) -> QuestionsGiven | None:
    """None for statements. At first all are to be answered; what is open, as far as it came."""
    if not isinstance(method, ReviewsAnswers):
        return None
    reviews, now = reviews_of(store, chosen)
    policy = asked.policy or policy_in_force(store, found)
    reviews = carried(store, method, chosen, reviews, now)
    states = checked_answers(method, chosen, reviews, policy)
    tasks = answer_tasks(states) if asked.undecided else {}
    is_private = not isinstance(policy.answers, UnsetType) and not policy.answers.urls
    grounds = shown_rows(store, chosen, reviewed_texts(method, chosen)) if is_private else {}
    return QuestionsGiven(
        {fact.id: tasks.get(fact.id, "answer") for fact in chosen},
        answer_rows(method, chosen, states, grounds),
        is_private,
    )
