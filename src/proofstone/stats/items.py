"""What each item says: how hard it is, whether the strong do better on it, what to check."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaincc

from proofstone.stats.clusters import Dependence, SharedKeys
from proofstone.stats.intervals import (
    benjamini_hochberg,
    divided,
    normal_two_sided_p,
    over_known,
    quadratic_p,
    t_two_sided_p,
    unknown,
)

Floats = NDArray[np.float64]


ItemFlag = Literal["nearly-all-right", "nearly-all-wrong", "weak-beat-strong", "strong-distractor"]


ITEM_FLAGS: dict[ItemFlag, str] = {
    "nearly-all-right": "nearly everybody is right: it tells nobody apart",
    "nearly-all-wrong": "nearly everybody is wrong: too hard, or the key is wrong",
    "weak-beat-strong": "the weak are right and the strong wrong: the key may be wrong",
    "strong-distractor": "the strongest agree on one wrong answer: it may be the right one",
}


# Fewer respondents than this rank each other too poorly to accuse an item.
_FEWEST_RESPONDENTS = 8


_THIRD = 1.0 / 3.0


class ItemStatistics(Struct, frozen=True, kw_only=True):
    """One item (a row) by ``n`` respondents that answered it.

    ``difficulty`` is the mean score, high for easy ones. ``discrimination`` is the correlation of
    its scores with the mean of all other items (corrected item-total), NaN where either does not
    vary; ``p`` the one-sided chance of one as low where there is none. ``strong`` and ``weak`` are
    the means of the third of respondents that do best, and worst, on the other items.
    ``distractor`` is the wrong answer that most of the strong third give, -1 where none was given
    or answers are not known, and ``distractor_share`` their share.
    """

    unit: int
    n: int
    difficulty: float
    discrimination: float
    p: float
    strong: float
    weak: float
    distractor: int = -1
    distractor_share: float = float("nan")
    flags: tuple[ItemFlag, ...] = ()


def describe_items(
    values: Floats,
    *,
    answers: NDArray[np.integer] | None = None,
    gold: NDArray[np.integer] | None = None,
    extreme: float = 0.05,
    false_share: float = 0.1,
) -> tuple[ItemStatistics, ...]:
    """Statistics of each row of ``values`` (items, respondents), NaN where a cell is missing.

    ``answers`` (items, respondents, or these by samples too) are codes, negative where none was
    read, with ``gold`` (items).
    Items within ``extreme`` of 0 or 1 are flagged; those that the weak get right and the strong
    wrong where Benjamini and Hochberg let ``false_share`` of them be so by chance; both, and
    distractors that more than half of the strong third give, only from eight respondents on.
    """
    n, difficulty = _means(values)
    correlation, rest = item_rest_correlations(values)
    p = one_sided_p(correlation, n)
    adjusted = over_known(benjamini_hochberg, p)
    is_strong, is_weak = _thirds(rest)
    strong, weak = (_mean_where(values, chosen) for chosen in (is_strong, is_weak))
    distractor, share = _distractors(answers, gold, is_strong)
    enough = n >= _FEWEST_RESPONDENTS
    found: dict[ItemFlag, NDArray[np.bool_]] = {
        "nearly-all-right": enough & (difficulty >= 1.0 - extreme),
        "nearly-all-wrong": enough & (difficulty <= extreme),
        "weak-beat-strong": enough & (adjusted < false_share) & (weak > strong),
        "strong-distractor": enough & (share > 0.5) & (share > np.nan_to_num(strong)),
    }
    return tuple(
        ItemStatistics(
            unit=unit,
            n=int(n[unit]),
            difficulty=float(difficulty[unit]),
            discrimination=float(correlation[unit]),
            p=float(p[unit]),
            strong=float(strong[unit]),
            weak=float(weak[unit]),
            distractor=int(distractor[unit]),
            distractor_share=float(share[unit]),
            flags=tuple(flag for flag, items in found.items() if items[unit]),
        )
        for unit in range(len(values))
    )


def item_rest_correlations(values: Floats) -> tuple[Floats, Floats]:
    """Each item's correlation with the mean of the others (items), and those means (items,
    respondents): over respondents that have the item, by the other items that each has."""
    there = ~np.isnan(values)
    scores = np.where(there, values, 0.0)
    others = there.sum(axis=0) - there
    rest = np.where(there, divided(scores.sum(axis=0) - scores, others), np.nan)
    return row_correlations(values, rest), rest


def row_correlations(first: Floats, second: Floats) -> Floats:
    """Pearson's correlation of each pair of rows, over the places where both are there; NaN where
    either does not vary."""
    both = ~np.isnan(first) & ~np.isnan(second)
    number = np.maximum(both.sum(axis=1, keepdims=True), 1)
    x, y = (np.where(both, rows, 0.0) for rows in (first, second))
    x = np.where(both, x - x.sum(axis=1, keepdims=True) / number, 0.0)
    y = np.where(both, y - y.sum(axis=1, keepdims=True) / number, 0.0)
    scale = np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    varies = scale > 1e-12
    return np.where(varies, (x * y).sum(axis=1) / np.where(varies, scale, 1.0), np.nan)


def _means(values: Floats) -> tuple[NDArray[np.int64], Floats]:
    n = (~np.isnan(values)).sum(axis=1)
    return n, divided(np.nansum(values, axis=1), n)


def one_sided_p(correlation: Floats, n: NDArray[np.int64]) -> Floats:
    """How often a correlation of n pairs is this low where there is none (Student's t)."""
    degrees = np.maximum(n - 2.0, 1.0)
    left = np.maximum(1.0 - correlation**2, 1e-12)
    t = correlation * np.sqrt(degrees / left)
    half = t_two_sided_p(t, degrees) / 2.0
    p = np.where(correlation < 0, half, 1.0 - half)
    return np.where((n > 2) & ~np.isnan(correlation), p, np.nan)


def _thirds(rest: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which respondents are of the best and of the worst third on the other items, by item."""
    n = (~np.isnan(rest)).sum(axis=1, keepdims=True)
    size = np.floor(n * _THIRD + 1e-9)
    order = np.argsort(np.where(np.isnan(rest), np.inf, rest), axis=1, kind="stable")
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.arange(rest.shape[1])[None, :], axis=1)
    there = ~np.isnan(rest)
    return there & (place >= n - size), there & (place < size)


def _mean_where(values: Floats, chosen: NDArray[np.bool_]) -> Floats:
    number = chosen.sum(axis=1)
    sums = np.where(chosen, np.nan_to_num(values), 0.0).sum(axis=1)
    return divided(sums, number)


def _distractors(
    answers: NDArray[np.integer] | None,
    gold: NDArray[np.integer] | None,
    is_strong: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], Floats]:
    """The wrong answer that most of the strong give, of equal ones the first, and their share."""
    n_items = len(is_strong)
    if answers is None or gold is None or not answers.size or answers.max() < 0:
        return np.full(n_items, -1), np.full(n_items, np.nan)
    if answers.ndim == 3:
        is_strong = np.repeat(is_strong, answers.shape[2], axis=1)
        answers = answers.reshape(n_items, -1)
    wrong = is_strong & (answers >= 0) & (answers != gold[:, None])
    n_codes = int(answers.max()) + 1
    row, column = np.nonzero(wrong)
    # Only answers that were given: free texts have as many codes as replies.
    given, counts = np.unique(row * n_codes + answers[row, column], return_counts=True)
    items, code = np.divmod(given, n_codes)
    first = np.unique(items[order := np.lexsort((code, -counts, items))], return_index=True)[1]
    winner = order[first]
    distractor, most = np.full(n_items, -1), np.zeros(n_items)
    distractor[items[winner]], most[items[winner]] = code[winner], counts[winner]
    size = is_strong.sum(axis=1)
    return distractor, divided(most, size)


# What each shared fact does to the questions that hold it: its ease, and whom it favours.
#
# A composed question rests on several statements, so no single score is about one of them. Over all
# questions that hold a statement the others differ, and what is left is its own: a wrong statement
# makes its questions harder than the rest, most of all for those who know better.

KeyFlag = Literal["harder-than-the-rest", "weak-beat-strong", "probably-wrong"]


KEY_FLAGS: dict[KeyFlag, str] = {
    "harder-than-the-rest": "questions that hold it are missed more than the others",
    "weak-beat-strong": "on questions that hold it the weak do better than the strong",
    "probably-wrong": "its questions are missed more, and the strong gain nothing on them",
}


class KeyStatistics(Struct, frozen=True, kw_only=True):
    """One key by the ``n_units`` units that hold it.

    ``mean`` is the mean score on them, ``lift`` how far it lies above the mean on all units, over
    the respondents that have them; ``p`` tests a lift of 0. ``discrimination`` is the correlation
    over respondents of their mean on these units with that on all others, ``p_low`` the chance of
    one as low where there is none. NaN where that cannot be told.
    """

    key: int
    n_units: int
    mean: float
    lift: float
    p: float
    discrimination: float
    p_low: float
    flags: tuple[KeyFlag, ...] = ()


def describe_keys(
    values: Floats, keys: SharedKeys, *, fewest_units: int = 2, false_share: float = 0.1
) -> tuple[KeyStatistics, ...]:
    """Statistics of every key that at least ``fewest_units`` units hold, by key.

    ``values`` (units, respondents), NaN where a cell is missing. The test of a lift takes units as
    independent, with one variance for all; Benjamini and Hochberg let ``false_share`` of the flags
    be so by chance. "probably-wrong": harder than the rest, and a discrimination not above 0, from
    eight respondents on.
    """
    incidence, codes = _holders(keys)
    n_units = np.asarray(incidence.sum(axis=1)).ravel().astype(np.int64)
    chosen = np.flatnonzero(n_units >= fewest_units)
    incidence, codes, n_units = incidence[chosen], codes[chosen], n_units[chosen]
    there = ~np.isnan(values)
    scores = np.where(there, values, 0.0)
    sums, held = incidence @ scores, incidence @ there.astype(np.float64)
    own = divided(sums, held)
    others = divided(scores.sum(axis=0) - sums, there.sum(axis=0) - held)
    lift, p = _lifts(incidence, values, n_units)
    both = ~np.isnan(own) & ~np.isnan(others)
    discrimination = row_correlations(own, np.where(both, others, np.nan))
    n = both.sum(axis=1)
    p_low = one_sided_p(discrimination, n)
    harder = (lift < 0) & (over_known(benjamini_hochberg, p) < false_share)
    weak_beat = (over_known(benjamini_hochberg, p_low) < false_share) & (n >= _FEWEST_RESPONDENTS)
    wrong = harder & (discrimination <= 0) & (n >= _FEWEST_RESPONDENTS)
    found: dict[KeyFlag, NDArray[np.bool_]] = {
        "harder-than-the-rest": harder,
        "weak-beat-strong": weak_beat,
        "probably-wrong": wrong,
    }
    total = held.sum(axis=1)
    means = divided(sums.sum(axis=1), total)
    return tuple(
        KeyStatistics(
            key=int(codes[row]),
            n_units=int(n_units[row]),
            mean=float(means[row]),
            lift=float(lift[row]),
            p=float(p[row]),
            discrimination=float(discrimination[row]),
            p_low=float(p_low[row]),
            flags=tuple(flag for flag, rows in found.items() if rows[row]),
        )
        for row in range(len(codes))
    )


def _holders(keys: SharedKeys) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A sparse matrix (keys, units) of ones, each edge once, and the keys' codes."""
    codes, row = np.unique(keys.key, return_inverse=True)
    edges = np.unique(row.astype(np.int64) * max(keys.n_units, 1) + keys.unit)
    row, unit = np.divmod(edges, max(keys.n_units, 1))
    shape = (len(codes), keys.n_units)
    return sparse.csr_matrix((np.ones(len(edges)), (row, unit)), shape=shape), codes


def _lifts(
    incidence: NDArray[np.float64], values: Floats, n_units: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """The mean residual of each key's units, and its two-sided p-value (normal).

    A unit's residual is the mean over respondents of what it scores above their own level, so that
    a unit that only the strong were asked is not taken for an easy one.
    """
    there = ~np.isnan(values)
    scores = np.where(there, values, 0.0)
    level = divided(scores.sum(axis=0), there.sum(axis=0))
    above = np.where(there, values - level, 0.0)
    residual = divided(above.sum(axis=1), there.sum(axis=1))
    known = ~np.isnan(residual)
    number = incidence @ known.astype(np.float64)
    lift = divided(incidence @ np.where(known, residual, 0.0), number)
    deviation = float(residual[known].std(ddof=1)) if known.sum() > 1 else 0.0
    if deviation == 0.0:
        return lift, np.full(len(lift), np.nan)
    return lift, normal_two_sided_p(lift * np.sqrt(number) / deviation)


# Does a respondent favour a position among the options?
#
# Questions with more options are harder to guess and have later positions, so positions are
# compared within questions of one number of options and the tests are added up.

Codes = NDArray[np.integer]


Bools = NDArray[np.bool_]


class PositionShare(Struct, frozen=True, kw_only=True):
    """A position (from 0): on how many of ``asked`` replies it was there, how often it was chosen
    and how often it was right, and the mean score where it was right (NaN where it never was)."""

    position: int
    asked: int
    chosen: int
    right: int
    expected: float
    accuracy: float


class PositionTest(Struct, frozen=True, kw_only=True):
    """A test over positions: Pearson's (or a score test's) chi-square and its degrees. ``p`` takes
    replies of one item, and of items that share keys, as dependent: the statistic is referred to
    what it is by their covariance (Rao and Scott 1984, second order); ``design`` is how many times
    larger that makes it by chance, 1 where no two depend."""

    chi_square: float
    df: int
    p: float
    design: float


class PositionBias(Struct, frozen=True, kw_only=True):
    """Positions of the right and of the chosen option, and three tests.

    ``accuracy``: one accuracy wherever the right option stands. ``choice``: every position chosen
    alike often, against uniform; it also rejects where the key is not uniform and the respondent is
    right. ``error``: wrong choices spread evenly over the wrong positions, which a key cannot
    cause. ``unread`` replies chose no position. ``groups``: the effective number of independent
    groups of replies.
    """

    positions: tuple[PositionShare, ...]
    accuracy: PositionTest
    choice: PositionTest
    error: PositionTest
    unread: int
    groups: float


def position_bias(
    scores: Floats,
    gold: Codes,
    chosen: Codes,
    n_options: Codes,
    *,
    unit: Codes | None = None,
    keys: SharedKeys | None = None,
) -> PositionBias:
    """The bias of one respondent's replies: parallel arrays (replies) of score, position of the
    right option and of the chosen one (from 0, negative where none), and number of options.

    ``unit`` (replies) says which replies are to one item, by its place in ``keys``; without it each
    is to its own. Replies without a score or without a right position are left out.
    """
    kept = ~np.isnan(scores) & (gold >= 0) & (gold < n_options)
    y, g, c, k = scores[kept], gold[kept], chosen[kept], n_options[kept]
    dependence = Dependence.of(len(y), None if unit is None else unit[kept], keys)
    valid = (c >= 0) & (c < k)
    most = int(k.max(initial=0))
    return PositionBias(
        positions=tuple(_share(p, y, g, np.where(valid, c, -1), k) for p in range(most)),
        accuracy=_tested([_one_accuracy(y, g, k, int(n)) for n in np.unique(k)], dependence),
        choice=_tested([_even(c, k, valid, int(n)) for n in np.unique(k)], dependence),
        error=_tested([_errors_even(g, c, k, valid & (c != g), most)], dependence),
        unread=int((~valid).sum()),
        groups=dependence.groups,
    )


def _share(p: int, y: Floats, g: Codes, c: Codes, k: Codes) -> PositionShare:
    there, right = k > p, g == p
    return PositionShare(
        position=p,
        asked=int(there.sum()),
        chosen=int((c == p).sum()),
        right=int(right.sum()),
        expected=float((1.0 / k[there & (c >= 0)]).sum()),
        accuracy=float(y[right].mean()) if right.any() else float("nan"),
    )


# A test's parts (replies, q): what each reply adds to each excess over what is expected, and the
# covariance (q, q) of these excesses were replies independent.
_Excess = tuple[Floats, Floats]


def _one_accuracy(y: Floats, g: Codes, k: Codes, n: int) -> _Excess:
    """Scores above the mean of questions of n options, by position of the right one."""
    chosen = k == n
    size = int(chosen.sum())
    mean = float(y[chosen].mean())
    at = (g[:, None] == np.arange(n)) & chosen[:, None]
    share = at.sum(axis=0) / size
    parts = np.where(chosen[:, None], (at - share) * (y - mean)[:, None], 0.0)
    variance = float(((y[chosen] - mean) ** 2).mean())
    return parts, variance * size * (np.diag(share) - np.outer(share, share))


def _even(c: Codes, k: Codes, valid: Bools, n: int) -> _Excess:
    """Choices above one in n, of questions of n options."""
    chosen = valid & (k == n)
    parts = ((c[:, None] == np.arange(n)) - 1.0 / n) * chosen[:, None]
    return parts, chosen.sum() * (np.eye(n) / n - 1.0 / n**2)


def _errors_even(g: Codes, c: Codes, k: Codes, wrong: Bools, most: int) -> _Excess:
    """Wrong choices above an even spread over the positions that are wrong, each reply's own."""
    position = np.arange(most)
    open_to = (position < k[:, None]) & (position != g[:, None]) & wrong[:, None]
    chance = open_to / np.maximum(k - 1.0, 1.0)[:, None]
    parts = ((c[:, None] == position) & wrong[:, None]) - chance
    return parts, np.diag(chance.sum(axis=0)) - chance.T @ chance


def _tested(excesses: Sequence[_Excess], dependence: Dependence) -> PositionTest:
    """The chi-squares of several excesses together: each over its covariance were replies
    independent, along the directions that have any; p by how they really go together."""
    whitened = []
    for parts, covariance in excesses:
        values, vectors = np.linalg.eigh(covariance)
        # All counts together are as many as replies, so one direction at least has no variance.
        free = values > 1e-9 * max(float(values.max(initial=0.0)), 1e-9)
        whitened.append(parts @ (vectors[:, free] / np.sqrt(values[free])))
    parts = np.hstack(whitened) if whitened else np.zeros((0, 0))
    df = parts.shape[1]
    if not df:
        return unknown(PositionTest, df=0)
    statistic = float((parts.sum(axis=0) ** 2).sum())
    p, design = float(gammaincc(df / 2, statistic / 2)), 1.0
    if dependence.is_shared:
        v = dependence.moments(parts).covariance
        design = float(np.trace(v)) / df
        if design > 1.0:
            p = quadratic_p(statistic, float(np.trace(v)), float((v**2).sum()), dependence.groups)
    return PositionTest(chi_square=statistic, df=df, p=p, design=max(design, 1.0))
