"""Rank stability: subsamples of items without replacement, and the bootstrap with replacement.

The bootstrap is centered on the observed scores. So the share of resamples in which a leader is
first is not the probability of being the best: with 20 equal models on 400 items the leader is
first in a third of them and is the best in 5% of cases (`shrink_scores` estimates that
probability). Items of one cluster are resampled together.

Let the variance between two fresh samples of n items be the reference. A subsample with the share r
of n items differs from the whole by (1 - r) / r of it: all of it at 0.5, 0.43 at 0.7, 0.11 at 0.9.
So stability at 0.9 describes the loss of a tenth of the items, not other items (see
``variance_share``). KINA (section 5.2, Table 4) calls such subsamples a bootstrap.
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
# The observed means y of m models have the sampling covariance S over items: paired by item, and
# clustered. The true scores are theta_i ~ N(mu, tau**2), with mu flat and tau half-Cauchy, five
# times as wide as the sampling error of a contrast (Rubin 1981; Gelman 2006; Gelman et al.,
# Bayesian Data Analysis, 3rd ed., chapter 5). With ``V = S + tau**2 I`` the posterior of tau is
# known up to a constant and is integrated over a grid, not fixed at its estimate: a plug-in tau of
# 0.3 at the null gives up to 67% for one of 20 equal models. Given tau,
#
#     theta | y = mu + tau**2 V^-1 (y - mu) + noise of covariance tau**2 V^-1 S.
#
# S comes from a few hundred items and m**2 entries. So its contrasts are shrunken towards equal,
# uncorrelated ones by the share of Ledoit and Wolf (2004), and it is widened as Student's t is. For
# the leader of 20 equal models on 400 items, which is the best in 5% of cases, this gives 15% on
# average and a bootstrap 34%: a posterior is calibrated over its prior, not at a point of it.

Floats = NDArray[np.float64]


_PURPOSE = 19


# The posterior of tau is summed over equal steps of tau / (tau + scale).
_STEPS = 60


# The prior of tau is half-Cauchy at this multiple of the sampling error of a contrast. A multiple
# of 1 gives 3.5 points too little for a leader at a true SD of 3 points; without a bound, two
# models would be ranked by a flat prior.
_PRIOR_SCALE = 5.0


# With fewer independent groups the sampling covariance is too uncertain.
_FEWEST_GROUPS = 10.0


# The work grows with the square of the number of models.
_MOST_RESPONDENTS = 1_000


# A contrast has at least this share of the average one's variance; less is overfitting.
_LEAST_VARIANCE = 0.01


class ShrunkenScore(Struct, frozen=True, kw_only=True):
    """Posterior of one model's true score (a column).

    ``best`` is the posterior probability that it is the highest of all, ``value`` the posterior
    mean, ``low`` and ``high`` the credible interval.
    """

    respondent: int
    best: float
    value: float
    low: float
    high: float


class Shrinkage(Struct, frozen=True, kw_only=True):
    """Posterior of all true scores.

    ``spread`` is the posterior median of tau, the standard deviation between true scores;
    ``spread_low`` and ``spread_high`` bound it at ``confidence``.
    """

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
    """Return the posterior of the true scores behind ``spread`` (m models), in its order.

    None with fewer than two models, more than 1,000, fewer than ten independent groups of items, or
    where all models have equal scores on every item.
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
    """Grid of tau with its weights, and samples of the true scores at steps of the grid."""

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
        # The half-Cauchy density at tau, times the step length there.
        log_prior = -np.log1p((self.tau / (_PRIOR_SCALE * scale)) ** 2) - 2.0 * np.log1p(-ratio)
        self.weights: Floats = special.softmax(log_likelihood + log_prior)
        self.along, self.ones = along, ones
        self.level, self.level_sd = level, 1.0 / np.sqrt(precision)

    def draw(self, step: NDArray[np.int64], rng: np.random.Generator) -> Floats:
        """Return true scores (m, resamples) at the steps of the grid (resamples)."""
        noise = rng.standard_normal((len(self.own), len(step)))
        level = self.level[step] + self.level_sd[step] * rng.standard_normal(len(step))
        own = self.own[:, None]
        kept = self.tau[step] ** 2 / (own + self.tau[step] ** 2)
        found = kept * self.along[:, None] + (1.0 - kept) * self.ones[:, None] * level
        # Noise is rotated onto the axes by one symmetric root of the covariance, so the choice of
        # axes for equal variances does not matter.
        found += np.sqrt(own * kept) * (self.axes.T @ noise)
        return np.asarray(self.axes @ found)


def _sampling_covariance(spread: Spread) -> tuple[Floats, float]:
    """Return the covariance of the means (m, m), and the variance of an average contrast.

    Where shared keys would reduce the variance of contrasts below that of independent items,
    independence is assumed, as for differences of pairs.
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
    """Return the mean variance of orthogonal contrasts: half of a mean difference's."""
    m = len(covariance)
    return float(np.trace(covariance) - covariance.mean() * m) / (m - 1)


def _target_share(
    parts: Floats, partners: Floats, contrasts: Floats, contrast: float, spread: Spread
) -> float:
    """Return the shrinkage weight: the sampling error of the contrasts' covariance over its
    distance from the target.

    Ledoit and Wolf (2004). Each unit gives one product; dependent units count as ``groups``.
    """
    m = len(contrasts)
    distance = float((contrasts**2).sum()) - contrast**2 * (m - 1)
    if distance <= NO_SPREAD_BELOW * contrast:
        return 1.0
    norms = (parts**2).sum(axis=1) * (partners**2).sum(axis=1)
    products = ((norms + (parts * partners).sum(axis=1) ** 2) / 2.0).sum()
    error = spread.n_units / spread.groups * float(products)
    error -= float((contrasts**2).sum()) / spread.groups
    return float(np.clip(error / distance, 0.0, 1.0))


# Spread of the strongest models in each stratum, and its expectation for equal models.
#
# KINA's Table 7 gives mean, standard deviation, coefficient of variation, maximum, minimum and
# range of the top ten by discipline. The disciplines with the widest range are those with the
# fewest items. So each range comes with the one expected for models of equal skill on as many
# items, and each standard deviation with its value after removing the sampling variance.

INDEPENDENT = Assumed(repeatability=1.0, correlation=0.0)


class Discrimination(Struct, frozen=True, kw_only=True):
    """Spread of k models in one stratum (a code); shares in [0, 1], ``cv`` in percent.

    ``sd`` divides by k, as KINA's Table 7 does; ``cv`` is 100 sd / mean. ``noise`` is the sampling
    standard deviation of a model's mean without the part shared by all models. ``sd_corrected`` is
    the root of sd**2 less the sampling part, or 0 where that is negative. ``range_by_chance`` is
    the expected range of k models of equal skill, ``share_by_chance`` its share of the observed
    range (at most 1). ``p`` is the probability of at least the observed range for models of equal
    skill. ``best`` and ``worst`` are models (columns), the first of ties. NaN without items.
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
    """Return the k models with the highest means, best first; ties keep the first."""
    if k < 1:
        raise BadUsage(f"expected a top k of at least 1, got {k}", hint="set k to 1 or more")
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
    """Return one result per code of ``strata`` (units), over the top k by the mean of all units.

    ``values`` is (units, models), NaN where a cell is missing: a stratum is compared on the units
    that all of the top k have. Sampling error is estimated from the same units: paired, and
    clustered by ``keys``; unknown with fewer than two effective groups.
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
    """Return the same from accuracies alone: ``shares`` (models, strata) on ``n_units`` (strata).

    The top k are by ``overall`` (models), otherwise by the mean over all items. Single items are
    unknown, so sampling error is binomial at the stratum's mean accuracy, modified by ``assumed``.
    By default models err independently and always answer the same way, which overstates the
    sampling error where all fail on the same items.
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
    """Return a model's own sampling deviation (half the mean variance of a difference) and its
    degrees.

    For contrasts with covariance C the degrees are ``(groups - 1) tr(C)**2 / tr(C**2)``: (groups -
    1) (m - 1) where all vary equally and independently (Greenhouse and Geisser 1959).
    """
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
    # For k means around one true value, the variance over k contains (k - 1) / k of the noise.
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
    """Return p where every difference is the same on every unit: a sign test of all pairs
    (Bonferroni).
    """
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
    """A quantity over ``n`` resamples where it is defined: mean, standard deviation (n - 1),
    quantiles.

    ``low`` and ``high`` are the 2.5% and 97.5% quantiles, ``error`` the Monte Carlo standard error
    of the mean. NaN if n is 0.
    """

    mean: float
    sd: float
    low: float
    high: float
    error: float
    n: int


class RankSpread(Struct, frozen=True, kw_only=True):
    """Ranks of one model over resamples: ``counts[r]`` resamples gave it rank r + 1.

    ``rank`` is that of the full sample; ``low`` and ``high`` hold 95% of the resamples. Equal means
    share the best of their ranks.
    """

    respondent: int
    rank: int
    mean: float
    low: int
    high: int
    counts: tuple[int, ...]


class Stability(Struct, frozen=True, kw_only=True):
    """Stability of the ranking of models (columns) under one resampling scheme.

    ``top`` are those that the full sample ranks k-th or better, best first; a tie at k makes it
    longer. ``tau`` is Kendall's tau-b over them between the full sample and a resample, undefined
    where all of them tie. ``overlap`` is the share of them in the resample's own top k (the longer
    of the two lists is the denominator). ``first_alone`` is the share of resamples in which the
    leader of the full sample (one of its ``leaders``) is first without a tie; ``first_shared`` also
    counts ties. ``variance_share`` is the variance of these resamples relative to a fresh sample.
    ``resampled`` names the unit: items, clusters of items, either within strata, or, where clusters
    overlap, the means from a normal distribution with their clustered covariance. ``n_drawn``
    counts items, on average where clusters differ in size.
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
    """Return one result per rate, from subsamples without replacement within ``strata`` (codes,
    units).

    ``values`` (units, models) are unit means, NaN where a cell is missing; a model is ranked by the
    units that it has. ``weighting`` of the units is equal by default. Units that share one of
    ``keys`` are subsampled together; where such clusters overlap, units are. A rate's subsamples do
    not depend on the other rates. Raises BadUsage for a rate outside (0, 1], or k or n_resamples
    below 1.
    """
    if bad := [rate for rate in rates if not 0.0 < rate <= 1.0]:
        raise BadUsage(
            f"expected a rate above 0 and at most 1, got {bad[0]:g}",
            hint="use rates like 0.5,0.7,0.9",
        )
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
    """Return the same from bootstrap resamples of units, or clusters, within ``strata``.

    Where clusters overlap, the means are sampled from the normal distribution with their clustered
    covariance, which needs every cell.
    """
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
    """Return the summary of a quantity's resamples (n), without NaN."""
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
            f"expected k and n_resamples of at least 1, got {k} and {n_resamples}",
            hint="set both to 1 or more",
        )


def _normal_means(
    values: Floats,
    weighting: Weighting | None,
    keys: SharedKeys,
    n_resamples: int,
    rng: np.random.Generator,
) -> Floats:
    """Return sampled means (models, resamples) around the observed ones.

    Their covariance sums over all pairs of units that share a cluster key; directions of negative
    variance are held fixed.
    """
    spread = measure_spread(values, weighting or equal_weights(len(values)), keys, "domain")
    root = covariance_root(spread.covariance(), is_symmetric=True)
    noise = rng.standard_normal((len(root), n_resamples))
    return np.asarray(np.round(spread.means[:, None] + root @ noise, 12))


@dataclass(frozen=True, slots=True)
class _Drawn:
    """The resampled unit: units, or clusters of units that share a cluster key.

    ``strata`` is of these, ``place`` (units) the index of each unit's cluster in ``strata.order``;
    None where units are resampled. ``overlapping`` holds the keys where their clusters overlap.
    """

    strata: Strata
    place: NDArray[np.int64] | None = None
    overlapping: SharedKeys | None = None

    @classmethod
    def of(
        cls, strata: NDArray[np.integer] | None, n_units: int, keys: SharedKeys | None
    ) -> _Drawn:
        """Return clusters within ``strata`` where each lies in one of them, otherwise units."""
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
        """Return the units in the column order of ``of_units``."""
        return self.strata.order if self.place is None else np.arange(len(self.place))

    @property
    def name(self) -> str:
        """Return the name of the resampled unit."""
        if len(self.strata.sizes) > 1:
            return "items within strata" if self.place is None else "clusters within strata"
        return "items" if self.place is None else "clusters"

    def of_units(self, counts: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return counts of units (resamples, units) from counts of what is resampled."""
        return counts if self.place is None else counts[:, self.place]


class _Field:
    """All models of one full sample, to which resamples are compared."""

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
        """Yield the means (models, resamples) of each block of counts (resamples, units)."""
        drawn = []
        for block in counts:
            drawn.append(block.sum(axis=1, dtype=np.float64))
            self.n_drawn = float(np.concatenate(drawn).mean())
            yield means_by_resample(block, self.values, self.weights)

    def measure(
        self, means: Iterable[Floats], scheme: Scheme, rate: float, *, resampled: str = ""
    ) -> Stability:
        """Return the stability of the ranking over blocks of means by resample."""
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
        """Return the shares of resamples in which a leader is first, without and with ties."""
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
    """Return Kendall's tau-b between ``full`` (m) and every column of ``drawn`` (m, resamples)."""
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


# Reliability: how much of the differences between models would recur with other items.
#
# It is the share of the variance of the observed means that is not sampling error of the items. By
# variance components it is Hoyt's (1941), for independent items equal to Cronbach's alpha (1951);
# by halves it is the stepped-up correlation of two halves of the items (Spearman 1910, Brown 1910).
# For binary items alpha is Kuder and Richardson's formula 20 (1937).

_RELIABILITY_PURPOSE = 8


class Reliability(Struct, frozen=True, kw_only=True):
    """Reliability ``value = 1 - noise**2 / sd**2``, at most 1; below 0 where noise exceeds the
    total.

    NaN with fewer than two units or models, or where all means are equal. ``low`` and ``high`` are
    its interval at ``level`` over other models and units: (1 - truth) / (1 - value) has an F
    distribution on m - 1 and (m - 1) (G - 1) degrees (Feldt 1965), with G effective groups of
    units. ``sd`` is that of the observed means over m models (by m - 1), ``noise`` the standard
    error of one of them without the item effect shared by all.
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
    """Return the reliability of the means of ``values`` (U units, m models), on the units that all
    have.

    With shared facts the noise is clustered.
    """
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
    """Return the interval of a reliability of m models on ``groups`` effective groups of units."""
    if np.isnan(value) or groups < 2.0:
        return float("nan"), float("nan")
    between, within = m - 1.0, (m - 1.0) * (groups - 1.0)
    levels = reversed(tails(confidence))
    low, high = (1.0 - (1.0 - value) * special.fdtri(between, within, q) for q in levels)
    return float(low), float(high)


def split_half(values: Floats, *, n_splits: int = 500, seed: int = 0) -> float:
    """Return the mean over random halves of the items of 2 r / (1 + r).

    r is Pearson's correlation of the models' means on the two halves, over items that all have. NaN
    where r is never defined.
    """
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
