"""Two respondents on the same right-or-wrong units: only the units on which they differ tell."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy import special

__all__ = ["McNemar", "mcnemar", "mcnemar_p"]

Floats = NDArray[np.float64]


class McNemar(Struct, frozen=True, kw_only=True):
    """The four cells of a pair, and the exact test that the two off the diagonal are alike.

    ``p`` is two-sided, from the binomial of the smaller of ``only_first`` and ``only_second`` in
    their sum (McNemar 1947, exact); ``mid_p`` counts half of the cell seen (Fagerland, Lydersen and
    Laake 2013), and is less strict. Units count as independent. ``left_out`` units were missing,
    or neither right nor wrong, for one of the two. Without a discordant unit both are 1.
    """

    both: int
    only_first: int
    only_second: int
    neither: int
    left_out: int
    p: float
    mid_p: float


def mcnemar(first: Floats, second: Floats) -> McNemar:
    """The test of two columns of 0, 1 and NaN (units)."""
    kept = _is_plain(first) & _is_plain(second)
    a, b = first[kept] == 1.0, second[kept] == 1.0
    only_first, only_second = int((a & ~b).sum()), int((~a & b).sum())
    p, mid_p = mcnemar_p(np.array(only_first), np.array(only_second))
    return McNemar(
        both=int((a & b).sum()),
        only_first=only_first,
        only_second=only_second,
        neither=int((~a & ~b).sum()),
        left_out=int((~kept).sum()),
        p=float(p),
        mid_p=float(mid_p),
    )


def mcnemar_p(
    only_first: NDArray[np.integer], only_second: NDArray[np.integer]
) -> tuple[Floats, Floats]:
    """Exact and mid p-values of discordant counts, of any shape."""
    fewer = np.minimum(only_first, only_second)
    total = only_first + only_second
    at_most = special.bdtr(fewer, total, 0.5)
    exactly = at_most - np.where(fewer > 0, special.bdtr(np.maximum(fewer - 1, 0), total, 0.5), 0.0)
    balanced = only_first == only_second
    p = np.where(balanced, 1.0, np.minimum(2.0 * at_most, 1.0))
    mid_p = np.where(balanced, 1.0 - exactly / 2.0, 2.0 * at_most - exactly)
    return p, np.where(total > 0, mid_p, 1.0)


def _is_plain(values: Floats) -> NDArray[np.bool_]:
    return np.asarray((values == 0.0) | (values == 1.0))
