"""What the experiments are read from: verified runs, how each was asked, and what was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from msgspec import Struct

from proofstone.report.triples.board import TripleBoard, TripleRow
from proofstone.report.triples.experiments.tallies import Tallies

__all__ = ["Asked", "Experiment", "Varied"]

Varied = Literal["prompts", "range", "effort"]


class Asked(Struct, frozen=True, kw_only=True):
    """How the runs of a board's ``row`` were asked, and what that took. ``group`` is its place
    in the tallies, ``others`` whatever else was set (equal where that is the same) and ``told`` as
    much of it as sets it apart from others of its model. ``replies`` of ``wanted`` ones are there;
    tokens and US dollars are means of a reply, None where they are not known."""

    row: TripleRow
    group: int
    prompts: str
    range: str
    effort: str = ""
    others: bytes = b""
    told: str = ""
    replies: int = 0
    wanted: int = 0
    tokens: float | None = None
    reasoning: float | None = None
    usd: float | None = None

    @property
    def is_verified(self) -> bool:
        """Whether something of both directions was judged."""
        return "f1" in self.row.measured.estimates

    @property
    def is_complete(self) -> bool:
        """Whether no reply is missing, and no triple waits."""
        return self.replies >= self.wanted and not self.row.waiting


@dataclass(frozen=True, slots=True)
class Experiment:
    """Verified runs as experiments read them. ``grids`` are the values that each sweep is to have,
    ``usual`` the one that the others are held against, where it was asked; ``ask`` is the command
    that asks what is missing of an experiment ({models}, {preset}), ``score`` the one that verifies
    ({targets})."""

    board: TripleBoard
    asked: tuple[Asked, ...]
    tallies: Tallies
    grids: Mapping[Varied, tuple[str, ...]]
    usual: Mapping[Varied, str]
    ask: str
    score: str
