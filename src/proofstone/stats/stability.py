"""Rank stability: subsamples of items without replacement, and the bootstrap with replacement.

The bootstrap is centred on the scores seen, so the share of resamples that a leader wins is no
probability of being the best: of 20 equal models on 400 items the leader wins a third of them and
is the best in 5% of cases (`shrink_scores` states that probability). Items that share a key are
drawn together.

A subsample of the share r of n items differs from the whole by a variance of (1 - r) / r of what a
fresh sample of n items would differ from another's mean: all of it at 0.5, 0.43 at 0.7, 0.11 at
0.9. So stability at 0.9 says what a tenth fewer items do, not what other items would (each result
says its ``variance_share``). KINA (section 5.2, Table 4) calls such subsamples a bootstrap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray
from scipy import special

from proofstone.errors import BadUsage
from proofstone.records.runs import Assumed, Flag, Population
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import Spread, measure_spread
from proofstone.stats.intervals import (
    NO_SPREAD_BELOW,
    Weighting,
    covariance_root,
    divided,
    equal_weights,
    expected_range,
    range_p,
    tails,
    unknown,
)
from proofstone.stats.resampling import (
    Strata,
    blocks_of_resamples,
    bootstrap_counts,
    disjoint_clusters,
    generator,
    means_by_resample,
    ranks_of,
    subsample_counts,
)

# True scores under a hierarchical normal model, and the probability of being the best.
#
# The observed means y of m respondents have the sampling covariance S that the items give them:
# paired by item, and clustered. The true scores are theta_i ~ N(mu, tau**2), with mu flat and tau
# half-Cauchy, five times as wide as the sampling error of a contrast (Rubin 1981; Gelman 2006;
# Gelman et al., Bayesian Data Analysis, 3rd ed., chapter 5). With ``V = S + tau**2 I`` the
# posterior of tau is known up to a constant and is integrated over a grid, not set at its estimate:
# a plug-in tau of 0.3 at the null states up to 67% for one of 20 equal models. Given tau,
#
#     theta | y = mu + tau**2 V^-1 (y - mu) + noise of covariance tau**2 V^-1 S.
#
# S comes from a few hundred items and m**2 entries, so its contrasts are shrunken towards equal,
# uncorrelated ones by the share of Ledoit and Wolf (2004), and it is widened as Student's t is. For
# the leader of 20 equal models on 400 items, which is the best in 5% of cases, this states 15% on
# average and a bootstrap 34%: a posterior is calibrated over its prior, not at a point of it.

Floats = NDArray[np.float64]


_PURPOSE = 19


# The posterior of tau is summed over equal steps of tau / (tau + scale).
_STEPS = 60


# The prior of tau is half-Cauchy at this multiple of the sampling error of a contrast. 1 states
# 3.5 points too little for a leader at a true SD of 3 points; without bound, two models are ranked
# by a flat prior.
_PRIOR_SCALE = 5.0


# With fewer independent groups the sampling covariance is a guess.
_FEWEST_GROUPS = 10.0


# The work grows with the square of their number.
_MOST_RESPONDENTS = 1_000


# A contrast has at least this share of the variance of the average one: less is overfitting.
_LEAST_VARIANCE = 0.01


class ShrunkenScore(Struct, frozen=True, kw_only=True):
    """One respondent (a column): ``best`` is the posterior probability that its true score is the
    highest of all, ``value`` the posterior mean of that score, ``low`` and ``high`` its credible
    interval."""

    respondent: int
    best: float
    value: float
    low: float
    high: float


class Shrinkage(Struct, frozen=True, kw_only=True):
    """The posterior of all true scores. ``spread`` is the posterior median of tau, the standard
    deviation between true scores; ``spread_low`` and ``spread_high`` bound it at ``confidence``."""

    scores: tuple[ShrunkenScore, ...]
    spread: float
    spread_low: float
    spread_high: float
    confidence: float
    n_resamples: int
    seed: int


def shrink_scores(
    spread: Spread, *, confidence: float = 0.95, n_resamples: int = 4_000, seed: int = 0
) -> Shrinkage | None:
    """The posterior of the true scores behind ``spread`` (m respondents), in its order.

    None with fewer than two respondents, more than 1,000, fewer than ten independent groups of
    items, or where all respondents score alike item by item.
    """
    m = len(spread.means)
    if not 2 <= m <= _MOST_RESPONDENTS or spread.groups < _FEWEST_GROUPS:
        return None
    covariance, contrast = _sampling_covariance(spread)
    if contrast < NO_SPREAD_BELOW:
        return None
    own, axes = np.linalg.eigh(covariance)
    own = np.maximum(own, _LEAST_VARIANCE * contrast)
    posterior = _Posterior(spread.means, own, axes, float(np.sqrt(contrast)))
    rng = generator(seed, _PURPOSE)
    step = rng.choice(_STEPS, size=n_resamples, p=posterior.weights)
    drawn = posterior.draw(step, rng)
    share = np.bincount(drawn.argmax(axis=0), minlength=m) / n_resamples
    ends = tails(confidence)
    low, high = np.clip(np.quantile(drawn, ends, axis=1), 0.0, 1.0)
    middle = np.clip(drawn.mean(axis=1), 0.0, 1.0)
    of_tau = np.interp([ends[0], 0.5, ends[1]], np.cumsum(posterior.weights), posterior.tau)
    return Shrinkage(
        scores=tuple(
            ShrunkenScore(
                respondent=place,
                best=float(share[place]),
                value=float(middle[place]),
                low=float(low[place]),
                high=float(high[place]),
            )
            for place in range(m)
        ),
        spread=float(of_tau[1]),
        spread_low=float(of_tau[0]),
        spread_high=float(of_tau[2]),
        confidence=confidence,
        n_resamples=n_resamples,
        seed=seed,
    )


class _Posterior:
    """The grid of tau with its weights, and draws of the true scores given steps of the grid."""

    def __init__(self, means: Floats, own: Floats, axes: Floats, scale: float) -> None:
        ratio = (np.arange(_STEPS) + 0.5) / _STEPS
        self.tau = scale * ratio / (1.0 - ratio)
        self.own, self.axes = own, axes
        total = own[:, None] + self.tau**2
        along, ones = axes.T @ means, axes.sum(axis=0)
        precision = (ones[:, None] ** 2 / total).sum(axis=0)
        level = ((ones * along)[:, None] / total).sum(axis=0) / precision
        squares = ((along[:, None] - ones[:, None] * level) ** 2 / total).sum(axis=0)
        log_likelihood = -0.5 * (np.log(total).sum(axis=0) + np.log(precision) + squares)
        # The half-Cauchy density at tau, by the length of a step there.
        log_prior = -np.log1p((self.tau / (_PRIOR_SCALE * scale)) ** 2) - 2.0 * np.log1p(-ratio)
        self.weights: Floats = special.softmax(log_likelihood + log_prior)
        self.along, self.ones = along, ones
        self.level, self.level_sd = level, 1.0 / np.sqrt(precision)

    def draw(self, step: NDArray[np.int64], rng: np.random.Generator) -> Floats:
        """True scores (m, draws) at the steps of the grid (draws)."""
        noise = rng.standard_normal((len(self.own), len(step)))
        level = self.level[step] + self.level_sd[step] * rng.standard_normal(len(step))
        own = self.own[:, None]
        kept = self.tau[step] ** 2 / (own + self.tau[step] ** 2)
        found = kept * self.along[:, None] + (1.0 - kept) * self.ones[:, None] * level
        # Noise is turned onto the axes, so that which axes are found for equal variances is no
        # matter: one symmetric root of the covariance is applied to it.
        found += np.sqrt(own * kept) * (self.axes.T @ noise)
        return np.asarray(self.axes @ found)


def _sampling_covariance(spread: Spread) -> tuple[Floats, float]:
    """The covariance of the means (m, m), and the variance of an average contrast.

    Where shared keys seem to make contrasts surer than independent items would, independence is
    assumed, as for differences of pairs.
    """
    m = len(spread.means)
    found, parts, partners = spread.covariance(), spread.parts, spread.partners
    contrast = _contrast_variance(found)
    independent = spread.covariance_alone()
    if contrast < _contrast_variance(independent):
        found, parts, partners = independent, spread.alone, spread.alone
        contrast = _contrast_variance(found)
    middle = np.eye(m) - 1.0 / m
    parts, partners = (part - part.mean(axis=1, keepdims=True) for part in (parts, partners))
    share = _target_share(parts, partners, middle @ found @ middle, contrast, spread)
    common = max(float(found.mean()), 0.0)
    target = contrast * middle + common
    widened = (spread.groups - 1.0) / (spread.groups - 3.0)
    return widened * ((1.0 - share) * found + share * target), widened * contrast


def _contrast_variance(covariance: Floats) -> float:
    """The mean variance of orthogonal contrasts: half of a mean difference's."""
    m = len(covariance)
    return float(np.trace(covariance) - covariance.mean() * m) / (m - 1)


def _target_share(
    parts: Floats, partners: Floats, contrasts: Floats, contrast: float, spread: Spread
) -> float:
    """How much of the target to take: the sampling error of the covariance of contrasts, by its
    distance from the target (Ledoit and Wolf 2004). Each unit gives one product; units that depend
    on each other count as ``groups``."""
    m = len(contrasts)
    distance = float((contrasts**2).sum()) - contrast**2 * (m - 1)
    if distance <= NO_SPREAD_BELOW * contrast:
        return 1.0
    norms = (parts**2).sum(axis=1) * (partners**2).sum(axis=1)
    products = ((norms + (parts * partners).sum(axis=1) ** 2) / 2.0).sum()
    error = spread.n_units / spread.groups * float(products)
    error -= float((contrasts**2).sum()) / spread.groups
    return float(np.clip(error / distance, 0.0, 1.0))


# How far the strongest respondents stand apart in each stratum, and how far chance alone would
# have put them.
#
# KINA's Table 7 gives mean, standard deviation, coefficient of variation, maximum, minimum and
# range of the top ten by discipline; the disciplines with the widest range are those with the
# fewest items. So beside each range stands the one to expect of respondents of equal skill on as
# many items, and beside each standard deviation what is left of it after taking out the sampling
# variance.

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
    population: Population = "domain",
) -> tuple[Discrimination, ...]:
    """One result a code of ``strata`` (units), over the top k by the mean of all units.

    ``values`` (units, respondents), NaN where a cell is missing: a stratum is compared on the units
    that all of the top k have. Chance is measured from the same units: paired, and clustered by
    ``keys``; with fewer than two effective groups it is not known.
    """
    there = ~np.isnan(values)
    number = there.sum(axis=0)
    means = divided(np.nansum(values, axis=0), number)
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
            values[np.ix_(units, top)], equal_weights(len(units)), shared.among(units), population
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
        overall = divided(np.nansum(shares * held, axis=1), total)
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
    stratum = structs.replace(assumed, accuracy=accuracy)
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
    told = {"stratum": code, "n_units": 0, "k": k, "best": -1, "worst": -1}
    return unknown(Discrimination, **told, flags=("no-scores",))


Ranks = NDArray[np.int32]


Scheme = Literal["subsampling without replacement", "bootstrap with replacement"]


_BOOTSTRAP = 1


_BY_COVARIANCE = "means by their clustered covariance"


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
    variance of a fresh sample these draws hold. ``resampled`` is what is drawn: items, clusters of
    items that share a key, either within strata, or, where such clusters overlap, the means from a
    normal distribution with their clustered covariance. ``n_drawn`` counts items, on average where
    clusters differ in size.
    """

    scheme: Scheme
    resampled: str
    rate: float
    variance_share: float
    n_resamples: int
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
    n_resamples: int = 1_000,
    seed: int = 0,
    weighting: Weighting | None = None,
    keys: SharedKeys | None = None,
) -> tuple[Stability, ...]:
    """One result a rate, from subsamples without replacement within ``strata`` (codes, units).

    ``values`` (units, respondents): unit means, NaN where a cell is missing; a respondent is
    ranked by the units that it has. ``weighting`` of the units: equal without. Units that share one
    of ``keys`` are drawn together; where such clusters overlap, units are drawn. A rate's draws do
    not depend on the other rates. Raises BadUsage for a rate outside (0, 1], k or draws below 1.
    """
    if bad := [rate for rate in rates if not 0.0 < rate <= 1.0]:
        raise BadUsage(f"{bad[0]:g} is no share of the items", hint="give rates like 0.5,0.7,0.9")
    _check(k, n_resamples)
    drawn_from = _Drawn.of(strata, len(values), keys)
    field = _Field(values, drawn_from, weighting, k, seed)
    found = []
    for rate in rates:
        rng = generator(seed, round(rate * 1e9))
        counts = (
            drawn_from.of_units(subsample_counts(drawn_from.strata, rate, number, rng))
            for number in blocks_of_resamples(len(values), n_resamples)
        )
        means = field.means_of(counts)
        found.append(field.measure(means, "subsampling without replacement", rate))
    return tuple(found)


def bootstrap_stability(
    values: Floats,
    strata: NDArray[np.integer] | None = None,
    *,
    k: int = 10,
    n_resamples: int = 1_000,
    seed: int = 0,
    weighting: Weighting | None = None,
    keys: SharedKeys | None = None,
) -> Stability:
    """The same from draws of as many units, or clusters, with replacement, within ``strata``. Where
    clusters overlap, there is nothing to draw apart: the means are drawn from the normal
    distribution of their clustered covariance. That takes every cell to be there."""
    _check(k, n_resamples)
    drawn_from = _Drawn.of(strata, len(values), keys)
    rng = generator(seed, _BOOTSTRAP)
    field = _Field(values, drawn_from, weighting, k, seed)
    if drawn_from.overlapping is not None and not np.isnan(values).any():
        means = [_normal_means(values, weighting, drawn_from.overlapping, n_resamples, rng)]
        return field.measure(means, "bootstrap with replacement", 1.0, resampled=_BY_COVARIANCE)
    counts = (
        drawn_from.of_units(bootstrap_counts(drawn_from.strata, number, rng))
        for number in blocks_of_resamples(len(values), n_resamples)
    )
    return field.measure(field.means_of(counts), "bootstrap with replacement", 1.0)


def summarize_resamples(drawn: Floats) -> Summary:
    """A quantity's draws (n) as their summary; NaN among them are left out."""
    kept = drawn[~np.isnan(drawn)]
    n = len(kept)
    if not n:
        return unknown(Summary, n=0)
    sd = float(kept.std(ddof=1)) if n > 1 else float("nan")
    low, high = np.quantile(kept, [0.025, 0.975]).tolist()
    return Summary(mean=float(kept.mean()), sd=sd, low=low, high=high, error=sd / n**0.5, n=n)


def _check(k: int, n_resamples: int) -> None:
    if k < 1 or n_resamples < 1:
        raise BadUsage(
            f"a top {k} in {n_resamples} draws is nothing", hint="give 1 or more of each"
        )


def _normal_means(
    values: Floats,
    weighting: Weighting | None,
    keys: SharedKeys,
    n_resamples: int,
    rng: np.random.Generator,
) -> Floats:
    """Means (respondents, draws) around those seen, with the covariance over all pairs of units
    that share a key; directions in which sharing sums to less than nothing are held."""
    spread = measure_spread(values, weighting or equal_weights(len(values)), keys, "domain")
    root = covariance_root(spread.covariance(), is_symmetric=True)
    noise = rng.standard_normal((len(root), n_resamples))
    return np.asarray(np.round(spread.means[:, None] + root @ noise, 12))


@dataclass(frozen=True, slots=True)
class _Drawn:
    """What a draw holds whole: units, or clusters of units that share a key. ``strata`` is of
    these, ``place`` (units) the place of each unit's own among them in ``strata.order``; None where
    units are drawn. ``overlapping``: the keys, where their clusters overlap."""

    strata: Strata
    place: NDArray[np.int64] | None = None
    overlapping: SharedKeys | None = None

    @classmethod
    def of(
        cls, strata: NDArray[np.integer] | None, n_units: int, keys: SharedKeys | None
    ) -> _Drawn:
        """Clusters are drawn within ``strata`` where each lies in one of them."""
        if keys is None or not len(keys.unit):
            return cls(Strata.of(strata, n_units))
        cluster = disjoint_clusters(keys)
        if cluster is None:
            return cls(Strata.of(strata, n_units), overlapping=keys)
        n_clusters = int(cluster.max()) + 1
        if n_clusters == n_units:
            return cls(Strata.of(strata, n_units))
        own = None
        if strata is not None:
            own = np.zeros(n_clusters, dtype=np.int64)
            own[cluster] = strata
            own = own if (own[cluster] == strata).all() else None
        of_clusters = Strata.of(own, n_clusters)
        return cls(of_clusters, np.argsort(of_clusters.order)[cluster])

    @property
    def order(self) -> NDArray[np.int64]:
        """The units in the order of the columns of ``of_units``."""
        return self.strata.order if self.place is None else np.arange(len(self.place))

    @property
    def name(self) -> str:
        """What is drawn, in words."""
        if len(self.strata.sizes) > 1:
            return "items within strata" if self.place is None else "clusters within strata"
        return "items" if self.place is None else "clusters"

    def of_units(self, counts: NDArray[np.float32]) -> NDArray[np.float32]:
        """Counts of units (draws, units) by those of what is drawn."""
        return counts if self.place is None else counts[:, self.place]


class _Field:
    """All respondents of one full sample, against which draws are held."""

    def __init__(
        self, values: Floats, drawn: _Drawn, weighting: Weighting | None, k: int, seed: int
    ) -> None:
        self.values = values[drawn.order]
        self.weights = None
        if weighting is not None and weighting.n_groups > 1:
            self.weights = weighting.weights()[drawn.order]
        self.resampled = drawn.name
        self.k, self.seed = k, seed
        self.n_drawn = float(len(values))
        everything = np.ones((1, len(values)), dtype=np.float32)
        self.means = means_by_resample(everything, self.values, self.weights)
        self.ranks = ranks_of(self.means)[:, 0]
        order = np.argsort(self.ranks, kind="stable")
        self.top = order[self.ranks[order] <= k]

    def means_of(self, counts: Iterable[NDArray[np.float32]]) -> Iterator[Floats]:
        """The means (respondents, draws) of each block of counts (draws, units)."""
        drawn = []
        for block in counts:
            drawn.append(block.sum(axis=1, dtype=np.float64))
            self.n_drawn = float(np.concatenate(drawn).mean())
            yield means_by_resample(block, self.values, self.weights)

    def measure(
        self, means: Iterable[Floats], scheme: Scheme, rate: float, *, resampled: str = ""
    ) -> Stability:
        """The stability of the ranking over blocks of means by draw."""
        ranks = np.concatenate([ranks_of(block) for block in means], axis=1)
        alone, shared = self._first(ranks)
        n_units = len(self.values)
        is_bootstrap = scheme == "bootstrap with replacement"
        return Stability(
            scheme=scheme,
            resampled=resampled or self.resampled,
            rate=rate,
            variance_share=1.0 if is_bootstrap else (1.0 - rate) / rate,
            n_resamples=ranks.shape[1],
            seed=self.seed,
            n_units=n_units,
            n_drawn=round(self.n_drawn),
            k=self.k,
            top=tuple(self.top.tolist()),
            leaders=tuple(np.flatnonzero(self.ranks == 1).tolist()),
            tau=summarize_resamples(_tau_b_by_draw(self.ranks[self.top], ranks[self.top])),
            overlap=summarize_resamples(self._overlap(ranks)),
            first_alone=alone,
            first_shared=shared,
            ranks=_rank_spreads(self.ranks, ranks),
        )

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
        return divided(both, np.maximum(in_draw, len(self.top)))


def _tau_b_by_draw(full: Ranks, drawn: Ranks) -> Floats:
    """Kendall's tau-b between ``full`` (m) and every column of ``drawn`` (m, draws)."""
    a, b = np.triu_indices(len(full), 1)
    x = np.sign(full[a] - full[b]).astype(np.float32)
    y = np.sign(drawn[a] - drawn[b]).astype(np.float32)
    scale = np.sqrt(float((x**2).sum()) * np.abs(y).sum(axis=0, dtype=np.float64))
    return np.asarray((x @ y) / np.where(scale > 0, scale, np.nan), dtype=np.float64)


def _rank_spreads(full: Ranks, drawn: Ranks) -> tuple[RankSpread, ...]:
    m, n_resamples = drawn.shape
    cells = np.arange(m)[:, None] * m + drawn - 1
    counts = np.bincount(cells.ravel(), minlength=m * m).reshape(m, m)
    reached = np.cumsum(counts, axis=1)
    low = 1 + (reached < 0.025 * n_resamples).sum(axis=1)
    high = 1 + (reached < 0.975 * n_resamples).sum(axis=1)
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


# How much of the differences between respondents would be there again with other items.
#
# Reliability is the share of the variance of the observed means that is not noise of the items. By
# variance components it is Hoyt's (1941), for independent items the same as Cronbach's alpha
# (1951); by halves it is the correlation of two halves of the items, stepped up (Spearman 1910,
# Brown 1910). Of right-or-wrong items alpha is Kuder and Richardson's formula 20 (1937).

_RELIABILITY_PURPOSE = 8


class Reliability(Struct, frozen=True, kw_only=True):
    """``value = 1 - noise**2 / sd**2``, at most 1, below 0 where noise is more than all there
    is; NaN with fewer than two units or respondents, or where all means are alike.

    ``low`` and ``high`` are its interval at ``level`` over other respondents and units: (1 - truth)
    / (1 - value) has an F distribution on m - 1 and (m - 1) (G - 1) degrees (Feldt 1965), with G
    effective groups of units.

    ``sd`` is that of the observed means over m respondents (by m - 1), ``noise`` the standard error
    of one of them, freed of what all share on an item.
    """

    value: float
    sd: float
    noise: float
    n_units: int
    n_respondents: int
    low: float = float("nan")
    high: float = float("nan")
    level: float = 0.95


def measure_reliability(
    values: Floats,
    keys: SharedKeys,
    *,
    population: Population = "domain",
    confidence: float = 0.95,
) -> Reliability:
    """The reliability of the means of ``values`` (U units, m respondents), on the units that all
    have; with shared facts the noise is clustered."""
    units = np.flatnonzero(~np.isnan(values).any(axis=1))
    n, m = len(units), values.shape[1]
    sd, noise, groups = float("nan"), float("nan"), 0.0
    if n and m > 1:
        spread = measure_spread(values[units], equal_weights(n), keys.among(units), population)
        sd = float(spread.means.std(ddof=1))
        groups = spread.groups
        if groups >= 2.0:
            noise = float(np.sqrt(spread.pairs()[-1].mean() / 2.0))
    value = 1.0 - noise**2 / sd**2 if sd > 1e-12 else float("nan")
    low, high = _feldt(value, groups, m, confidence)
    return Reliability(
        value=value,
        sd=sd,
        noise=noise,
        n_units=n,
        n_respondents=m,
        low=low,
        high=high,
        level=confidence,
    )


def _feldt(value: float, groups: float, m: int, confidence: float) -> tuple[float, float]:
    """The interval of a reliability of m respondents on ``groups`` effective groups of units."""
    if np.isnan(value) or groups < 2.0:
        return float("nan"), float("nan")
    between, within = m - 1.0, (m - 1.0) * (groups - 1.0)
    levels = reversed(tails(confidence))
    low, high = (1.0 - (1.0 - value) * special.fdtri(between, within, q) for q in levels)
    return float(low), float(high)


def split_half(values: Floats, *, n_splits: int = 500, seed: int = 0) -> float:
    """The mean over random halves of the items of 2 r / (1 + r), r being Pearson's correlation of
    the respondents' means on the two; items that all have. NaN where r is never defined."""
    kept = values[~np.isnan(values).any(axis=1)]
    n, m = kept.shape
    if n < 2 or m < 2:
        return float("nan")
    rng = generator(seed, _RELIABILITY_PURPOSE)
    places = rng.random((n_splits, n)).argsort(axis=1)
    in_first = (places < n // 2).astype(np.float64)
    one = in_first @ kept / (n // 2)
    other = (1.0 - in_first) @ kept / (n - n // 2)
    one, other = (half - half.mean(axis=1, keepdims=True) for half in (one, other))
    scale = np.sqrt((one**2).sum(axis=1) * (other**2).sum(axis=1))
    varies = scale > 1e-15
    r = (one * other).sum(axis=1)[varies] / scale[varies]
    stepped = 2.0 * r[r > -1.0] / (1.0 + r[r > -1.0])
    return float(stepped.mean()) if len(stepped) else float("nan")
