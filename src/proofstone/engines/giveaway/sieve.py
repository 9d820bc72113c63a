"""Dropping the texts that give themselves away, and what is left measured on other sources."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.giveaway.areas import Area, area_within
from proofstone.engines.giveaway.classifier import fit_logistic
from proofstone.engines.giveaway.crossfit import cross_fit, folds_by_source

__all__ = ["Sifted", "sift_give_aways"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Sifted:
    """``kept`` (texts) is False for what gave itself away. ``held_out`` (texts): those of the
    sources from which nothing of the dropping was learnt. ``before`` and ``after`` are areas on
    these alone, by models of their own. ``rounds`` of dropping were made; ``reached``: ``after`` is
    no more than the target. Where no round reaches it, the one that came nearest stands here: too
    much dropping tells the kinds apart again, the other way round."""

    kept: Bools
    held_out: Bools
    before: Area
    after: Area
    rounds: int
    reached: bool


def sift_give_aways(
    values: Floats,
    is_second: Bools,
    source: Ints,
    *,
    target: float = 0.55,
    held_share: float = 0.3,
    step: float = 0.05,
    most: float = 0.5,
    penalty: float = 10.0,
) -> Sifted:
    """Drops texts (of ``values``, texts by features) until models tell the two kinds apart no
    better than ``target``, ``most`` of them at the most.

    A model of most of the sources says how surely each text is told (of its own source by a model
    that never saw it). Round by round the ``step`` of each kind that is told most surely goes, on
    all sources alike, until fresh models on the sources held out come to the target: these taught
    nothing of what goes, only when to stop. ValueError with fewer than four sources: two to learn
    from, two to measure on.
    """
    if len(np.unique(source)) < 4:
        raise ValueError("dropping needs four sources: two to learn from and two to measure on")
    held_out = _held_out(source, held_share)
    scores = _told(values, is_second, source, ~held_out, penalty)
    before = _area(values, is_second, source, held_out, penalty)
    best = Sifted(
        np.ones(len(source), dtype=np.bool_), held_out, before, before, 0, _is_fair(before, target)
    )
    for rounds in range(1, int(most / step + 1e-9) + 1):
        if best.reached:
            break
        kept = _without_surest(scores, is_second, ~held_out, rounds * step)
        after = _area(values, is_second, source, held_out & kept, penalty)
        if not after.value >= best.after.value:
            best = Sifted(kept, held_out, before, after, rounds, _is_fair(after, target))
    return best


def _is_fair(area: Area, target: float) -> bool:
    """Also where there is no pair left to tell apart."""
    return not area.pairs or area.value <= target


def _held_out(source: Ints, share: float) -> Bools:
    """Every text of about ``share`` of the sources: two at least, and two at least left."""
    keys = np.unique(source)
    n_folds = min(max(2, round(1.0 / share)), len(keys) // 2)
    fold = folds_by_source(source, n_folds)
    return np.asarray(fold == fold.max())


def _told(
    values: Floats, is_second: Bools, source: Ints, learning: Bools, penalty: float
) -> Floats:
    """How surely each text is told to be of its own kind (texts), by models of other sources."""
    model = fit_logistic(values[learning], is_second[learning], penalty=penalty)
    scores = model.score(values)
    fold = folds_by_source(source[learning])
    scores[learning] = cross_fit(
        values[learning], is_second[learning], fold, penalty=penalty
    ).scores
    return np.where(is_second, scores, -scores)


def _without_surest(told: Floats, is_second: Bools, learning: Bools, share: float) -> Bools:
    """All texts but those above what ``share`` of the learning ones of their kind pass."""
    kept = np.ones(len(told), dtype=np.bool_)
    for kind in (is_second, ~is_second):
        if (kind & learning).any():
            bound = np.quantile(told[kind & learning], 1.0 - share)
            kept &= ~(kind & (told > bound))
    return kept


def _area(values: Floats, is_second: Bools, source: Ints, chosen: Bools, penalty: float) -> Area:
    if not chosen.any():
        return Area(float("nan"), float("nan"), float("nan"), 0, 0)
    fold = folds_by_source(source[chosen])
    fit = cross_fit(values[chosen], is_second[chosen], fold, penalty=penalty)
    return area_within(fit.scores, is_second[chosen], fold, source[chosen])
