"""What people who review a bank of questions are shown, and what their answers come to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from proofstone.methods.chinese_simpleqa.authoritative import authoritative_sites, carried_sites
from proofstone.methods.chinese_simpleqa.payloads import Pair
from proofstone.methods.chinese_simpleqa.people_check import check_answer, is_same_answer
from proofstone.records import AnswerPolicy, CheckedAnswer, Fact, Review, ReviewText

__all__ = ["answer_policy", "check_answers", "model_answers", "review_text", "same_answer"]


def review_text(fact: Fact) -> ReviewText:
    """The question, and the date for which it holds; nothing of its answer, its pages or where it
    was taken from."""
    pair: Pair = fact.payload
    return ReviewText(text=pair.question, valid_at=pair.validity)


def model_answers(fact: Fact) -> tuple[str, ...]:
    """The model's answer, and other ways to say it."""
    pair: Pair = fact.payload
    return pair.answers


def same_answer(fact: Fact, first: str, second: str) -> bool:
    """See ``people_check.is_same_answer``."""
    return is_same_answer(first, second, fact.payload)


def answer_policy(lines: Iterable[str] = (), name: str = "") -> AnswerPolicy:
    """What answers must rest on by the paper: two pages each, and the carried sources as a list of
    one's own changes them. Raises BadInput for a list that cannot be read."""
    return AnswerPolicy(sources=authoritative_sites(lines, name, carried_sites()))


def check_answers(
    facts: Sequence[Fact], reviews: Iterable[Review], policy: AnswerPolicy
) -> Sequence[CheckedAnswer]:
    """Where each question stands, in their order; see ``people_check.check_answer``."""
    of: dict[bytes, list[Review]] = {}
    for one in reviews:
        of.setdefault(one.target, []).append(one)
    return [check_answer(fact.id, fact.payload, of.get(fact.id, ()), policy) for fact in facts]
