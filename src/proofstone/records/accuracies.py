"""A leaderboard of accuracies alone: models by strata, without the items behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from proofstone.records.cards import Card

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Accuracies"]


@dataclass(frozen=True, slots=True)
class Accuracies:
    """Accuracies in [0, 1] of m models: ``value`` (m, s) in each of s strata, ``overall`` (m) as
    the source states it; NaN where it does not. ``counts`` (s) are the items of each stratum, 0
    where that is not known. ``by`` is what the strata are ("discipline"); ``cards`` are
    what is known of models, by their names."""

    name: str
    models: tuple[str, ...]
    strata: tuple[str, ...]
    value: NDArray[np.float64]
    overall: NDArray[np.float64]
    counts: NDArray[np.int64]
    by: str = "stratum"
    cards: Mapping[str, Card] = field(default_factory=dict)

    @property
    def n_items(self) -> int:
        """All items; 0 where the number of any stratum is not known."""
        return int(self.counts.sum()) if len(self.counts) and (self.counts > 0).all() else 0
