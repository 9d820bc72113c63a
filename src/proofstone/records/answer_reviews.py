"""Questions that people answer by searching, so that their answers are set against a model's."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

__all__ = ["ANSWER_STATES", "AnswerPolicy", "AnswerState", "CheckedAnswer"]

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
    them of ``sources``. These are sites as ``engines.review.read_site`` gives them, sorted. Without
    any page it rests on the document that the question was made from."""

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
