"""What a method may have besides, so that people can review its facts in sheets, and so that they
and the judges of its builds can be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from proofstone.records import AnswerPolicy, CheckedAnswer, Fact, Review, ReviewTask, ReviewText

__all__ = ["ComparedQuestion", "JudgedText", "JudgesCompared", "Reviews", "ReviewsAnswers"]


@runtime_checkable
class Reviews(Protocol):
    """What a reviewer is shown of a fact, and which field a new wording goes into."""

    def review_text(self, fact: Fact) -> ReviewText:
        """The fact as a reviewer reads it; nothing of what it is meant to be stands in ``text``."""


@runtime_checkable
class ReviewsAnswers(Reviews, Protocol):
    """A method whose questions people answer by searching; their answers are set against those that
    its facts hold. ``review_text`` shows a question and nothing of an answer."""

    def model_answers(self, fact: Fact) -> tuple[str, ...]:
        """The answer that a fact holds, and other ways to say that very answer."""

    def same_answer(self, fact: Fact, first: str, second: str) -> bool:
        """Whether two people gave one answer, by the method's rule of sameness."""

    def answer_policy(self, lines: Iterable[str] = (), name: str = "") -> AnswerPolicy:
        """What answers must rest on; ``lines`` of a person's own list, the file ``name``, change
        which sources are authoritative. Raises BadInput for a list that cannot be read."""

    def check_answers(
        self, facts: Sequence[Fact], reviews: Iterable[Review], policy: AnswerPolicy
    ) -> Sequence[CheckedAnswer]:
        """Where each question stands, in their order: pure, and of all reviews."""


class JudgedText(Struct, frozen=True):
    """What judges had before them, as a reviewer would be shown the fact that it became; with the
    ids of its passage and source, empty where there is none."""

    text: ReviewText
    passage: bytes
    source: bytes


class ComparedQuestion(Struct, frozen=True, kw_only=True):
    """A question to the judges of a build that people answer too when asked for ``task``.

    ``labels`` are those of the judges, the one that keeps a row first. ``people`` gives the label
    that a verdict of a person amounts to; verdicts that it lacks say nothing here. ``takes`` is the
    type of the rows that were judged, ``judged`` what of such a row the question was about, None
    where it was not asked.
    """

    task: ReviewTask
    labels: tuple[str, ...]
    people: Mapping[str, str]
    takes: type[Struct]
    judged: Callable[[Any], JudgedText | None]


@runtime_checkable
class JudgesCompared(Protocol):
    """A method that says which questions to its judges are also put to people, by name."""

    compared: Mapping[str, ComparedQuestion]
