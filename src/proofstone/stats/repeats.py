"""What several answers to the same item say: unit values (units, respondents) of every kind.

Each function takes scores (units, respondents, samples), NaN where there is none, and gives one
value a unit and respondent, NaN where too few samples are there. So every one of them has the mean,
the interval and the ranking that any unit value has (`mean_estimates`).
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy.special import gammaln

from proofstone.stats.intervals import divided
from proofstone.stats.resampling import generator

# The same items asked several times: AVG@k, the mean of k samples' means and their spread.


class AverageAtK(Struct, frozen=True, kw_only=True):
    """AVG@k: ``mean`` over the means ``by_sample`` of k samples, ``sd`` over them with k - 1.

    ``sd`` is NaN for k = 1: one sample says nothing of another. ``sd_population`` divides by k, as
    some papers print it.
    """

    k: int
    mean: float
    sd: float
    sd_population: float
    by_sample: tuple[float, ...]


def average_at_k(sample: NDArray[np.integer], counted: NDArray[np.float64]) -> AverageAtK:
    """AVG@k of one respondent's scores; parallel arrays, NaN in ``counted`` left out.

    Each sample weighs the same, also where one has fewer counted scores. No score: k = 0 and NaN.
    """
    kept = ~np.isnan(counted)
    _, code, sizes = np.unique(sample[kept], return_inverse=True, return_counts=True)
    means = np.bincount(code, weights=counted[kept]) / sizes if len(sizes) else np.empty(0)
    k = len(means)
    return AverageAtK(
        k=k,
        mean=float(means.mean()) if k else float("nan"),
        sd=float(means.std(ddof=1)) if k > 1 else float("nan"),
        sd_population=float(means.std()) if k else float("nan"),
        by_sample=tuple(means.tolist()),
    )


Floats = NDArray[np.float64]


def sample_means(scores: Floats) -> Floats:
    """The mean over the samples that are there, which stand on the last axis."""
    return divided(np.nansum(scores, axis=-1), (~np.isnan(scores)).sum(axis=-1))


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
    return divided(agree, number)


def _log_choose(n: NDArray[np.integer], k: int) -> Floats:
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))


# What more samples buy: with an oracle that knows the right one, and without.
#
# Best-of-N with an oracle is `pass_at_k`: the share of questions with at least one right answer in
# N, which no user can have. What a user can have is the answer given most often, or the one the
# model was surest of; both are here as unit values for k of the n samples at hand.

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
    log = _best_of_n_log_choose(np.maximum(left, k), k) - _best_of_n_log_choose(total, k)
    return np.where(possible, np.exp(log), 0.0)


def _best_of_n_log_choose(n: NDArray[np.integer], k: int) -> Floats:
    return np.asarray(gammaln(n + 1.0) - gammaln(n - k + 1.0))
