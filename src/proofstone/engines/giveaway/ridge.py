"""Ridge regression on a few hundred columns at once: what embeddings tell, and what chance would.

Least squares to +1 and -1 ranks texts as a logistic fit does, and needs of each fold only sums:
so penalties are chosen within the training folds, and kinds swapped hundreds of times, at the cost
of one fit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.giveaway.areas import area_within
from proofstone.engines.giveaway.crossfit import CrossFit

__all__ = ["PENALTIES", "cross_ridge", "swapped_areas"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

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
