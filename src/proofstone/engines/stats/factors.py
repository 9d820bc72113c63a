"""What a factor does: the number of options, a seed, a way of asking, thinking, tools, alignment.

A factor has levels; each model was asked at several of them. Its effect is the difference of one
model's means between a level and the reference, on the same items where both levels have them
(`contrasts`). All effects come with one joint covariance, for models share items too, so it can be
tested whether the effect is the same for all models: the interaction of model and factor.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.engines.stats.clusters import SharedKeys
from proofstone.engines.stats.contrasts import Contrasts, measure_contrasts
from proofstone.engines.stats.flags import Estimand
from proofstone.engines.stats.multiplicity import holm
from proofstone.engines.stats.wald import WaldTest, wald
from proofstone.errors import BadUsage
from proofstone.records.results import Estimate

__all__ = ["AverageEffect", "Effect", "Factor", "analyse_factor"]

Floats = NDArray[np.float64]


class Effect(Struct, frozen=True, kw_only=True):
    """What ``level`` does to ``model`` (their places): the difference from the reference's mean.

    ``p_holm`` is corrected for all effects of the analysis. ``beyond`` is how much more it is than
    the mean effect on the other models at that level, ``p_beyond`` corrected in the same way; None
    and NaN without another model.
    """

    model: int
    level: int
    change: Estimate
    is_paired: bool
    p: float
    p_holm: float
    beyond: Estimate | None
    p_beyond: float


class AverageEffect(Struct, frozen=True, kw_only=True):
    """The mean effect of ``level`` on ``n_models`` models, each weighing the same. These models are
    taken as they are: units are resampled, models are not."""

    level: int
    change: Estimate
    n_models: int
    p: float


class Factor(Struct, frozen=True, kw_only=True):
    """The effects of a factor on M models, the mean by level, and two kinds of tests.

    ``by_model`` (M): whether any level differs from any other for that model, ``p_by_model``
    corrected by Holm. ``interaction``: whether the effects are the same for all ``n_complete``
    models that have every level.
    """

    reference: int
    effects: tuple[Effect, ...]
    average: tuple[AverageEffect, ...]
    by_model: tuple[WaldTest, ...]
    p_by_model: tuple[float, ...]
    interaction: WaldTest
    n_complete: int


def analyse_factor(
    levels: Sequence[Floats],
    keys: SharedKeys,
    *,
    reference: int = 0,
    estimand: Estimand = "knowledge",
    confidence: float = 0.95,
) -> Factor:
    """The analysis of two or more ``levels``: each (U units, M models), shares in [0, 1], NaN where
    a model was not asked a unit at that level.

    The same row is the same unit (or facts) in all levels; where levels hold units of their own,
    rows are NaN in the others. Raises BadUsage for fewer than two levels.
    """
    if len(levels) < 2:
        raise BadUsage(
            f"a factor has two or more levels; here is {len(levels)}",
            hint="give one matrix of values a level",
        )
    others = [k for k in range(len(levels)) if k != reference]
    before = np.concatenate([levels[reference] for _ in others], axis=1)
    after = np.concatenate([levels[k] for k in others], axis=1)
    contrasts = measure_contrasts(before, after, keys, estimand)
    n_models = levels[0].shape[1]
    table = np.arange(len(others) * n_models).reshape(len(others), n_models)
    known = ~np.isnan(contrasts.values[table])
    by_model = tuple(_joint(contrasts, table[known[:, m], m]) for m in range(n_models))
    complete = np.flatnonzero(known.all(axis=0))
    return Factor(
        reference=reference,
        effects=_effects(contrasts, table, others, confidence),
        average=_averages(contrasts, table, others, confidence),
        by_model=by_model,
        p_by_model=tuple(_holm_of_known(np.array([test.p for test in by_model])).tolist()),
        interaction=_interaction(contrasts, table[:, complete]),
        n_complete=len(complete),
    )


def _effects(
    contrasts: Contrasts, table: NDArray[np.intp], others: Sequence[int], confidence: float
) -> tuple[Effect, ...]:
    """One effect a model and level that were asked, by model."""
    changes = contrasts.estimates(confidence=confidence)
    known = ~np.isnan(contrasts.values)
    p = np.where(known, contrasts.p(), np.nan)
    beyond = contrasts.combined(_against_others(table, known))
    compared = known & (known[table].sum(axis=1) > 1).repeat(table.shape[1])
    p_beyond = _holm_of_known(np.where(compared, beyond.p(), np.nan))
    more = beyond.estimates(confidence=confidence, bound=2.0)
    adjusted = _holm_of_known(p)
    return tuple(
        Effect(
            model=model,
            level=level,
            change=changes[c],
            is_paired=bool(contrasts.is_paired[c]),
            p=float(p[c]),
            p_holm=float(adjusted[c]),
            beyond=more[c] if compared[c] else None,
            p_beyond=float(p_beyond[c]),
        )
        for model, column in enumerate(table.T.tolist())
        for level, c in zip(others, column, strict=True)
        if known[c]
    )


def _against_others(table: NDArray[np.intp], known: NDArray[np.bool_]) -> Floats:
    """Weights (C, C) of each effect less the mean of the others at its level."""
    weights = np.zeros((table.size, table.size))
    for row in table:
        here = row[known[row]]
        if len(here) > 1:
            weights[np.ix_(here, here)] = -1.0 / (len(here) - 1)
        weights[here, here] = 1.0
    return weights


def _averages(
    contrasts: Contrasts, table: NDArray[np.intp], others: Sequence[int], confidence: float
) -> tuple[AverageEffect, ...]:
    found = []
    for level, row in zip(others, table, strict=True):
        here = row[~np.isnan(contrasts.values[row])]
        if not len(here):
            continue
        weights = np.zeros((table.size, 1))
        weights[here] = 1.0 / len(here)
        mean = contrasts.combined(weights)
        (change,) = mean.estimates(confidence=confidence)
        p = float(mean.p()[0])
        found.append(AverageEffect(level=level, change=change, n_models=len(here), p=p))
    return tuple(found)


def _interaction(contrasts: Contrasts, table: NDArray[np.intp]) -> WaldTest:
    """Whether each row's effects (levels, models) are alike: all but the first, less the first."""
    n_levels, n_models = table.shape
    weights = np.zeros((len(contrasts.values), n_levels * max(n_models - 1, 0)))
    for d, (k, m) in enumerate(np.ndindex(n_levels, max(n_models - 1, 0))):
        weights[table[k, m + 1], d] = 1.0
        weights[table[k, 0], d] = -1.0
    return _joint(contrasts.combined(weights), np.arange(weights.shape[1]))


def _joint(contrasts: Contrasts, columns: NDArray[np.intp]) -> WaldTest:
    """Whether all of these differences are 0, on the groups of the one with fewest."""
    degrees = contrasts.degrees[columns]
    if not len(columns) or np.isnan(degrees).any():
        nan = float("nan")
        return WaldTest(chi_square=nan, df=len(columns), df_groups=nan, p=nan)
    chosen = np.ix_(columns, columns)
    return wald(
        contrasts.values[columns],
        contrasts.covariance()[chosen],
        contrasts.covariance_alone()[chosen],
        float(degrees.min()) + 1.0,
    )


def _holm_of_known(p: Floats) -> Floats:
    """Holm's correction over the tests that were made; NaN stays."""
    adjusted = np.full_like(p, np.nan)
    made = ~np.isnan(p)
    adjusted[made] = holm(p[made])
    return adjusted
