"""A leaderboard of accuracies alone: models by strata, without the items behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from proofstone.records.cards import Card

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Accuracies", "Check", "CheckDone", "Misprint", "PrintedColumn"]

# What one printed number is checked by: a possible share k/n; a total of 100; a metric that follows
# from its parts; the overall from its groups; a difference of two columns; a rank; bounds.
Check = Literal["k/n", "count", "sum to 100", "CGA", "F", "F1", "overall", "CV", "range",
                "difference", "rank", "bounds", "standard error"]  # fmt: skip


class CheckDone(Struct, frozen=True, kw_only=True):
    """One check of one relation (``what``, as "F1 = 2PR / (P + R)"): how many printed numbers were
    checked, and how many do not fit. ``holds``: whether the relation holds in this table at all;
    where it does not, those that do not fit are no misprints."""

    check: Check
    what: str
    n: int
    off: int
    holds: bool = True


class Misprint(Struct, frozen=True, kw_only=True):
    """A printed number that cannot be right as the others stand: its ``row`` and ``cell`` (the
    column, or several of which one is wrong), what is ``printed`` there, what is ``recomputed``,
    and the ``allowed`` rounding."""

    row: str
    cell: str
    check: Check
    printed: str
    recomputed: str
    allowed: str


class PrintedColumn(Struct, frozen=True, kw_only=True):
    """A column that is shown as it is printed, a text for each model."""

    name: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Accuracies:
    """Accuracies in [0, 1] of m models: ``value`` (m, s) in each of s strata, ``overall`` (m) as
    the source states it; NaN where it does not. ``counts`` (s) are the items of each stratum, 0
    where that is not known. ``by`` is what the strata are ("discipline").

    ``score`` is what the overall is called; ``is_mean``: whether it is a mean over items, as F1 is
    not. ``total`` are all items, where that is stated beside the strata; ``n_of`` (m) those of
    each model, ``stderr`` (m) the standard error of its overall, as stated, ``errors`` (m, s) those
    of the strata. ``metrics`` are shown and never averaged. ``checks`` and ``misprints`` are what
    the consistency checks found. ``cards`` are what is known of models, by their names. ``judge``
    is who graded all of them, where that is stated."""

    name: str
    models: tuple[str, ...]
    strata: tuple[str, ...]
    value: NDArray[np.float64]
    overall: NDArray[np.float64]
    counts: NDArray[np.int64]
    by: str = "stratum"
    score: str = "accuracy"
    is_mean: bool = True
    total: int = 0
    n_of: NDArray[np.int64] | None = None
    stderr: NDArray[np.float64] | None = None
    errors: NDArray[np.float64] | None = None
    metrics: Sequence[PrintedColumn] = ()
    checks: Sequence[CheckDone] = ()
    misprints: Sequence[Misprint] = ()
    cards: Mapping[str, Card] = field(default_factory=dict)
    judge: str = ""

    @property
    def n_items(self) -> int:
        """All items; 0 where the number of any stratum is not known, or models have other numbers
        of items."""
        if self.total:
            return self.total
        if len(self.counts):
            return int(self.counts.sum()) if (self.counts > 0).all() else 0
        if self.n_of is not None and len(set(self.n_of.tolist())) == 1:
            return int(self.n_of[0])
        return 0
