"""What more samples buy: with an oracle that knows the right one, and without.

Best-of-N with an oracle is `pass_at_k`: the share of questions with at least one right answer in N,
which no user can have. What a user can have is the answer given most often, or the one the model
was surest of; both are here as unit values for k of the n samples at hand.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from proofstone.engines.stats.resampling import generator

__all__ = ["majority_at_k", "surest_at_k"]

Floats = NDArray[np.float64]

_PURPOSE = 8
_MOST_AT_ONCE = 4_000_000


def surest_at_k(scores: Floats, confidence: Floats, k: int) -> Floats:
    """The expected score of the surest of ``k`` samples drawn without replacement, exactly.

    ``scores`` and ``confidence`` (units, respondents, samples), NaN where there is none; of equally
    sure ones each is taken alike often, and one without a confidence only where no other has one.
    NaN with fewer than k samples.
    """
    there = ~np.isnan(scores)
    sure = np.where(there, np.where(np.isnan(confidence), -np.inf, confidence), np.nan)
    above = (sure[..., None, :] > sure[..., :, None]).sum(axis=3)
    alike = (sure[..., None, :] == sure[..., :, None]).sum(axis=3)
    n = there.sum(axis=2)
    enough = n >= k
    total = np.where(enough, n, k)[..., None]
    # The surest of k stands at this level: none of those above it is drawn, and one of its own.
    chance = _none_of(above, total, k) - _none_of(above + alike, total, k)
    shares = np.where(there, chance / np.maximum(alike, 1), 0.0)
    value = (shares * np.where(there, scores, 0.0)).sum(axis=2)
    return np.where(enough, value, np.nan)


def majority_at_k(
    scores: Floats,
    answers: NDArray[np.integer],
    k: int,
    *,
    n_draws: int = 200,
    seed: int = 0,
) -> Floats:
    """The expected score of the answer that most of ``k`` samples give, by drawing k of them.

    ``answers`` (units, respondents, samples) are codes, negative where none was read: such a sample
    has no vote. Equally frequent answers share; without any vote the samples' mean score counts.
    An answer is worth the mean score of the samples that gave it. Exact, and without draws, where k
    is all of them. NaN with fewer than k samples.
    """
    shape = scores.shape[:2]
    if not scores.size:
        return np.full(shape, np.nan)
    flat, codes = scores.reshape(-1, scores.shape[2]), answers.reshape(-1, scores.shape[2])
    there = ~np.isnan(flat)
    codes = np.where(there, codes, -1)
    rng = generator(seed, _PURPOSE, k)
    block = max(1, _MOST_AT_ONCE // (n_draws * flat.shape[1]))
    found = np.full(len(flat), np.nan)
    for start in range(0, len(flat), block):
        part = slice(start, start + block)
        found[part] = _majorities(flat[part], codes[part], there[part], k, n_draws, rng)
    return np.where(there.sum(axis=1) >= k, found, np.nan).reshape(shape)


def _majorities(
    scores: Floats,
    codes: NDArray[np.integer],
    there: NDArray[np.bool_],
    k: int,
    n_draws: int,
    rng: np.random.Generator,
) -> Floats:
    """The mean over draws of each row's majority score (rows)."""
    same = (codes[:, :, None] == codes[:, None, :]) & (codes >= 0)[:, None, :]
    own = np.where(there, scores, 0.0)
    number = np.maximum(same.sum(axis=2), 1)
    worth = (same @ own[:, :, None])[:, :, 0] / number
    keys = rng.random((len(scores), n_draws, scores.shape[1]))
    keys = np.where(there[:, None, :], keys, 2.0)
    order = np.argsort(keys, axis=2, kind="stable")
    drawn = np.zeros(keys.shape)
    np.put_along_axis(drawn, order[:, :, :k], 1.0, axis=2)
    # Votes for the answer that each sample gave, where that sample was drawn and has one.
    votes = (drawn @ same.transpose(0, 2, 1)) * drawn * (codes >= 0)[:, None, :]
    most = votes.max(axis=2, keepdims=True, initial=0.0)
    wins = (votes == most) & (votes > 0)
    total = wins.sum(axis=2)
    by_vote = (wins * worth[:, None, :]).sum(axis=2) / np.maximum(total, 1)
    without = (drawn * own[:, None, :]).sum(axis=2) / k
    return np.asarray(np.where(total > 0, by_vote, without).mean(axis=1))


def _none_of(some: NDArray[np.integer], total: NDArray[np.integer], k: int) -> Floats:
    """The chance that k drawn of ``total`` hold none of ``some``: C(total - some, k) over
    C(total, k)."""
    left = total - some
    possible = left >= k
    log = _log_choose(np.maximum(left, k), k) - _log_choose(total, k)
    return np.where(possible, np.exp(log), 0.0)


def _log_choose(n: NDArray[np.integer], k: int) -> Floats:
    return np.asarray(gammaln(n + 1.0) - gammaln(n - k + 1.0))
