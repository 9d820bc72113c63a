"""Does the ranking survive other items? Subsamples without replacement, and the bootstrap with.

A subsample of the share r of n items differs from the whole by a variance of (1 - r) / r of what a
fresh sample of n items would differ from another's mean: all of it at 0.5, 0.43 at 0.7, 0.11 at
0.9. So stability at 0.9 says what a tenth fewer items do, not what other items would (each result
says its ``variance_share``). KINA (section 5.2, Table 4) calls such subsamples a bootstrap.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.engines.stats.resampling import (
    Strata,
    blocks_of_draws,
    bootstrap_counts,
    generator,
    subsample_counts,
)
from proofstone.engines.stats.standings_by_draw import means_by_draw, ranks_of
from proofstone.errors import BadUsage

__all__ = [
    "RankSpread",
    "Scheme",
    "Stability",
    "Summary",
    "bootstrap_stability",
    "subsample_stability",
    "summarise_draws",
]

Floats = NDArray[np.float64]
Ranks = NDArray[np.int32]
Scheme = Literal["subsampling without replacement", "bootstrap with replacement"]

_BOOTSTRAP = 1


class Summary(Struct, frozen=True, kw_only=True):
    """A quantity over ``n`` draws in which it is defined: its mean, standard deviation (n - 1),
    2.5% and 97.5% quantiles, and the Monte Carlo standard error of the mean. NaN without any."""

    mean: float
    sd: float
    low: float
    high: float
    error: float
    n: int


class RankSpread(Struct, frozen=True, kw_only=True):
    """The ranks of one respondent over the draws: ``counts[r]`` draws gave it rank r + 1.

    ``rank`` is that of the full sample; ``low`` and ``high`` hold 95% of the draws. Equal means
    share the best of their ranks.
    """

    respondent: int
    rank: int
    mean: float
    low: int
    high: int
    counts: tuple[int, ...]


class Stability(Struct, frozen=True, kw_only=True):
    """What one scheme of drawing items does to the ranking of respondents (columns).

    ``top`` are those that the full sample ranks k-th or better, best first; a tie at k makes it
    longer. ``tau`` is Kendall's tau-b over them between the full sample and a draw, undefined in
    draws where all of them tie; ``overlap`` the share of them that a draw has in its own top k
    (the longer of the two lists is the denominator). ``first_alone``: the share of draws in which
    the leader of the full sample (one of its ``leaders``) is first and no other ties with it;
    ``first_shared``: in which it is first, alone or tied. ``variance_share``: how much of the
    variance of a fresh sample these draws hold.
    """

    scheme: Scheme
    resampled: str
    rate: float
    variance_share: float
    n_draws: int
    seed: int
    n_units: int
    n_drawn: int
    k: int
    top: tuple[int, ...]
    leaders: tuple[int, ...]
    tau: Summary
    overlap: Summary
    first_alone: float
    first_shared: float
    ranks: tuple[RankSpread, ...]


def subsample_stability(
    values: Floats,
    strata: NDArray[np.integer] | None = None,
    *,
    k: int = 10,
    rates: Sequence[float] = (0.5, 0.7, 0.9),
    n_draws: int = 1_000,
    seed: int = 0,
    weights: Floats | None = None,
) -> tuple[Stability, ...]:
    """One result a rate, from subsamples without replacement within ``strata`` (codes, units).

    ``values`` (units, respondents): unit means, NaN where a cell is missing; a respondent is
    ranked by the units that it has. ``weights`` (units, >= 0) weigh them. A rate's draws do not
    depend on the other rates. Raises BadUsage for a rate outside (0, 1], k or draws below 1.
    """
    if bad := [rate for rate in rates if not 0.0 < rate <= 1.0]:
        raise BadUsage(f"{bad[0]:g} is no share of the items", hint="give rates like 0.5,0.7,0.9")
    _check(k, n_draws)
    drawn_from = Strata.of(strata, len(values))
    field = _Field(values, drawn_from, weights, k, seed)
    found = []
    for rate in rates:
        rng = generator(seed, round(rate * 1e9))
        counts = (
            subsample_counts(drawn_from, rate, number, rng)
            for number in blocks_of_draws(len(values), n_draws)
        )
        found.append(field.measure(counts, "subsampling without replacement", rate))
    return tuple(found)


def bootstrap_stability(
    values: Floats,
    strata: NDArray[np.integer] | None = None,
    *,
    k: int = 10,
    n_draws: int = 1_000,
    seed: int = 0,
    weights: Floats | None = None,
) -> Stability:
    """The same from draws of as many units with replacement, within ``strata``."""
    _check(k, n_draws)
    drawn_from = Strata.of(strata, len(values))
    rng = generator(seed, _BOOTSTRAP)
    counts = (
        bootstrap_counts(drawn_from, number, rng)
        for number in blocks_of_draws(len(values), n_draws)
    )
    field = _Field(values, drawn_from, weights, k, seed)
    return field.measure(counts, "bootstrap with replacement", 1.0)


def summarise_draws(drawn: Floats) -> Summary:
    """A quantity's draws (n) as their summary; NaN among them are left out."""
    kept = drawn[~np.isnan(drawn)]
    n = len(kept)
    if not n:
        nan = float("nan")
        return Summary(mean=nan, sd=nan, low=nan, high=nan, error=nan, n=0)
    sd = float(kept.std(ddof=1)) if n > 1 else float("nan")
    low, high = np.quantile(kept, [0.025, 0.975]).tolist()
    return Summary(mean=float(kept.mean()), sd=sd, low=low, high=high, error=sd / n**0.5, n=n)


def _check(k: int, n_draws: int) -> None:
    if k < 1 or n_draws < 1:
        raise BadUsage(f"a top {k} in {n_draws} draws is nothing", hint="give 1 or more of each")


class _Field:
    """All respondents of one full sample, against which draws are held."""

    def __init__(
        self, values: Floats, strata: Strata, weights: Floats | None, k: int, seed: int
    ) -> None:
        self.values = values[strata.order]
        self.weights = None if weights is None else weights[strata.order]
        self.is_stratified = len(strata.sizes) > 1
        self.k, self.seed = k, seed
        everything = np.ones((1, len(values)), dtype=np.float32)
        self.means = means_by_draw(everything, self.values, self.weights)
        self.ranks = ranks_of(self.means)[:, 0]
        order = np.argsort(self.ranks, kind="stable")
        self.top = order[self.ranks[order] <= k]

    def measure(
        self, blocks: Iterable[NDArray[np.float32]], scheme: Scheme, rate: float
    ) -> Stability:
        n_drawn, ranks = self._ranked(blocks)
        alone, shared = self._first(ranks)
        n_units = len(self.values)
        is_bootstrap = scheme == "bootstrap with replacement"
        return Stability(
            scheme=scheme,
            resampled="items within strata" if self.is_stratified else "items",
            rate=rate,
            variance_share=1.0 if is_bootstrap else (1.0 - rate) / rate,
            n_draws=ranks.shape[1],
            seed=self.seed,
            n_units=n_units,
            n_drawn=n_drawn,
            k=self.k,
            top=tuple(self.top.tolist()),
            leaders=tuple(np.flatnonzero(self.ranks == 1).tolist()),
            tau=summarise_draws(_tau_b_by_draw(self.ranks[self.top], ranks[self.top])),
            overlap=summarise_draws(self._overlap(ranks)),
            first_alone=alone,
            first_shared=shared,
            ranks=_rank_spreads(self.ranks, ranks),
        )

    def _ranked(self, blocks: Iterable[NDArray[np.float32]]) -> tuple[int, Ranks]:
        """How many units a draw holds, and all ranks (respondents, draws)."""
        parts, n_drawn = [], 0
        for counts in blocks:
            n_drawn = int(counts[0].sum())
            parts.append(ranks_of(means_by_draw(counts, self.values, self.weights)))
        return n_drawn, np.concatenate(parts, axis=1)

    def _first(self, ranks: Ranks) -> tuple[float, float]:
        """In which share of draws a leader is first, without and with a tie."""
        if not len(ranks):
            return float("nan"), float("nan")
        leads = self.ranks == 1
        is_first = (ranks[leads] == 1).any(axis=0)
        has_rival = (ranks[~leads] == 1).any(axis=0)
        return float((is_first & ~has_rival).mean()), float(is_first.mean())

    def _overlap(self, ranks: Ranks) -> Floats:
        in_draw = (ranks <= self.k).sum(axis=0)
        both = (ranks[self.top] <= self.k).sum(axis=0)
        longer = np.maximum(in_draw, len(self.top)).astype(np.float64)
        return np.asarray(both / np.where(longer > 0, longer, np.nan))


def _tau_b_by_draw(full: Ranks, drawn: Ranks) -> Floats:
    """Kendall's tau-b between ``full`` (m) and every column of ``drawn`` (m, draws)."""
    a, b = np.triu_indices(len(full), 1)
    x = np.sign(full[a] - full[b]).astype(np.float32)
    y = np.sign(drawn[a] - drawn[b]).astype(np.float32)
    scale = np.sqrt(float((x**2).sum()) * np.abs(y).sum(axis=0, dtype=np.float64))
    return np.asarray((x @ y) / np.where(scale > 0, scale, np.nan), dtype=np.float64)


def _rank_spreads(full: Ranks, drawn: Ranks) -> tuple[RankSpread, ...]:
    m, n_draws = drawn.shape
    cells = np.arange(m)[:, None] * m + drawn - 1
    counts = np.bincount(cells.ravel(), minlength=m * m).reshape(m, m)
    reached = np.cumsum(counts, axis=1)
    low = 1 + (reached < 0.025 * n_draws).sum(axis=1)
    high = 1 + (reached < 0.975 * n_draws).sum(axis=1)
    return tuple(
        RankSpread(
            respondent=place,
            rank=int(full[place]),
            mean=float(drawn[place].mean()),
            low=int(low[place]),
            high=int(high[place]),
            counts=tuple(counts[place].tolist()),
        )
        for place in range(m)
    )
