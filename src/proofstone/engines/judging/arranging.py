"""The same question in other orders, so that a judge's liking for a place shows and cancels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from proofstone.draws import Draws
from proofstone.identity import canonical_json, digest
from proofstone.records import JudgeQuestion, Label

__all__ = ["arrangements"]

# Orders are drawn until enough differ; where there are too few, drawing ends after so many.
_TRIES_EACH = 64


def arrangements(question: JudgeQuestion, n: int) -> tuple[JudgeQuestion, ...]:
    """``n`` different arrangements: the first as given, the second with labels and compared texts
    reversed, the others drawn by the question's own content. Fewer where there are not so many.

    ValueError for ``n`` below 1.
    """
    if n < 1:
        raise ValueError(f"a question is asked in one order at least, not {n}")
    made: dict[bytes, JudgeQuestion] = {}
    for arranged in _orders(question, _TRIES_EACH * n):
        made.setdefault(canonical_json(arranged), arranged)
        if len(made) == n:
            break
    return tuple(made.values())


def _orders(question: JudgeQuestion, tries: int) -> Iterator[JudgeQuestion]:
    places, labels = question.compared, question.labels
    yield question
    yield _arranged(question, labels[::-1], places[::-1])
    draws = Draws(int.from_bytes(digest(canonical_json(question))[:8], "little"), 0, "judge orders")
    for _ in range(tries):
        yield _arranged(question, draws.shuffled(labels), draws.shuffled(places))


def _arranged(
    question: JudgeQuestion, labels: Sequence[Label], sources: Sequence[int]
) -> JudgeQuestion:
    exhibits = list(question.exhibits)
    for place, source in zip(question.compared, sources, strict=True):
        exhibits[place] = question.exhibits[source]
    return structs.replace(question, labels=tuple(labels), exhibits=tuple(exhibits))
