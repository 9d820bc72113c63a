"""What a method may have besides, so that people can review its facts in sheets, and so that they
and the judges of its builds can be compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from proofstone.records import Fact, ReviewTask, ReviewText

__all__ = ["ComparedQuestion", "JudgedText", "JudgesCompared", "Reviews"]


@runtime_checkable
class Reviews(Protocol):
    """What a reviewer is shown of a fact, and which field a new wording goes into."""

    def review_text(self, fact: Fact) -> ReviewText:
        """The fact as a reviewer reads it; nothing of what it is meant to be stands in ``text``."""


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
