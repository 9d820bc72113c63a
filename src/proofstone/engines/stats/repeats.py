"""What several answers to the same item say: unit values (units, respondents) of every kind.

Each function takes scores (units, respondents, samples), NaN where there is none, and gives one
value a unit and respondent, NaN where too few samples are there. So every one of them has the mean,
the interval and the ranking that any unit value has (`mean_estimates`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

__all__ = ["answer_consistency", "consistency", "majority_scores", "pass_at_k", "sample_means"]

Floats = NDArray[np.float64]


def sample_means(scores: Floats) -> Floats:
    """The mean over the samples that are there."""
    number = (~np.isnan(scores)).sum(axis=2)
    sums = np.nansum(scores, axis=2)
    return np.where(number > 0, sums / np.maximum(number, 1), np.nan)


def pass_at_k(scores: Floats, k: int, *, right_from: float = 1.0) -> Floats:
    """The chance that at least one of ``k`` answers is right, unbiased from n >= k samples.

    1 - C(n - c, k) / C(n, k) with c right ones, a score of ``right_from`` or more (Chen et al.
    2021, equation 1). Best-of-N with an oracle is this with k = N. NaN where n < k.
    """
    n = (~np.isnan(scores)).sum(axis=2)
    right = (scores >= right_from).sum(axis=2)
    wrong = n - right
    possible = wrong >= k
    log_none = np.where(possible, _log_choose(np.maximum(wrong, k), k), -np.inf)
    value = 1.0 - np.exp(log_none - _log_choose(np.maximum(n, k), k))
    return np.where(n >= k, np.clip(value, 0.0, 1.0), np.nan)


def majority_scores(scores: Floats, answers: NDArray[np.integer]) -> Floats:
    """The score of the answer given most often; equally frequent ones count their mean.

    ``answers`` (units, respondents, samples) are codes, negative where none was read: such a
    sample has no vote. Where no sample has one, the unit counts the mean of its scores.
    """
    votes = (answers >= 0) & ~np.isnan(scores)
    same = (answers[..., :, None] == answers[..., None, :]) & votes[..., None, :]
    number = np.where(votes, same.sum(axis=3), 0)
    most = number.max(axis=2, initial=0)
    wins = votes & (number == most[..., None])
    # A winning answer of f samples is met f times, and so is every other: their mean is fair.
    by_vote = sample_means(np.where(wins, scores, np.nan))
    return np.where(most > 0, by_vote, sample_means(scores))


def consistency(
    scores: Floats, orders: NDArray[np.integer] | None = None, *, same_order: bool = False
) -> Floats:
    """The chance that two different samples score alike, unbiased; NaN with fewer than two.

    With ``orders`` (codes, as ``scores``) only pairs in different ones count, or in the same one.
    """
    there = ~np.isnan(scores)
    alike = scores[..., :, None] == scores[..., None, :]
    return _pairs_alike(alike, there, orders, same_order=same_order)


def answer_consistency(
    answers: NDArray[np.integer],
    present: NDArray[np.bool_],
    orders: NDArray[np.integer] | None = None,
    *,
    same_order: bool = False,
) -> Floats:
    """The chance that two different samples give the same answer; one that was not read (a negative
    code) agrees with none. NaN with fewer than two ``present``.

    With ``orders`` of the options (codes, as ``answers``, which then are contents and not places)
    only pairs in different orders count: the shuffled-options consistency; or with ``same_order``
    those in the same one, which says how far answers differ by themselves.
    """
    read = answers >= 0
    alike = (answers[..., :, None] == answers[..., None, :]) & read[..., None]
    return _pairs_alike(alike, present, orders, same_order=same_order)


def _pairs_alike(
    alike: NDArray[np.bool_],
    there: NDArray[np.bool_],
    orders: NDArray[np.integer] | None,
    *,
    same_order: bool,
) -> Floats:
    both = there[..., :, None] & there[..., None, :]
    if orders is not None:
        both &= (orders[..., :, None] == orders[..., None, :]) == same_order
    both &= ~np.eye(there.shape[-1], dtype=bool)
    number = both.sum(axis=(2, 3))
    agree = (alike & both).sum(axis=(2, 3))
    return np.where(number > 0, agree / np.maximum(number, 1), np.nan)


def _log_choose(n: NDArray[np.integer], k: int) -> Floats:
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))
