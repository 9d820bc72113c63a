"""How far the strongest respondents stand apart in each stratum, and how far chance alone would
have put them.

KINA's Table 7 gives mean, standard deviation, coefficient of variation, maximum, minimum and range
of the top ten by discipline; the disciplines with the widest range are those with the fewest items.
So beside each range stands the one to expect of respondents of equal skill on as many items, and
beside each standard deviation what is left of it after taking out the sampling variance.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.engines.stats.clusters import SharedKeys
from proofstone.engines.stats.flags import Estimand, Flag
from proofstone.engines.stats.normal_range import expected_range, range_p
from proofstone.engines.stats.power import Assumed
from proofstone.engines.stats.spread import measure_spread
from proofstone.engines.stats.weights import equal_weights
from proofstone.errors import BadUsage

__all__ = ["Discrimination", "discriminate", "discriminate_shares", "top_k"]

Floats = NDArray[np.float64]

INDEPENDENT = Assumed(repeatability=1.0, correlation=0.0)


class Discrimination(Struct, frozen=True, kw_only=True):
    """One stratum (a code) over k respondents; shares in [0, 1], ``cv`` in percent.

    ``sd`` divides by k, as KINA's Table 7 does; ``cv`` is 100 sd / mean. ``noise`` is the standard
    deviation that sampling gives a respondent's mean, apart from what it does to all of them alike.
    ``sd_corrected`` is the root of sd**2 less the part that sampling adds, 0 where that is all of
    it. ``range_by_chance`` is the range to expect of k respondents of equal skill,
    ``share_by_chance`` its share of the range seen (at most 1), and ``p`` how often chance alone
    reaches the range seen.
    ``best`` and ``worst`` are respondents (columns); of equal ones the first. NaN without items.
    """

    stratum: int
    n_units: int
    k: int
    mean: float
    sd: float
    cv: float
    high: float
    low: float
    range: float
    best: int
    worst: int
    noise: float
    sd_corrected: float
    range_by_chance: float
    share_by_chance: float
    p: float
    flags: tuple[Flag, ...] = ()


def top_k(means: Floats, k: int) -> NDArray[np.intp]:
    """The k respondents of the highest means, best first; of equal ones the first stay in."""
    if k < 1:
        raise BadUsage(f"a top {k} is nobody", hint="give 1 or more")
    standing = np.where(np.isnan(means), -np.inf, means)
    return np.argsort(-standing, kind="stable")[:k]


def discriminate(
    values: Floats,
    strata: NDArray[np.integer],
    *,
    k: int = 10,
    keys: SharedKeys | None = None,
    estimand: Estimand = "knowledge",
) -> tuple[Discrimination, ...]:
    """One result a code of ``strata`` (units), over the top k by the mean of all units.

    ``values`` (units, respondents), NaN where a cell is missing: a stratum is compared on the units
    that all of the top k have. Chance is measured from the same units: paired, and clustered by
    ``keys``; with fewer than two effective groups it is not known.
    """
    there = ~np.isnan(values)
    number = there.sum(axis=0)
    means = np.nansum(values, axis=0) / np.where(number > 0, number, np.nan)
    top = top_k(means, k)
    common = there[:, top].all(axis=1)
    shared = keys or SharedKeys.none(len(values))
    found = []
    for code in np.unique(strata).tolist():
        units = np.flatnonzero((strata == code) & common)
        if not len(units) or not len(top):
            found.append(_nothing(code, len(top)))
            continue
        spread = measure_spread(
            values[np.ix_(units, top)], equal_weights(len(units)), shared.among(units), estimand
        )
        noise, degrees, flags = float("nan"), float("nan"), spread.flags
        if spread.groups >= 2.0:
            noise, degrees = _noise(spread.difference_variances(), spread.groups)
            flags = (*flags, "few-groups") if spread.groups < 50 else flags
        else:
            flags = (*flags, "one-group")
        seen = _discrimination(
            code, len(units), spread.means, top, noise, flags, degrees, spread.groups
        )
        found.append(seen)
    return tuple(found)


def discriminate_shares(
    shares: Floats,
    n_units: NDArray[np.integer],
    overall: Floats | None = None,
    *,
    k: int = 10,
    samples: int = 1,
    assumed: Assumed = INDEPENDENT,
) -> tuple[Discrimination, ...]:
    """The same from accuracies alone: ``shares`` (respondents, strata) on ``n_units`` (strata).

    The top k are by ``overall`` (respondents), else by the mean over all items. Nothing is known of
    single items, so chance is a binomial's with the stratum's mean accuracy, as ``assumed`` changes
    it: by default respondents err independently and always answer alike, which gives chance more
    than its due where all fail at the same items.
    """
    if overall is None:
        there = ~np.isnan(shares)
        held = there * np.asarray(n_units, dtype=np.float64)
        total = held.sum(axis=1)
        overall = np.nansum(shares * held, axis=1) / np.where(total > 0, total, np.nan)
    top = top_k(overall, k)
    found = []
    for code, n in enumerate(np.asarray(n_units).tolist()):
        chosen = top[~np.isnan(shares[top, code])]
        if not n or not len(chosen):
            found.append(_nothing(code, len(chosen)))
            continue
        means = shares[chosen, code]
        noise = _assumed_noise(float(means.mean()), n, samples, assumed)
        found.append(_discrimination(code, n, means, chosen, noise, ()))
    return tuple(found)


def _assumed_noise(accuracy: float, n: int, samples: int, assumed: Assumed) -> float:
    stratum = Assumed(
        accuracy=accuracy,
        repeatability=assumed.repeatability,
        correlation=assumed.correlation,
        design_effect=assumed.design_effect,
    )
    return float(np.sqrt(stratum.unit_variance(samples) / 2.0 / n))


def _noise(difference_variances: Floats, groups: float) -> tuple[float, float]:
    """A respondent's own sampling deviation, half of the mean variance of a difference; and its
    degrees of freedom. Of contrasts with the covariance C these are ``(groups - 1) tr(C)**2 /
    tr(C**2)``: (groups - 1) (m - 1) where all vary alike and independently (Greenhouse and Geisser
    1959)."""
    m = len(difference_variances)
    if m < 2:
        return float("nan"), float("nan")
    noise = float(np.sqrt(difference_variances.sum() / (m * (m - 1)) / 2.0))
    centre = np.eye(m) - 1.0 / m
    contrasts = -0.5 * centre @ difference_variances @ centre
    squares = float((contrasts**2).sum())
    share = float(np.trace(contrasts)) ** 2 / squares if squares > 0 else 1.0
    return noise, (groups - 1.0) * max(share, 1.0)


def _discrimination(
    code: int,
    n: int,
    means: Floats,
    respondents: NDArray[np.intp],
    noise: float,
    flags: tuple[Flag, ...],
    degrees: float = float("inf"),
    groups: float = float("inf"),
) -> Discrimination:
    k = len(means)
    mean, sd = float(means.mean()), float(means.std())
    high, low = float(means.max()), float(means.min())
    # Of k means around one truth, the variance that divides by k holds (k - 1) / k of the noise.
    left = sd**2 - noise**2 * (k - 1) / k
    by_chance = expected_range(k) * noise if k > 1 else 0.0
    spread = high - low
    return Discrimination(
        stratum=code,
        n_units=n,
        k=k,
        mean=mean,
        sd=sd,
        cv=100.0 * sd / mean if mean > 0 else float("nan"),
        high=high,
        low=low,
        range=spread,
        best=int(respondents[means.argmax()]),
        worst=int(respondents[means.argmin()]),
        noise=noise,
        sd_corrected=float(np.sqrt(max(left, 0.0))) if k > 1 and not np.isnan(left) else left,
        range_by_chance=by_chance,
        share_by_chance=min(by_chance / spread, 1.0) if spread > 0 else float("nan"),
        p=(
            range_p(spread / noise, k, degrees)
            if k > 1 and noise > 0
            else _without_noise(spread, noise, k, groups)
        ),
        flags=flags,
    )


def _without_noise(spread: float, noise: float, k: int, groups: float) -> float:
    """p where every difference is the same on every unit: a sign test of all pairs (Bonferroni)."""
    if np.isnan(noise):
        return float("nan")
    return 1.0 if spread == 0.0 else float(min(1.0, k * (k - 1) * 0.5**groups))


def _nothing(code: int, k: int) -> Discrimination:
    nan = float("nan")
    return Discrimination(
        stratum=code,
        n_units=0,
        k=k,
        mean=nan,
        sd=nan,
        cv=nan,
        high=nan,
        low=nan,
        range=nan,
        best=-1,
        worst=-1,
        noise=nan,
        sd_corrected=nan,
        range_by_chance=nan,
        share_by_chance=nan,
        p=nan,
        flags=("no-scores",),
    )
