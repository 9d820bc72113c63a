"""A score table under one measure, made ready: one value a unit and respondent, and who is whole.

Everything here is counted, nothing estimated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from proofstone.records.runs import (
    OUTCOMES,
    Estimate,
    Measure,
    Outcome,
    Population,
    Scale,
    Worth,
    values_kind,
)
from proofstone.records.scores import Corrections, ScoreTable
from proofstone.results.board import BoardRow, Hand, HandRole, Rate, RowGroup, Standings
from proofstone.results.cards import card_value, group_order, read_field
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import (
    counted_values,
    mean_estimates,
    measure_spread,
    outcome_code,
    unit_means,
)
from proofstone.stats.intervals import (
    Bounds,
    Weighting,
    bound_incomplete,
    equal_weights,
    group_weights,
)
from proofstone.stats.power import AverageAtK, average_at_k
from proofstone.stats.ranks import RankInterval, rank_all
from proofstone.stats.ratios import ratio_estimates

MISSES: tuple[Outcome, ...] = ("truncated", "unparsed", "refused")


@dataclass(frozen=True)
class Sheet:
    """The scores of ``table`` as ``counts`` values them; respondents and units by index. For
    ``answer_keys``, ``says``, ``weights`` and ``judged`` see ``Measure``; no judge grades items
    that all have options."""

    table: ScoreTable
    counts: Mapping[Outcome, Worth]
    answer_keys: tuple[str, ...] = ()
    says: str = ""
    weights: Mapping[Outcome, float] = field(default_factory=dict)
    judged: bool = False

    @classmethod
    def of(cls, table: ScoreTable, measure: Measure) -> Sheet:
        """The scores of a table under a measure."""
        return cls(
            table,
            measure.counts,
            measure.answer_keys,
            measure.says,
            measure.weights,
            judged=measure.judged and bool((table.n_options == 0).any()),
        )

    @cached_property
    def counted(self) -> NDArray[np.float64]:
        """What each score counts as (N); NaN outside the denominator."""
        counted = counted_values(self.counts, self.table.outcome, self._worth)
        if self.answer_keys:
            counted[~self._is_meant[self.table.unit]] = np.nan
        return counted

    @property
    def _worth(self) -> NDArray[np.float64]:
        """The value of each score (N), or whether it says what is asked for."""
        table = self.table
        if not self.says:
            return table.value
        code = table.answers.index(self.says) if self.says in table.answers else -1
        return np.where(np.isnan(table.value), np.nan, (table.answer == code).astype(np.float64))

    @property
    def _is_meant(self) -> NDArray[np.bool_]:
        """Which units have one of the right labels that are meant."""
        meant = [
            code
            for code, answer_key in enumerate(self.table.answer_keys)
            if answer_key in self.answer_keys
        ]
        return np.isin(self.table.answer_key, meant)

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The mean over samples (units, respondents); NaN where nothing counts."""
        return self._means(self.counted)

    @cached_property
    def ratio_parts(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Above and below the line of a measure with weights, each (units, respondents): the means
        over samples of weight times worth, and of weight; NaN where nothing counts."""
        weight = np.ones(len(self.table.outcome))
        for outcome, times in self.weights.items():
            weight[self.table.outcome == outcome_code(outcome)] = times
        counts = np.where(np.isnan(self.counted), 0.0, weight)
        worth = np.where(np.isnan(self.counted), 0.0, self.counted) * weight
        is_none = np.isnan(self.values)
        return (
            np.where(is_none, np.nan, self._means(worth)),
            np.where(is_none, np.nan, self._means(counts)),
        )

    def _means(self, each: NDArray[np.float64]) -> NDArray[np.float64]:
        """The means over samples (units, respondents) of a number a score."""
        return unit_means(
            self.table.unit,
            self.table.respondent,
            each,
            n_units=len(self.table.items),
            n_respondents=len(self.table.respondents),
        )

    def block(self, units: NDArray[np.int64], respondents: Sequence[int]) -> NDArray[np.float64]:
        """The values of chosen units (rows) and respondents (columns)."""
        return self.values[np.ix_(units, np.asarray(respondents, dtype=np.int64))]

    @cached_property
    def keys(self) -> SharedKeys:
        """Which units share which keys."""
        table = self.table
        return SharedKeys(len(table.items), table.cluster_unit, table.cluster_key)

    @cached_property
    def outcomes(self) -> NDArray[np.int64]:
        """How often each outcome occurred, (respondents, OUTCOMES)."""
        m, n = len(self.table.respondents), len(OUTCOMES)
        code = self.table.respondent.astype(np.int64) * n + self.table.outcome
        return np.asarray(np.bincount(code, minlength=m * n).reshape(m, n))

    @cached_property
    def missing(self) -> NDArray[np.int64]:
        """How many replies each respondent is short of (respondents), failed calls included."""
        return np.asarray(np.maximum(self.table.expected - self._responses, 0))

    @cached_property
    def is_complete(self) -> NDArray[np.bool_]:
        """Which respondents replied to everything, and to something that counts: of one whose
        every label is missing there is no score to rank."""
        counts = ~np.isnan(self.values).all(axis=0)
        return np.asarray((self.missing == 0) & (self._responses > 0) & counts)

    @cached_property
    def _responses(self) -> NDArray[np.int64]:
        return np.asarray(self.outcomes.sum(axis=1) - self.outcomes[:, outcome_code("failed")])

    def n_responses(self, respondent: int) -> int:
        """How many replies came, whatever they hold."""
        return int(self._responses[respondent])

    def n_failed(self, respondent: int) -> int:
        """How many calls brought no reply."""
        counted = int(self.outcomes[respondent, outcome_code("failed")])
        return (
            counted if self.table.failed is None else counted + int(self.table.failed[respondent])
        )

    def rates(self, respondent: int) -> tuple[Rate, ...]:
        """Rates among the replies that came: truncated, unparsed, refused, and all of these (miss);
        only those that the table tells, and none where it does not tell how replies ended."""
        if not self.table.tells_outcomes:
            return ()
        n = self.n_responses(respondent)
        told = [name for name in MISSES if name not in self.table.unknown_outcomes]
        found = {name: int(self.outcomes[respondent, outcome_code(name)]) for name in told}
        return tuple(
            Rate(outcome=name, count=count, n=n, share=count / n if n else float("nan"))
            for name, count in [*found.items(), ("miss", sum(found.values()))]
        )

    def average(self, respondent: int) -> AverageAtK:
        """AVG@k over all of the respondent's scores."""
        rows = self._rows(respondent)
        return average_at_k(self.table.sample[rows], self.counted[rows])

    def corrections(self, respondent: int) -> Corrections:
        """How many of the respondent's scores people ruled on."""
        counted = self.table.corrections
        return counted[respondent] if counted else Corrections()

    def bounds(self, respondent: int) -> Bounds:
        """What the respondent could still reach."""
        rows = self._rows(respondent)
        return bound_incomplete(self.counted[rows], int(self.missing[respondent]))

    def _rows(self, respondent: int) -> NDArray[np.intp]:
        starts = self._starts
        return self._by_respondent[starts[respondent] : starts[respondent + 1]]

    @cached_property
    def _by_respondent(self) -> NDArray[np.intp]:
        return np.argsort(self.table.respondent, kind="stable")

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        sizes = self.outcomes.sum(axis=1)
        return np.concatenate([[0], np.cumsum(sizes)])


# A measure of chosen respondents on chosen units: its estimates, and values whose mean it is.


def measure_estimates(
    sheet: Sheet,
    units: NDArray[np.int64],
    respondents: Sequence[int],
    *,
    population: Population,
    confidence: float,
) -> tuple[Estimate, ...]:
    """The measure of each respondent over those of ``units`` that count for it: a mean, or, of a
    measure with weights, a ratio of two."""
    block = sheet.block(units, respondents)
    if not np.isnan(block).any():
        return _together(sheet, units, respondents, population, confidence)
    return tuple(
        _together(sheet, units[~np.isnan(block[:, at])], [respondent], population, confidence)[0]
        for at, respondent in enumerate(respondents)
    )


def linear_values(
    sheet: Sheet, units: NDArray[np.int64], respondents: Sequence[int]
) -> NDArray[np.float64]:
    """Values (units, respondents) whose means are the measure, and whose spread is that of its
    error: what differences between respondents are reckoned from.

    Of a measure with weights they are the ratio plus each unit's residual over the mean weight
    (Cochran 1977, 6.4); a unit that does not count for it has the ratio itself. NaN in all of a
    respondent for whom nothing counts. Without weights they are the values as they are.
    """
    if not sheet.weights:
        return sheet.block(units, respondents)
    places = np.ix_(units, np.asarray(respondents, dtype=np.int64))
    tops, bottoms = (np.nan_to_num(part[places]) for part in sheet.ratio_parts)
    total = bottoms.sum(axis=0)
    known = np.where(total > 0, total, np.nan)
    ratio = tops.sum(axis=0) / known
    return np.asarray(ratio + (tops - ratio * bottoms) / (known / max(len(units), 1)))


def _together(
    sheet: Sheet,
    units: NDArray[np.int64],
    respondents: Sequence[int],
    population: Population,
    confidence: float,
) -> tuple[Estimate, ...]:
    """The same of respondents for whom all of ``units`` count."""
    keys = sheet.keys.among(units)
    if sheet.weights:
        places = np.ix_(units, np.asarray(respondents, dtype=np.int64))
        tops, bottoms = (part[places] for part in sheet.ratio_parts)
        return ratio_estimates(tops, bottoms, keys, population=population, confidence=confidence)
    return mean_estimates(
        sheet.block(units, respondents),
        equal_weights(len(units)),
        keys,
        population=population,
        confidence=confidence,
    )


# How a leaderboard measures: one sheet, what intervals speak of, how units are averaged.

SAMPLE_WISE = "sample"


@dataclass(frozen=True, slots=True)
class Ruler:
    """How to measure: the sheet of the headline, those of other measures, and what is asked.

    ``scale``: the scores are shares on a scale of their own."""

    sheet: Sheet
    others: Mapping[str, tuple[Measure, Sheet]]
    population: Population
    level: str
    confidence: float
    scale: Scale | None = None

    @property
    def levels(self) -> tuple[str, ...]:
        """Sample-wise, then the strata that the table knows, those of most groups first."""
        names = self.sheet.table.stratum_names
        known = [level for level in names if any(names[level])]
        return (SAMPLE_WISE, *sorted(known, key=lambda level: -len(names[level])))

    @property
    def telling_levels(self) -> tuple[str, ...]:
        """Those of ``levels`` with more than one group: fewest first, then in the table's order."""
        names = self.sheet.table.stratum_names
        telling = [level for level in names if len(names[level]) > 1]
        return tuple(sorted(telling, key=lambda level: len(names[level])))

    def estimates(
        self,
        values: NDArray[np.float64],
        weighting: Weighting,
        keys: SharedKeys,
        population: Population | None = None,
    ) -> tuple[Estimate, ...]:
        """The means of columns of the headline's values. A share is of as many right-or-wrong
        answers as its unit has keys: of a question's statements."""
        return mean_estimates(
            values,
            weighting,
            keys,
            population=population or self.population,
            confidence=self.confidence,
            n_parts=len(keys.unit) if values_kind(self.scale) else None,
        )

    def weighting(self, level: str, units: NDArray[np.int64]) -> Weighting:
        """The weights of the chosen units at a level."""
        if level == SAMPLE_WISE:
            return equal_weights(len(units))
        return group_weights(self.sheet.table.strata[level][units])


# Rows of a leaderboard by what their models' cards say: arranged, never ranked anew.


def grouped(ruler: Ruler, standings: Standings, field: str) -> Standings:
    """The standings with every row in the group of its card's ``field``, models of which it is not
    known under "unknown"; unchanged where ``field`` is empty. Raises BadUsage for no such field.
    """
    if not field:
        return standings
    read_field(field)
    return structs.replace(standings, groups=tuple(_groups(ruler, standings, field)))


def _groups(ruler: Ruler, standings: Standings, field: str) -> Iterator[RowGroup]:
    ranked = [card_value(row.card, field) for row in standings.ranked]
    short = [card_value(row.card, field) for row in standings.incomplete]
    for name in sorted({*ranked, *short}, key=lambda name: group_order(field, name)):
        places = [place for place, value in enumerate(ranked) if value == name]
        yield RowGroup(
            name=name,
            ranked=tuple(places),
            incomplete=tuple(place for place, value in enumerate(short) if value == name),
            mean=_mean(ruler, standings, places) if places and standings.is_common else None,
        )


def _mean(ruler: Ruler, standings: Standings, places: Sequence[int]) -> Estimate:
    """The mean over the ranked rows at ``places``, on the units that all ranked rows share."""
    sheet = ruler.sheet
    indices = {
        (who.name, who.prompt_method, who.settings): index
        for index, who in enumerate(sheet.table.respondents)
    }
    everyone = [indices[_key(row)] for row in standings.ranked]
    units = np.flatnonzero(~np.isnan(sheet.values[:, everyone]).any(axis=1))
    values = sheet.block(units, [everyone[place] for place in places])
    (mean,) = replace(ruler, scale=standings.scale).estimates(
        values.mean(axis=1, keepdims=True),
        ruler.weighting(ruler.level, units),
        sheet.keys.among(units),
    )
    return mean


def _key(row: BoardRow) -> tuple[str, str, str]:
    return row.name, row.prompt_method, row.settings


# A contestant that had a hand in the material, and what it is worth on the rest of it.

Floats = NDArray[np.float64]


Integers = NDArray[np.int64]


def hand_of(
    ruler: Ruler,
    respondent: int,
    units: Integers,
    values: Floats,
    keys: SharedKeys,
    *,
    column: int | None = None,
) -> Hand | None:
    """What ``respondent`` or its family did to ``units``; None where nothing.

    ``values`` (units, R) are its own alone, or with ``column`` those of all that are ranked, in
    which it has that place: then it has a rank on the rest of the units too.
    """
    roles = tuple(_roles(ruler, respondent, units))
    if not roles:
        return None
    table = ruler.sheet.table
    hands = table.respondents[respondent].hands
    touched = np.isin(units, np.concatenate([table.roles[place].units for place, _itself in hands]))
    rest = np.flatnonzero(~touched)
    weighting, kept = ruler.weighting(ruler.level, units[rest]), keys.among(rest)
    place = column or 0
    (untouched,) = ruler.estimates(values[rest, place : place + 1], weighting, kept)
    rank: RankInterval | None = None
    if column is not None and len(rest) and values.shape[1] > 1:
        spread = measure_spread(values[rest], weighting, kept, ruler.population)
        rank = rank_all(spread, confidence=ruler.confidence).intervals[column]
    return Hand(roles=roles, n_self_evaluated=int(touched.sum()), untouched=untouched, rank=rank)


def _roles(ruler: Ruler, respondent: int, units: Integers) -> Iterator[HandRole]:
    """The roles that touch some of these units, in the table's order."""
    table = ruler.sheet.table
    for place, is_itself in table.respondents[respondent].hands:
        held = table.roles[place]
        n_items = int(np.isin(held.units, units).sum())
        if n_items:
            yield HandRole(role=held.role, model=held.model, is_itself=is_itself, n_items=n_items)
