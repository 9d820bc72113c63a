"""Facility location: how well a set of items covers weighted references.

F(S) = sum over references u of mu(u) * max over items q in S of c(q, u), with c in [0, 1] and
mu >= 0. F of the empty set is 0. It is monotone and submodular (Nemhauser, Wolsey and Fisher 1978;
KINA, appendix B, equation 2 and Proposition 1). The scores c come from the caller.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proofstone.errors import BadInput, Problem

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
BLOCK = 1 << 21  # numbers in a temporary array


@dataclass(frozen=True, slots=True, eq=False)
class Coverage:
    """An objective. Items and references are in the order of their ids.

    ``weighted`` is mu(u) * c(q, u), as float64: an array (items, references) or its CSR form.
    """

    items: tuple[str, ...]
    references: tuple[str, ...]
    weights: Floats
    weighted: Floats | sparse.csr_array

    @property
    def pairs(self) -> int:
        """The number of pairs with a score and a weight above 0."""
        if isinstance(self.weighted, np.ndarray):
            return int(np.count_nonzero(self.weighted))
        return int(self.weighted.nnz)

    def rows(self, items: Iterable[str]) -> Rows:
        """Return the positions of these items; all unknown ones raise BadInput together."""
        at = {item: row for row, item in enumerate(self.items)}
        items = list(items)
        unknown = [
            Problem("items", f"{item!r} is not a candidate") for item in items if item not in at
        ]
        if unknown:
            raise BadInput("Items of a selection are unknown.", unknown)
        return np.array([at[item] for item in items], dtype=np.int64)

    def covered(self, rows: Sequence[int] | Rows) -> Floats:
        """Return mu(u) * max c(q, u) over these items, by reference; 0 without items."""
        found = np.zeros(len(self.references))
        for row in rows:
            self.cover(found, int(row))
        return found

    def cover(self, covered: Floats, row: int) -> None:
        """Add one item to ``covered``, in place."""
        if isinstance(self.weighted, np.ndarray):
            np.maximum(covered, self.weighted[row], out=covered)
            return
        part = slice(self.weighted.indptr[row], self.weighted.indptr[row + 1])
        columns = self.weighted.indices[part]
        covered[columns] = np.maximum(covered[columns], self.weighted.data[part])

    def value(self, rows: Sequence[int] | Rows) -> float:
        """Return F of these items."""
        return math.fsum(self.covered(rows))

    def gains(self, prices: Floats, rows: Rows | None = None) -> Floats:
        """Return sum over u of max(0, mu(u) * c(q, u) - prices(u)) by item.

        With ``prices = covered(S)`` it is the marginal gain of each item. A sum has the same
        order of terms each time, so a rounded gain never grows while S does.
        """
        if rows is None:
            rows = np.arange(len(self.items))
        if isinstance(self.weighted, np.ndarray):
            return self._dense_gains(self.weighted, prices, rows)
        return self._sparse_gains(self.weighted, prices, rows)

    def _dense_gains(self, weighted: Floats, prices: Floats, rows: Rows) -> Floats:
        found = np.empty(len(rows))
        step = max(1, BLOCK // max(1, len(self.references)))
        for start in range(0, len(rows), step):
            left = weighted[rows[start : start + step]]
            left -= prices
            np.maximum(left, 0, out=left)
            found[start : start + step] = left.sum(axis=1)
        return found

    def _sparse_gains(self, weighted: sparse.csr_array, prices: Floats, rows: Rows) -> Floats:
        found = np.zeros(len(rows))
        starts = weighted.indptr[rows].astype(np.int64)
        lengths = weighted.indptr[rows + 1] - starts
        ends = np.cumsum(lengths)
        cuts = np.searchsorted(ends, np.arange(BLOCK, ends[-1] if len(ends) else 0, BLOCK))
        for first, last in pairwise([0, *np.unique(cuts).tolist(), len(rows)]):
            some = np.flatnonzero(lengths[first:last]) + first
            if not len(some):
                continue
            before = np.cumsum(lengths[some]) - lengths[some]
            at = np.repeat(starts[some] - before, lengths[some])
            at += np.arange(len(at))
            left = np.maximum(weighted.data[at] - prices[weighted.indices[at]], 0)
            found[some] = np.add.reduceat(left, before)
        return found


def coverage(
    items: Sequence[str],
    references: Sequence[str],
    scores: NDArray[np.floating] | sparse.csr_array | sparse.csr_matrix,
    weights: Sequence[float] | Floats | None = None,
) -> Coverage:
    """Return the objective of scores (items, references) in [0, 1] and weights of references.

    Without weights each reference has 1 / (number of references). ``scores`` is float32 or
    float64, dense or CSR; a pair that CSR leaves out has 0. The result does not depend on the
    order of items or references. Raises BadInput with all problems.
    """
    n, m = len(items), len(references)
    mu = np.full(m, 1 / max(m, 1)) if weights is None else np.asarray(weights, dtype=np.float64)
    problems = [*_repeated("items", items), *_repeated("references", references)]
    if scores.shape != (n, m):
        problems.append(Problem("scores", f"their shape is {scores.shape}, not {(n, m)}"))
    else:
        problems += _outside(items, references, scores)
    if mu.shape != (m,):
        problems.append(Problem("weights", f"their shape is {mu.shape}, not {(m,)}"))
    else:
        wrong = np.flatnonzero(~((mu >= 0) & np.isfinite(mu)))
        problems += [
            Problem(f"weight of {references[at]!r}", f"{mu[at]} is not a number of at least 0")
            for at in wrong.tolist()
        ]
    if problems:
        raise BadInput("A selection cannot be made from these scores.", problems)
    rows, columns = _order(items), _order(references)
    return Coverage(
        tuple(items[row] for row in rows.tolist()),
        tuple(references[column] for column in columns.tolist()),
        mu[columns],
        _weighted(scores, mu, rows, columns),
    )


def _order(ids: Sequence[str]) -> Rows:
    return np.array(sorted(range(len(ids)), key=ids.__getitem__), dtype=np.int64)


def _weighted(
    scores: NDArray[np.floating] | sparse.csr_array | sparse.csr_matrix,
    mu: Floats,
    rows: Rows,
    columns: Rows,
) -> Floats | sparse.csr_array:
    if isinstance(scores, np.ndarray):
        if np.array_equal(columns, np.arange(len(columns))):
            kept = scores if np.array_equal(rows, np.arange(len(rows))) else scores[rows]
        else:
            kept = scores[np.ix_(rows, columns)]
        return np.ascontiguousarray(np.multiply(kept, mu[columns], dtype=np.float64))
    made = sparse.csr_array(scores, dtype=np.float64, copy=True)
    made.data *= mu[made.indices]
    made = made[rows]
    new = np.empty(len(columns), dtype=made.indices.dtype)
    new[columns] = np.arange(len(columns))
    made = sparse.csr_array((made.data, new[made.indices], made.indptr), shape=made.shape)
    made.eliminate_zeros()
    made.sort_indices()
    return made


def _repeated(where: str, ids: Sequence[str]) -> list[Problem]:
    return [
        Problem(where, f"{one!r} is listed {times} times")
        for one, times in Counter(ids).items()
        if times > 1
    ]


def _outside(
    items: Sequence[str],
    references: Sequence[str],
    scores: NDArray[np.floating] | sparse.csr_array | sparse.csr_matrix,
) -> list[Problem]:
    if isinstance(scores, np.ndarray):
        if not scores.size or (scores.min() >= 0 and scores.max() <= 1):
            return []
        places = np.argwhere(~((scores >= 0) & (scores <= 1)))
        return [
            _bad_score(items[row], references[column], float(scores[row, column]))
            for row, column in places.tolist()
        ]
    if not scores.has_canonical_format and len(scores.data):
        sorted_copy = sparse.csr_array(scores, copy=True)
        sorted_copy.sort_indices()
        if not sorted_copy.has_canonical_format:
            return [Problem("scores", "a pair is listed twice; sum_duplicates() or drop one")]
    wrong = np.flatnonzero(~((scores.data >= 0) & (scores.data <= 1)))
    rows = np.searchsorted(scores.indptr, wrong, side="right") - 1
    return [
        _bad_score(items[row], references[scores.indices[at]], float(scores.data[at]))
        for row, at in zip(rows.tolist(), wrong.tolist(), strict=True)
    ]


def _bad_score(item: str, reference: str, score: float) -> Problem:
    return Problem(f"score of {item!r} for {reference!r}", f"{score} is not within 0 and 1")
