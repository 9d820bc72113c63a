"""What each item says: how hard it is, whether the strong do better on it, what to check."""

from __future__ import annotations

from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.engines.stats.intervals import t_two_sided_p
from proofstone.engines.stats.multiplicity import benjamini_hochberg

__all__ = [
    "ITEM_FLAGS",
    "ItemFlag",
    "ItemStatistics",
    "describe_items",
    "item_rest_correlations",
    "one_sided_p",
    "row_correlations",
]

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
    known = ~np.isnan(p)
    adjusted = np.ones(len(p))
    adjusted[known] = benjamini_hochberg(p[known])
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
    rest = np.where(others > 0, (scores.sum(axis=0) - scores) / np.maximum(others, 1), np.nan)
    rest = np.where(there, rest, np.nan)
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
    return n, np.where(n > 0, np.nansum(values, axis=1) / np.maximum(n, 1), np.nan)


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
    return np.where(number > 0, sums / np.maximum(number, 1), np.nan)


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
    return distractor, np.where(size > 0, most / np.maximum(size, 1), np.nan)
