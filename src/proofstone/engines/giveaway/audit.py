"""The give-away audit: can the two kinds be told apart by one who knows nothing of the subject?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.giveaway.areas import Area, area_within, widened
from proofstone.engines.giveaway.crossfit import cross_fit, folds_by_source
from proofstone.engines.giveaway.embedded import Companion, companions, principal_columns
from proofstone.engines.giveaway.features import FeatureTable
from proofstone.engines.giveaway.ridge import cross_ridge, swapped_areas

__all__ = ["EMBEDDINGS", "FeatureLeak", "GiveAway", "audit_give_away"]

EMBEDDINGS = "embeddings"  # the name of their classifier

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
_FEWEST = 5  # texts of a kind: of one alone every column "tells", without any spread


@dataclass(frozen=True, slots=True)
class FeatureLeak:
    """One column that tells by itself: its ``area``, the interval at a level shared among all
    columns (Bonferroni), and its mean among the first and among the second kind."""

    name: str
    area: Area
    mean_first: float
    mean_second: float


@dataclass(frozen=True, slots=True)
class GiveAway:
    """``areas`` are those of each classifier, by name, and of ``all`` columns together; ``leaks``
    the columns whose interval leaves 0.5 out, the strongest first; ``companions`` the counted
    columns that go with what embeddings tell. ``n_first`` and ``n_second``
    texts of ``sources`` sources in ``folds`` folds. ``flags`` say what limits it."""

    areas: Mapping[str, Area]
    leaks: tuple[FeatureLeak, ...]
    n_first: int
    n_second: int
    sources: int
    folds: int
    flags: tuple[str, ...]
    companions: tuple[Companion, ...] = ()

    @property
    def worst(self) -> str:
        """The classifier that tells most surely, by the lower end of its interval: a larger area
        with a wide one says less. "" where none could be measured."""
        known = {
            name: (np.nan_to_num(area.low), area.value)  # no interval from one source a fold
            for name, area in self.areas.items()
            if area.pairs
        }
        return max(known, key=known.__getitem__, default="")


def audit_give_away(
    tables: Mapping[str, FeatureTable],
    is_second: Bools,
    source: Ints,
    *,
    embeddings: Floats | None = None,
    n_folds: int = 5,
    penalty: float = 10.0,
    confidence: float = 0.95,
) -> GiveAway:
    """What classifiers on ``tables`` (each of texts by features) tell of ``is_second`` (texts),
    cross-validated so that no ``source`` (texts) is in both halves.

    ``embeddings`` (texts, dimensions) have a ridge classifier of their own, its penalty chosen
    within the training folds, and their principal components stand among ``all`` columns.

    No interval is narrower than the spread of areas with the kinds swapped source by source.
    0.5 is what guessing gives. With one source there is nothing to validate on: no area.
    """
    fold = folds_by_source(source, n_folds)
    together = _together(tables)
    sources = len(np.unique(source))
    areas = {
        name: _cross_area(table.values, is_second, source, fold, penalty, confidence)
        for name, table in tables.items()
    }
    told = None
    if embeddings is not None and sources > 1:
        told = cross_ridge(embeddings, is_second, fold)
        area = area_within(told.scores, is_second, fold, source, confidence=confidence)
        chance = _spread_by_chance(embeddings, is_second, source, fold, penalty)
        areas[EMBEDDINGS] = widened(area, chance, confidence=confidence)
    if len(areas) > 1:
        values = together.values
        if embeddings is not None:
            values = together.beside(principal_columns(embeddings)).values
        areas["all"] = _cross_area(values, is_second, source, fold, penalty, confidence)
    return GiveAway(
        areas=areas,
        leaks=_leaks(together, is_second, source, confidence),
        n_first=int((~is_second).sum()),
        n_second=int(is_second.sum()),
        sources=sources,
        folds=len(np.unique(fold)) if sources > 1 else 0,
        flags=tuple(_flags(is_second, sources)),
        companions=() if told is None else companions(told.scores, fold, together),
    )


def _cross_area(
    values: Floats, is_second: Bools, source: Ints, fold: Ints, penalty: float, confidence: float
) -> Area:
    if len(np.unique(fold)) < 2:
        nothing = float("nan")
        return Area(nothing, nothing, nothing, 0, len(np.unique(source)))
    fit = cross_fit(values, is_second, fold, penalty=penalty)
    area = area_within(fit.scores, is_second, fit.fold, source, confidence=confidence)
    chance = _spread_by_chance(values, is_second, source, fold, penalty)
    return widened(area, chance, confidence=confidence)


def _spread_by_chance(
    values: Floats, is_second: Bools, source: Ints, fold: Ints, penalty: float
) -> float:
    if is_second.all() or not is_second.any():
        return float("nan")
    return float(np.std(swapped_areas(values, is_second, source, fold, penalty=penalty)))


def _leaks(
    table: FeatureTable, is_second: Bools, source: Ints, confidence: float
) -> tuple[FeatureLeak, ...]:
    if min(is_second.sum(), (~is_second).sum()) < _FEWEST or not table.names:
        return ()
    level = 1.0 - (1.0 - confidence) / len(table.names)
    one = np.zeros(len(is_second), dtype=np.int64)  # raw columns compare over all texts
    found = []
    for name, column in zip(table.names, table.values.T, strict=True):
        area = area_within(column, is_second, one, source, confidence=level)
        if area.low > 0.5 or area.high < 0.5:
            means = float(column[~is_second].mean()), float(column[is_second].mean())
            found.append(FeatureLeak(name, area, *means))
    return tuple(sorted(found, key=lambda leak: (-abs(leak.area.value - 0.5), leak.name)))


def _together(tables: Mapping[str, FeatureTable]) -> FeatureTable:
    first, *others = tables.values()
    for other in others:
        first = first.beside(other)
    return first


def _flags(is_second: Bools, sources: int) -> list[str]:
    flags = []
    if sources < 2:
        flags.append("one source, or sources of one book: nothing to validate on")
    elif sources < 10:
        flags.append("fewer than ten sources: the interval is rough")
    if min(int(is_second.sum()), int((~is_second).sum())) < 50:
        flags.append("fewer than fifty texts of a kind")
    return flags
