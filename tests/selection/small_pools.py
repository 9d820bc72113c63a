"""Small pools of scores, and slow literal computations on them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from proofstone.selection.objective import Coverage, coverage


def drawn(seed: int, n: int, m: int, *, density: float = 0.6, ties: bool = False) -> Coverage:
    """Return random scores; with ``ties`` they are quarters, and weights are eighths."""
    rng = np.random.default_rng(seed)
    scores = rng.random((n, m)) * (rng.random((n, m)) < density)
    weights = rng.dirichlet(np.ones(m)) if m else np.zeros(0)
    if ties:
        scores, weights = np.round(scores * 4) / 4, np.round(weights * 8) / 8
    return coverage(names("q", n), names("u", m), scores, weights)


def names(letter: str, count: int) -> list[str]:
    return [f"{letter}{at:03d}" for at in range(count)]


def literal(scores: NDArray[np.float64], weights: NDArray[np.float64], rows: list[int]) -> float:
    """Equation 2 of appendix B, term by term."""
    total = 0.0
    for u, weight in enumerate(weights):
        total += weight * max((scores[q, u] for q in rows), default=0.0)
    return float(total)


def best_of(pool: Coverage, k: int, allowed=lambda rows: True) -> float | None:  # type: ignore[no-untyped-def]
    """The largest value of k allowed items, by trying all; None if there are none."""
    values = [pool.value(rows) for rows in combinations(range(len(pool.items)), k) if allowed(rows)]
    return max(values, default=None)


def as_sparse(scores: NDArray[np.float64]) -> sparse.csr_array:
    return sparse.csr_array(scores)


pools = st.builds(
    drawn,
    st.integers(0, 10**6),
    st.integers(1, 9),
    st.integers(0, 7),
    density=st.sampled_from([0.2, 0.6, 1.0]),
    ties=st.booleans(),
)
