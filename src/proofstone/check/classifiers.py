"""Ridge regression on a few hundred columns at once: what embeddings tell, and what chance would.

Least squares to +1 and -1 ranks texts as a logistic fit does, and needs of each fold only sums:
so penalties are chosen within the training folds, and kinds swapped hundreds of times, at the cost
of one fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

# The area under the ROC curve within strata, and its interval where sources are what was drawn.

Floats = NDArray[np.float64]


Ints = NDArray[np.int64]


Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Area:
    """How often a text of the second kind scores above one of the first, equal scores half, with
    the ends of its interval; NaN where there is no pair, ends NaN with fewer than two sources.
    ``pairs`` is how many were compared, ``sources`` how many sources they come from;
    ``by_chance`` the spread (SD) of such areas where nothing tells, NaN where it was not found."""

    value: float
    low: float
    high: float
    pairs: int
    sources: int
    by_chance: float = float("nan")


def widened(area: Area, by_chance: float, *, confidence: float = 0.95) -> Area:
    """The area with an interval that is no narrower than ``by_chance`` makes it: the spread of such
    areas where nothing tells and all else is the same. Texts that were scored by models of shared
    training texts depend on each other, which the variance by source does not know."""
    if not area.sources > 1 or not np.isfinite(by_chance):
        return area
    reach = float(special.stdtrit(area.sources - 1, 0.5 + confidence / 2)) * by_chance
    return replace(
        area,
        low=max(0.0, min(area.low, area.value - reach)),
        high=min(1.0, max(area.high, area.value + reach)),
        by_chance=by_chance,
    )


def area_within(
    scores: Floats, is_second: Bools, stratum: Ints, source: Ints, *, confidence: float = 0.95
) -> Area:
    """The share of concordant pairs among all pairs of one stratum (texts each).

    Only scores of one model are compared with each other: a stratum is a fold. The variance sums
    the structural components over sources (Obuchowski 1997, Biometrics 53, equation 4, for one
    test), each source's total taken as one draw; the interval is by t with sources less one.
    """
    parts = np.zeros(len(scores))
    pairs = 0
    won = 0.0
    for place in np.unique(stratum):
        inside = np.flatnonzero(stratum == place)
        second, first = inside[is_second[inside]], inside[~is_second[inside]]
        if not len(second) or not len(first):
            continue
        above = _above(scores[second], scores[first])
        below = len(second) - _above(scores[first], scores[second])
        won += above.sum()
        pairs += len(second) * len(first)
        parts[second] += above
        parts[first] += below
    if not pairs:
        return Area(float("nan"), float("nan"), float("nan"), 0, len(np.unique(source)))
    value = won / pairs
    return _with_interval(value, parts, is_second, stratum, source, pairs, confidence)


def _above(ones: Floats, others: Floats) -> Floats:
    """For each of ``ones`` how many of ``others`` lie below it, equal ones half."""
    ordered = np.sort(others)
    low = np.searchsorted(ordered, ones, side="left")
    high = np.searchsorted(ordered, ones, side="right")
    return np.asarray((low + high) / 2.0)


def _with_interval(
    value: float,
    parts: Floats,
    is_second: Bools,
    stratum: Ints,
    source: Ints,
    pairs: int,
    confidence: float,
) -> Area:
    """Each text's surplus over what ``value`` would give it, summed by source."""
    expected = np.zeros(len(parts))
    for place in np.unique(stratum):
        inside = stratum == place
        n_second = (is_second & inside).sum()
        n_first = inside.sum() - n_second
        expected[inside & is_second] = value * n_first
        expected[inside & ~is_second] = value * n_second
    keys, number = np.unique(source, return_inverse=True)
    surplus = np.bincount(number, weights=parts - expected, minlength=len(keys)) / pairs
    n = len(keys)
    if n < 2:
        return Area(value, float("nan"), float("nan"), pairs, n)
    error = float(np.sqrt(n / (n - 1) * (surplus**2).sum()))
    reach = float(special.stdtrit(n - 1, 0.5 + confidence / 2)) * error
    return Area(value, max(0.0, value - reach), min(1.0, value + reach), pairs, n)


# Logistic regression with a ridge penalty: how well columns tell two kinds of texts apart.


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """``score(x) = intercept + sum of weights * (x - centre) / scale``, the log-odds that a text is
    of the second kind. Columns without spread have weight 0."""

    centre: Floats
    scale: Floats
    weights: Floats
    intercept: float

    def score(self, values: Floats) -> Floats:
        """The log-odds (texts) of ``values`` (texts, features)."""
        return self.intercept + ((values - self.centre) / self.scale) @ self.weights


def fit_logistic(values: Floats, is_second: Bools, *, penalty: float = 1.0) -> LogisticModel:
    """The fit to ``values`` (texts, features), both kinds weighing the same however many there
    are; ``penalty`` is that on the sum of squared standardised weights, beside the summed loss.

    With one kind alone all weights are 0.
    """
    centre = values.mean(axis=0) if len(values) else np.zeros(values.shape[1])
    spread = values.std(axis=0) if len(values) else np.zeros(values.shape[1])
    scale = np.where(spread > 0, spread, 1.0)
    n_second = int(is_second.sum())
    n_first = len(is_second) - n_second
    if not n_second or not n_first:
        return LogisticModel(centre, scale, np.zeros(values.shape[1]), 0.0)
    x = np.where(spread > 0, (values - centre) / scale, 0.0)
    weight = np.where(is_second, 0.5 / n_second, 0.5 / n_first) * len(is_second)
    sign = np.where(is_second, 1.0, -1.0)

    def loss(parameters: Floats) -> tuple[float, Floats]:
        margin = sign * (x @ parameters[1:] + parameters[0])
        pull = -weight * sign * special.expit(-margin)
        slope = np.concatenate([[pull.sum()], x.T @ pull + penalty * parameters[1:]])
        value = weight @ np.logaddexp(0.0, -margin) + 0.5 * penalty * (parameters[1:] ** 2).sum()
        return float(value), slope

    start = np.zeros(x.shape[1] + 1)
    found = optimize.minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500}).x
    return LogisticModel(centre, scale, found[1:], float(found[0]))


# Scores of texts by models that never saw their source.


@dataclass(frozen=True, slots=True)
class CrossFit:
    """``scores`` (texts) are log-odds that a text is of the second kind, each by the model of the
    other folds; ``fold`` (texts) says which. Scores of different folds do not compare."""

    scores: Floats
    fold: Ints


def folds_by_source(source: Ints, n_folds: int = 5) -> Ints:
    """Folds (texts) that keep every source whole, as even as the sources allow: the largest first,
    each into the smallest fold. As many folds as sources where there are fewer."""
    keys, number, sizes = np.unique(source, return_inverse=True, return_counts=True)
    n = max(1, min(n_folds, len(keys)))
    load = np.zeros(n, dtype=np.int64)
    fold_of = np.zeros(len(keys), dtype=np.int64)
    for key in np.argsort(-sizes, kind="stable"):
        fold_of[key] = int(np.argmin(load))
        load[fold_of[key]] += sizes[key]
    return np.asarray(fold_of[number], dtype=np.int64)


def cross_fit(values: Floats, is_second: Bools, fold: Ints, *, penalty: float = 1.0) -> CrossFit:
    """Scores of ``values`` (texts, features), a model a fold, trained on all others."""
    scores = np.zeros(len(values))
    for place in np.unique(fold):
        held = fold == place
        model = fit_logistic(values[~held], is_second[~held], penalty=penalty)
        scores[held] = model.score(values[held])
    return CrossFit(scores, fold)


PENALTIES = (0.01, 0.1, 1.0, 10.0)  # times the mean variance of a column times the texts


def cross_ridge(
    values: Floats, is_second: Bools, fold: Ints, *, penalties: Sequence[float] = PENALTIES
) -> CrossFit:
    """Scores of ``values`` (texts, features), a model a fold, trained on all others.

    The penalty of each model is the one that ranks best when each of its own training folds is left
    out in turn (nested), so the fold that is scored chooses nothing. With fewer than three folds
    the second of ``penalties`` is taken.
    """
    sums = _FoldSums(values, is_second, fold)
    scores = np.zeros(len(values))
    for place in sums.folds:
        others = [each for each in sums.folds if each != place]
        chosen = penalties[min(1, len(penalties) - 1)]
        if len(others) > 1 and len(penalties) > 1:
            chosen = _best(sums, others, penalties)
        held = fold == place
        scores[held] = values[held] @ sums.weights(others, [chosen])[:, 0]
    return CrossFit(scores, fold)


def _best(sums: _FoldSums, training: Sequence[int], penalties: Sequence[float]) -> float:
    inside = np.isin(sums.fold, training)
    scores = np.zeros((int(inside.sum()), len(penalties)))
    within = sums.fold[inside]
    for left_out in training:
        others = [each for each in training if each != left_out]
        held = within == left_out
        scores[held] = sums.values[sums.fold == left_out] @ sums.weights(others, penalties)
    second, nobody = sums.is_second[inside], np.zeros(len(within), dtype=np.int64)
    areas = [area_within(column, second, within, nobody).value for column in scores.T]
    return penalties[int(np.nanargmax(areas))] if np.isfinite(areas).any() else penalties[0]


class _FoldSums:
    """Per fold and kind: how many texts, the sum of their values, and of their products."""

    def __init__(self, values: Floats, is_second: Bools, fold: Ints) -> None:
        self.values, self.is_second, self.fold = values, is_second, fold
        self.folds = [int(place) for place in np.unique(fold)]
        self._sums = {
            (place, kind): _sums(values[(fold == place) & (is_second == kind)])
            for place in self.folds
            for kind in (False, True)
        }

    def weights(self, folds: Sequence[int], penalties: Sequence[float]) -> Floats:
        """Weights (features, penalties) of the fits to these folds, both kinds weighing the same;
        zeros where one of them is missing."""
        counts, totals, products = [], [], []
        for kind in (False, True):
            parts = [self._sums[place, kind] for place in folds]
            counts.append(sum(part[0] for part in parts))
            totals.append(np.sum([part[1] for part in parts], axis=0))
            products.append(np.sum([part[2] for part in parts], axis=0))
        width = self.values.shape[1]
        if not all(counts):
            return np.zeros((width, len(penalties)))
        first, second = (total / count for total, count in zip(totals, counts, strict=True))
        centre = (first + second) / 2
        spread = sum(p / (2 * n) for p, n in zip(products, counts, strict=True))
        spread = spread - np.outer(centre, centre)
        scale = float(np.trace(spread)) / width or 1.0
        own, axes = np.linalg.eigh(spread)
        towards = axes.T @ (second - first)
        return np.stack(
            [axes @ (towards / (np.maximum(own, 0.0) + each * scale)) for each in penalties], axis=1
        )


def _sums(values: Floats) -> tuple[int, Floats, Floats]:
    return len(values), values.sum(axis=0), values.T @ values


def swapped_areas(
    values: Floats,
    is_second: Bools,
    source: Ints,
    fold: Ints,
    *,
    penalty: float,
    n: int = 200,
    seed: int = 0,
) -> Floats:
    """What cross-validated areas come to where nothing tells: ``n`` areas, the two kinds swapped in
    each source or not by a coin, and everything fitted anew.

    Sources are swapped whole, so what their texts share stays together; training folds are shared
    as in the area itself, which its variance by source does not know (Ojala and Garriga 2010,
    JMLR 11). ``penalty`` is that of ``fit_logistic``, whose Hessian at 0 is a quarter of the
    products.
    """
    keys, number = np.unique(source, return_inverse=True)
    swaps = np.random.default_rng(seed).integers(0, 2, size=(n, len(keys))).astype(np.bool_)
    sign = np.where(is_second, 0.5, -0.5)
    won, pairs = np.zeros(n), np.zeros(n)
    for place in np.unique(fold):
        held = fold == place
        spread = values[~held].std(axis=0)
        scaled = (values - values[~held].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        pull = np.zeros((len(keys), values.shape[1]))
        np.add.at(pull, number[~held], scaled[~held] * sign[~held, None])
        products = scaled[~held].T @ scaled[~held] / 4 + penalty * np.eye(values.shape[1])
        weights = np.linalg.solve(products, (np.where(swaps, -1.0, 1.0) @ pull).T)
        scores = scaled[held] @ weights
        second = is_second[held][:, None] ^ swaps[:, number[held]].T
        above, of = _ranked(scores, second)
        won, pairs = won + above, pairs + of
    return np.asarray(np.divide(won, pairs, out=np.full(n, np.nan), where=pairs > 0))


def _ranked(scores: Floats, second: Bools) -> tuple[Floats, Floats]:
    """By column: concordant pairs (equal scores by their order) and all pairs."""
    ranks = np.argsort(np.argsort(scores, axis=0, kind="stable"), axis=0, kind="stable") + 1.0
    n_second = second.sum(axis=0)
    above = (ranks * second).sum(axis=0) - n_second * (n_second + 1) / 2
    return above, n_second * (len(scores) - n_second)
