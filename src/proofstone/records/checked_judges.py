"""Judges of a build checked by people: both on the same statements."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from proofstone.records.results import Estimate
from proofstone.records.reviews import ReviewTask

__all__ = ["CheckedJudge", "CheckedQuestion"]


class CheckedJudge(Struct, frozen=True, kw_only=True):
    """One ``judge``, or where it is empty what all together decided, against people.

    ``counts[i][j]`` are the statements that people gave label i and the judge label j; on
    ``silent`` more, which people labelled, the judge gave none. ``measures`` are agreement and
    coefficients by name; none where no statement has both labels.
    """

    judge: str
    counts: tuple[tuple[int, ...], ...]
    silent: int
    measures: Mapping[str, Estimate] = {}

    @property
    def n(self) -> int:
        """The statements that both labelled."""
        return sum(map(sum, self.counts))

    @property
    def agreed(self) -> int:
        """Those of them that have one label by both."""
        return sum(row[place] for place, row in enumerate(self.counts))


class CheckedQuestion(Struct, frozen=True, kw_only=True):
    """A question to the judges of a ``build``, and what people said on the same statements when
    asked for ``task``.

    ``labels`` are those of the judges. Of the bank's statements ``judged`` were judged as they
    read, and of these ``read`` by people, who came to no label on ``unsure``. ``against`` counts
    verdicts against texts that did not come into the bank, where no person reads them. ``judges``:
    all together first where they are several, then each.
    """

    build: bytes
    step: str
    question: str
    task: ReviewTask
    labels: tuple[str, ...]
    judged: int
    read: int
    unsure: int
    against: int
    judges: tuple[CheckedJudge, ...] = ()
