"""How large a sum of squares of dependent errors is by chance: by its first two moments.

``e' W e`` of errors e of covariance V is distributed as a weighted sum of chi-squares, of mean
tr(WV) and variance 2 tr((WV)^2). A scaled chi-square of the same two moments stands for it
(Satterthwaite 1946; Box 1954); V is estimated from G groups, so F in its place (Thomas and Rao
1987).
"""

from __future__ import annotations

from scipy import special

__all__ = ["quadratic_p"]


def quadratic_p(statistic: float, trace: float, trace_of_square: float, groups: float) -> float:
    """How often chance reaches ``statistic`` = e' W e, with tr(WV) and tr((WV)^2); V from
    ``groups`` effective groups. NaN without any spread, or with fewer than two groups."""
    if not (trace > 0.0 and trace_of_square > 0.0 and groups >= 2.0):
        return float("nan")
    df = trace**2 / trace_of_square
    return float(special.fdtrc(df, df * (groups - 1.0), statistic / trace))
