"""Levels of averaging: every unit alike, or every group of units alike.

Encyclo-K's Table 4: sample-wise is the plain mean; subfield-, field- and discipline-wise are
unweighted means of the groups' means. All are linear: unit i of group g has the weight
``1 / (groups * units in g)``. The groups are fixed, not drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Weighting", "equal_weights", "group_weights"]


@dataclass(frozen=True, slots=True)
class Weighting:
    """A partition of n units: ``group`` codes (n) in [0, len(sizes)), no group empty."""

    group: NDArray[np.int64]
    sizes: NDArray[np.float64]

    @property
    def n_groups(self) -> int:
        """How many groups are averaged; 0 where there is no unit."""
        return len(self.sizes)

    def weights(self) -> NDArray[np.float64]:
        """The weight of each unit; they sum to 1."""
        return 1.0 / (self.n_groups * self.sizes[self.group])

    def group_means(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean of each group (groups, C) for every column of ``columns`` (n, C)."""
        return self._group_sums(columns) / self.sizes[:, None]

    def _group_sums(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        if not self.n_groups:
            return np.zeros((0, columns.shape[1]))
        order = np.argsort(self.group, kind="stable")
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.intp)
        return np.add.reduceat(columns[order], starts, axis=0)


def equal_weights(n_units: int) -> Weighting:
    """One group: each unit weighs the same."""
    return group_weights(np.zeros(n_units, dtype=np.int64))


def group_weights(codes: NDArray[np.integer]) -> Weighting:
    """Groups by code (any integers): each group weighs the same, whatever its size."""
    _, group, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    return Weighting(group.astype(np.int64), sizes.astype(np.float64))
