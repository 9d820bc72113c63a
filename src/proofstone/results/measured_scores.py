"""A score table under one measure: one value per unit and model, and completeness.

Everything here is counted; nothing is estimated.
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
from proofstone.results.board import (
    BoardRow,
    Rate,
    RowGroup,
    SelfEvaluation,
    SelfEvaluationRole,
    Standings,
)
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
    """Scores of ``table`` under the outcome values ``counts``; models and units by index.

    For ``answer_keys``, ``says``, ``weights`` and ``judged`` see ``Measure``. A judge never grades
    items that all have options.
    """

    table: ScoreTable
    counts: Mapping[Outcome, Worth]
    answer_keys: tuple[str, ...] = ()
    says: str = ""
    weights: Mapping[Outcome, float] = field(default_factory=dict)
    judged: bool = False

    @classmethod
    def of(cls, table: ScoreTable, measure: Measure) -> Sheet:
        """Return the scores of a table under a measure."""
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
        """Return the value of each score (N); NaN outside the denominator."""
        counted = counted_values(self.counts, self.table.outcome, self._worth)
        if self.answer_keys:
            counted[~self._is_meant[self.table.unit]] = np.nan
        return counted

    @property
    def _worth(self) -> NDArray[np.float64]:
        """Return each score's value (N), or whether the answer equals ``says``."""
        table = self.table
        if not self.says:
            return table.value
        code = table.answers.index(self.says) if self.says in table.answers else -1
        return np.where(np.isnan(table.value), np.nan, (table.answer == code).astype(np.float64))

    @property
    def _is_meant(self) -> NDArray[np.bool_]:
        """Return a mask of the units whose answer key is in ``answer_keys``."""
        meant = [
            code
            for code, answer_key in enumerate(self.table.answer_keys)
            if answer_key in self.answer_keys
        ]
        return np.isin(self.table.answer_key, meant)

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """Return the mean over samples (units, models); NaN if no score counts."""
        return self._means(self.counted)

    @cached_property
    def ratio_parts(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return numerator and denominator of a weighted measure, each (units, models).

        These are the means over samples of weight times value, and of weight; NaN if no score
        counts.
        """
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
        """Return the means over samples (units, models) of one number per score."""
        return unit_means(
            self.table.unit,
            self.table.respondent,
            each,
            n_units=len(self.table.items),
            n_respondents=len(self.table.respondents),
        )

    def block(self, units: NDArray[np.int64], respondents: Sequence[int]) -> NDArray[np.float64]:
        """Return the values of chosen units (rows) and models (columns)."""
        return self.values[np.ix_(units, np.asarray(respondents, dtype=np.int64))]

    @cached_property
    def keys(self) -> SharedKeys:
        """Return the clusters of units."""
        table = self.table
        return SharedKeys(len(table.items), table.cluster_unit, table.cluster_key)

    @cached_property
    def outcomes(self) -> NDArray[np.int64]:
        """Return the count of each outcome, shape (models, OUTCOMES)."""
        m, n = len(self.table.respondents), len(OUTCOMES)
        code = self.table.respondent.astype(np.int64) * n + self.table.outcome
        return np.asarray(np.bincount(code, minlength=m * n).reshape(m, n))

    @cached_property
    def missing(self) -> NDArray[np.int64]:
        """Return the number of missing responses by model, including failed calls."""
        return np.asarray(np.maximum(self.table.expected - self._responses, 0))

    @cached_property
    def is_complete(self) -> NDArray[np.bool_]:
        """Return a mask of the models with all responses and at least one score that counts."""
        counts = ~np.isnan(self.values).all(axis=0)
        return np.asarray((self.missing == 0) & (self._responses > 0) & counts)

    @cached_property
    def _responses(self) -> NDArray[np.int64]:
        """Count the responses with a score by model, one per unit and sample."""
        table = self.table
        received = table.outcome != outcome_code("failed")
        if len(table.forms) > 1:  # an item of two forms may have been asked in both
            code = table.respondent.astype(np.int64) * len(table.items) + table.unit
            code = code * (int(table.sample.max(initial=0)) + 1) + table.sample
            first = np.zeros(len(code), dtype=np.bool_)
            first[np.unique(np.where(received, code, -1), return_index=True)[1]] = True
            received &= first
        return np.bincount(table.respondent[received], minlength=len(table.respondents))

    def n_unscored(self, respondent: int) -> int:
        """Return the number of responses that were received and have no score yet."""
        stored = self.table.respondents[respondent].received
        return min(max(0, stored - self.n_responses(respondent)), int(self.missing[respondent]))

    def n_responses(self, respondent: int) -> int:
        """Return the number of responses with a score."""
        return int(self._responses[respondent])

    def n_failed(self, respondent: int) -> int:
        """Return the number of calls without a response."""
        counted = int(self.outcomes[respondent, outcome_code("failed")])
        return (
            counted if self.table.failed is None else counted + int(self.table.failed[respondent])
        )

    def rates(self, respondent: int) -> tuple[Rate, ...]:
        """Return the rates of truncated, unparsed and refused responses and their sum (no answer).

        Outcomes that the table does not record are omitted; empty if it records none.
        """
        if not self.table.tells_outcomes:
            return ()
        n = self.n_responses(respondent)
        told = [name for name in MISSES if name not in self.table.unknown_outcomes]
        found = {name: int(self.outcomes[respondent, outcome_code(name)]) for name in told}
        return tuple(
            Rate(outcome=name, count=count, n=n, share=count / n if n else float("nan"))
            for name, count in [*found.items(), ("no answer", sum(found.values()))]
        )

    def average(self, respondent: int) -> AverageAtK:
        """Return AVG@k over all of the model's scores."""
        rows = self._rows(respondent)
        return average_at_k(self.table.sample[rows], self.counted[rows])

    def corrections(self, respondent: int) -> Corrections:
        """Return the number of overridden scores of a model."""
        counted = self.table.corrections
        return counted[respondent] if counted else Corrections()

    def bounds(self, respondent: int) -> Bounds:
        """Return the range of the model's possible final score."""
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


# A measure of chosen models on chosen units: estimates, and values with that mean.


def measure_estimates(
    sheet: Sheet,
    units: NDArray[np.int64],
    respondents: Sequence[int],
    *,
    population: Population,
    confidence: float,
) -> tuple[Estimate, ...]:
    """Return each model's estimate over those of ``units`` that count for it.

    It is a mean, or a ratio of two means for a weighted measure.
    """
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
    """Return values (units, models) with the measure as mean and its error as spread.

    Differences between models are computed from them. For a weighted measure they are the ratio
    plus each unit's residual over the mean weight (Cochran 1977, 6.4). A unit that does not count
    for a model has the ratio itself. A column is NaN if nothing counts for the model. Without
    weights, the values are unchanged.
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
    """Return the estimates of models for which all of ``units`` count."""
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


# Settings of a leaderboard: sheet, target population, averaging of units.

SAMPLE_WISE = "sample"


@dataclass(frozen=True, slots=True)
class Ruler:
    """Measurement settings: the headline's sheet, those of other measures, and the request.

    ``scale``: the scores are shares on a separate scale.
    """

    sheet: Sheet
    others: Mapping[str, tuple[Measure, Sheet]]
    population: Population
    level: str
    confidence: float
    scale: Scale | None = None

    @property
    def levels(self) -> tuple[str, ...]:
        """Return sample-wise, then the known strata in descending number of groups."""
        names = self.sheet.table.stratum_names
        known = [level for level in names if any(names[level])]
        return (SAMPLE_WISE, *sorted(known, key=lambda level: -len(names[level])))

    @property
    def telling_levels(self) -> tuple[str, ...]:
        """Return the ``levels`` with several groups: fewest first, then in the table's order."""
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
        """Return the means of columns of headline values.

        A share consists of as many right-or-wrong answers as its unit has cluster keys, which are a
        question's statements.
        """
        return mean_estimates(
            values,
            weighting,
            keys,
            population=population or self.population,
            confidence=self.confidence,
            n_parts=len(keys.unit) if values_kind(self.scale) else None,
        )

    def weighting(self, level: str, units: NDArray[np.int64]) -> Weighting:
        """Return the weights of the chosen units at a level."""
        if level == SAMPLE_WISE:
            return equal_weights(len(units))
        return group_weights(self.sheet.table.strata[level][units])


# Rows of a leaderboard grouped by model cards; ranks do not change.


def grouped(ruler: Ruler, standings: Standings, field: str) -> Standings:
    """Return the standings with rows grouped by a ``field`` of their cards.

    Models without a value are grouped under "unknown". Unchanged if ``field`` is empty. Raises
    BadUsage for an unknown field.
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
    """Return the mean over the ranked rows at ``places``, on the units that all ranked rows
    share."""
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


# Self-evaluation: a model that helped produce items, and its score on the other items.

Floats = NDArray[np.float64]


Integers = NDArray[np.int64]


def self_evaluation_of(
    ruler: Ruler,
    respondent: int,
    units: Integers,
    values: Floats,
    keys: SharedKeys,
    *,
    column: int | None = None,
) -> SelfEvaluation | None:
    """Return the roles of a model or its family in ``units``; None without any.

    ``values`` (units, R) are those of the model only, or with ``column`` those of all ranked
    models. In the second case the model also gets a rank on the other units.
    """
    roles = tuple(_roles(ruler, respondent, units))
    if not roles:
        return None
    table = ruler.sheet.table
    roles_held = table.respondents[respondent].roles_held
    involved = np.isin(
        units, np.concatenate([table.roles[place].units for place, _itself in roles_held])
    )
    rest = np.flatnonzero(~involved)
    weighting, kept = ruler.weighting(ruler.level, units[rest]), keys.among(rest)
    place = column or 0
    (untouched,) = ruler.estimates(values[rest, place : place + 1], weighting, kept)
    rank: RankInterval | None = None
    if column is not None and len(rest) and values.shape[1] > 1:
        spread = measure_spread(values[rest], weighting, kept, ruler.population)
        rank = rank_all(spread, confidence=ruler.confidence).intervals[column]
    return SelfEvaluation(
        roles=roles, n_self_evaluated=int(involved.sum()), untouched=untouched, rank=rank
    )


def _roles(ruler: Ruler, respondent: int, units: Integers) -> Iterator[SelfEvaluationRole]:
    """Yield the roles with some of these units, in the table's order."""
    table = ruler.sheet.table
    for place, is_itself in table.respondents[respondent].roles_held:
        held = table.roles[place]
        n_items = int(np.isin(held.units, units).sum())
        if n_items:
            yield SelfEvaluationRole(
                role=held.role, model=held.model, is_itself=is_itself, n_items=n_items
            )
