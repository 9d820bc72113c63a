"""Calibrators: probabilities from scores and few labels, cross-fitted, with their bootstrap.

A calibrator is refitted on resamples of the labeled units. Units with labels are scored by models
that did not see their labels (cross-fitting), also within each resample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from proofstone.stats.resampling import generator

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
How = Literal["logistic", "isotonic"]

FOLDS = 5
PENALTY = 1.0  # of squared weights of standardized features, in units of one label
_PRIOR = 0.5  # weight of one positive and one negative label at the mean of all features
_STEPS, _NEAR, _SMALLEST = 100, 1e-13, 1e-9
_BLOCK = 1 << 22  # numbers in a temporary array


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Labels 0 or 1 (``values``) of ``rows`` of a matrix of features, which belong to ``units``.

    All have the shape (labels). A unit may have several labels, by several people or of several
    rows. They are resampled together, and are in one fold.
    """

    rows: Ints
    units: Ints
    values: Floats


class Fitted(Protocol):
    """A calibrator on one sample, and on ``n_resamples`` resamples."""

    @property
    def n_resamples(self) -> int:
        """The number of resamples."""
        ...

    def values(self, features: Floats, units: Ints) -> Floats:
        """Return the probabilities (rows) of features (rows, features) of these units.

        A unit without labels, such as -1, is scored by the model of all labels.
        """
        ...

    def replicates(self, features: Floats, units: Ints) -> Iterator[Floats]:
        """Yield probabilities (some resamples, rows), over all resamples in order."""
        ...


def fit(
    how: How,
    features: Floats,
    labels: Labels,
    *,
    n_resamples: int = 1000,
    seed: int = 0,
    penalty: float = PENALTY,
) -> Fitted:
    """Fit a calibrator to the labeled rows of ``features`` (rows, features), and its resamples.

    Isotonic regression needs exactly one feature. Raises ValueError for anything else.
    """
    if how == "isotonic" and features.shape[1] != 1:
        raise ValueError(f"isotonic regression takes one score, got {features.shape[1]} features")
    counts = resampled(labels, n_resamples, seed)
    folds = folds_of(labels, seed)
    used = [_weights(counts, labels, folds, fold) for fold in range(int(folds.max()) + 1)]
    used.append(counts[:, np.searchsorted(np.unique(labels.units), labels.units)])
    if how == "isotonic":
        return _isotonic(features[:, 0], labels, folds, used)
    return _logistic(features, labels, folds, used, penalty)


def folds_of(labels: Labels, seed: int) -> Ints:
    """Return the fold of each labeled unit (distinct units, ascending), at random and balanced.

    Units are stratified by their mean label.
    """
    units = np.unique(labels.units)
    means = np.array([labels.values[labels.units == unit].mean() for unit in units])
    n = max(2, min(FOLDS, len(units)))
    order = np.lexsort((generator(seed, 1).permutation(len(units)), means))
    found = np.empty(len(units), dtype=np.int64)
    found[order] = np.arange(len(units)) % n
    return found


def resampled(labels: Labels, n_resamples: int, seed: int) -> Floats:
    """Return how often each labeled unit is in the sample (row 0: once) and in each resample."""
    n = len(np.unique(labels.units))
    drawn = generator(seed, 2).multinomial(n, np.full(n, 1 / n), size=n_resamples)
    return np.vstack([np.ones((1, n)), drawn])


def _weights(counts: Floats, labels: Labels, folds: Ints, fold: int) -> Floats:
    """Return the weights (1 + resamples, labels) of labels outside a fold."""
    held = np.where(folds == fold, 0.0, counts)
    return held[:, np.searchsorted(np.unique(labels.units), labels.units)]


def _model_of(labels: Labels, folds: Ints, units: Ints) -> Ints:
    """Return the model of each unit: that of its fold, or the last one without labels."""
    known = np.unique(labels.units)
    at = np.minimum(np.searchsorted(known, units), len(known) - 1)
    last = int(folds.max()) + 1
    return np.where(known[at] == units, folds[at], last)


# Logistic models: Newton's method on all resamples at once.


@dataclass(frozen=True, slots=True, eq=False)
class _LogisticModels:
    """``weights`` (models, 1 + resamples, 1 + features) of standardized features."""

    centre: Floats
    scale: Floats
    weights: Floats
    labels: Labels
    folds: Ints

    @property
    def n_resamples(self) -> int:
        return int(self.weights.shape[1]) - 1

    def values(self, features: Floats, units: Ints) -> Floats:
        found: Floats = self._scored(features, units, slice(0, 1))[0]
        return found

    def replicates(self, features: Floats, units: Ints) -> Iterator[Floats]:
        step = max(1, _BLOCK // max(1, len(features)))
        for start in range(1, self.n_resamples + 1, step):
            yield self._scored(features, units, slice(start, start + step))

    def _scored(self, features: Floats, units: Ints, part: slice) -> Floats:
        x = _with_intercept((features - self.centre) / self.scale)
        weights = self.weights[:, part]
        found = np.empty((weights.shape[1], len(x)))
        models = _model_of(self.labels, self.folds, units)
        for model in np.unique(models):
            rows = np.flatnonzero(models == model)
            found[:, rows] = special.expit(weights[model] @ x[rows].T)
        return found


def _logistic(
    features: Floats, labels: Labels, folds: Ints, used: Sequence[Floats], penalty: float
) -> _LogisticModels:
    x = features[labels.rows]
    centre, spread = x.mean(axis=0), x.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    standard = (x - centre) / scale
    weights = np.stack([logistic_weights(standard, labels.values, each, penalty) for each in used])
    return _LogisticModels(centre, scale, weights, labels, folds)


def logistic_weights(x: Floats, y: Floats, counts: Floats, penalty: float) -> Floats:
    """Return weights (samples, 1 + features) of ``x`` (labels, features) for counts of labels.

    Each minimizes the log loss plus half the ``penalty`` times the squared weights; the intercept
    is held by half a positive and half a negative label at x = 0, so that it is finite.
    """
    n, width = len(x), x.shape[1] + 1
    rows = np.vstack([_with_intercept(x), np.eye(1, width), np.eye(1, width)])
    target = np.concatenate([y, [1.0, 0.0]])
    weight = np.hstack([counts, np.full((len(counts), 2), _PRIOR)])
    products = (rows[:, :, None] * rows[:, None, :]).reshape(n + 2, width * width)
    ridge = np.diag(np.r_[0.0, np.full(width - 1, penalty)])

    def loss(beta: Floats) -> Floats:
        margin = beta @ rows.T
        each = np.logaddexp(0.0, margin) - target * margin
        found: Floats = (weight * each).sum(axis=1) + 0.5 * ((beta @ ridge) * beta).sum(axis=1)
        return found

    beta = np.zeros((len(counts), width))
    now, before, left = loss(beta), np.full(len(counts), np.inf), _STEPS
    while left and (before - now > _NEAR * (1 + np.abs(now))).any():
        chance = special.expit(beta @ rows.T)
        slope = (weight * (chance - target)) @ rows + beta @ ridge
        curve = (weight * chance * (1 - chance)) @ products
        hessian = curve.reshape(-1, width, width) + ridge + 1e-9 * np.eye(width)
        move = np.linalg.solve(hessian, slope[:, :, None])[:, :, 0]
        before, (beta, now), left = now, _descended(loss, beta, now, move), left - 1
    return beta


def _descended(
    loss: Callable[[Floats], Floats], beta: Floats, now: Floats, move: Floats
) -> tuple[Floats, Floats]:
    """Take each step, halved while it does not lower its loss, and the loss after it.

    A step that became too small to matter is left out.
    """
    size = np.ones(len(beta))
    tried = beta - move
    found = loss(tried)
    while (worse := (found > now + 1e-12 * (1 + np.abs(now))) & (size > 0)).any():
        size[worse] /= 2
        size[size < _SMALLEST] = 0
        tried = beta - size[:, None] * move
        found = loss(tried)
    return tried, found


def _with_intercept(x: Floats) -> Floats:
    return np.hstack([np.ones((len(x), 1)), x])


# Isotonic regression of one score.


@dataclass(frozen=True, slots=True, eq=False)
class _IsotonicModels:
    """For each model and sample the knots: scores ascending, and their probabilities."""

    knots: Sequence[Sequence[tuple[Floats, Floats]]]
    labels: Labels
    folds: Ints

    @property
    def n_resamples(self) -> int:
        return len(self.knots[0]) - 1

    def values(self, features: Floats, units: Ints) -> Floats:
        found: Floats = self._scored(features, units, [0])[0]
        return found

    def replicates(self, features: Floats, units: Ints) -> Iterator[Floats]:
        step = max(1, _BLOCK // max(1, len(features)))
        for start in range(1, self.n_resamples + 1, step):
            stop = min(start + step, self.n_resamples + 1)
            yield self._scored(features, units, range(start, stop))

    def _scored(self, features: Floats, units: Ints, samples: Sequence[int]) -> Floats:
        found = np.empty((len(samples), len(features)))
        models = _model_of(self.labels, self.folds, units)
        for model in np.unique(models):
            rows = np.flatnonzero(models == model)
            for at, sample in enumerate(samples):
                found[at, rows] = np.interp(features[rows, 0], *self.knots[model][sample])
        return found


def _isotonic(
    scores: Floats, labels: Labels, folds: Ints, used: Sequence[Floats]
) -> _IsotonicModels:
    x = scores[labels.rows]
    return _IsotonicModels(
        [[isotonic_knots(x, labels.values, row) for row in each] for each in used], labels, folds
    )


def isotonic_knots(x: Floats, y: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Return distinct scores, ascending, and the isotonic probabilities at them.

    Between scores they are interpolated, and constant outside. Labels of equal scores are pooled.
    Without labels the probability is 0.5.
    """
    knots, at = np.unique(x[counts > 0], return_inverse=True)
    if not len(knots):
        return np.zeros(1), np.full(1, 0.5)
    weight = np.bincount(at, weights=counts[counts > 0])
    mean = np.bincount(at, weights=(counts * y)[counts > 0]) / weight
    return knots, np.asarray(optimize.isotonic_regression(mean, weights=weight).x)


# Summaries.


def lower_quantiles(
    fitted: Fitted, features: Floats, units: Ints, shares: Sequence[float]
) -> Floats:
    """Return quantiles (shares, rows) over the resamples of each row's probability."""
    found = np.empty((len(shares), len(features)))
    step = max(1, _BLOCK // max(1, fitted.n_resamples))
    for start in range(0, len(features), step):
        part = slice(start, start + step)
        every = np.vstack(list(fitted.replicates(features[part], units[part])))
        found[:, part] = np.quantile(every, shares, axis=0)
    return found


def out_of_fold(fitted: Fitted, features: Floats, labels: Labels) -> Floats:
    """Return the probability of each label by a model that did not see its unit's labels."""
    return fitted.values(features[labels.rows], labels.units)
