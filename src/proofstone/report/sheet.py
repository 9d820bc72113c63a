"""A score table under one measure, made ready: one value a unit and respondent, and who is whole.

Everything here is counted, nothing estimated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import (
    AverageAtK,
    Bounds,
    SharedKeys,
    average_at_k,
    bound_incomplete,
    counted_values,
    outcome_code,
    unit_means,
)
from proofstone.records.results import OUTCOMES, Measure, Outcome, Worth
from proofstone.records.score_table import Corrections, ScoreTable
from proofstone.report.board import Rate

__all__ = ["MISSES", "Sheet"]

MISSES: tuple[Outcome, ...] = ("truncated", "unparsed", "refused")


@dataclass(frozen=True)
class Sheet:
    """The scores of ``table`` as ``counts`` values them; respondents and units by index. For
    ``golds``, ``says``, ``weights`` and ``judged`` see ``Measure``; no judge grades items that all
    have options."""

    table: ScoreTable
    counts: Mapping[Outcome, Worth]
    golds: tuple[str, ...] = ()
    says: str = ""
    weights: Mapping[Outcome, float] = field(default_factory=dict)
    judged: bool = False

    @classmethod
    def of(cls, table: ScoreTable, measure: Measure) -> Sheet:
        """The scores of a table under a measure."""
        return cls(
            table,
            measure.counts,
            measure.golds,
            measure.says,
            measure.weights,
            judged=measure.judged and bool((table.n_options == 0).any()),
        )

    @cached_property
    def counted(self) -> NDArray[np.float64]:
        """What each score counts as (N); NaN outside the denominator."""
        counted = counted_values(self.counts, self.table.outcome, self._worth)
        if self.golds:
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
        meant = [code for code, gold in enumerate(self.table.golds) if gold in self.golds]
        return np.isin(self.table.gold, meant)

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The mean over samples (units, respondents); NaN where nothing counts."""
        return unit_means(
            self.table.unit,
            self.table.respondent,
            self.counted,
            n_units=len(self.table.items),
            n_respondents=len(self.table.respondents),
        )

    @cached_property
    def ratio_parts(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Above and below the line of a measure with weights, each (units, respondents): the means
        over samples of weight times worth, and of weight; NaN where nothing counts."""
        weight = np.ones(len(self.table.outcome))
        for outcome, times in self.weights.items():
            weight[self.table.outcome == outcome_code(outcome)] = times
        counts = np.where(np.isnan(self.counted), 0.0, weight)
        worth = np.where(np.isnan(self.counted), 0.0, self.counted) * weight
        return self._means(worth), self._means(counts)

    def _means(self, each: NDArray[np.float64]) -> NDArray[np.float64]:
        means = unit_means(
            self.table.unit,
            self.table.respondent,
            each,
            n_units=len(self.table.items),
            n_respondents=len(self.table.respondents),
        )
        return np.where(np.isnan(self.values), np.nan, means)

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
        return np.asarray(np.maximum(self.table.expected - self._replies, 0))

    @cached_property
    def is_complete(self) -> NDArray[np.bool_]:
        """Which respondents replied to everything, and to something that counts: of one whose
        every label is missing there is no score to rank."""
        counts = ~np.isnan(self.values).all(axis=0)
        return np.asarray((self.missing == 0) & (self._replies > 0) & counts)

    @cached_property
    def _replies(self) -> NDArray[np.int64]:
        return np.asarray(self.outcomes.sum(axis=1) - self.outcomes[:, outcome_code("failed")])

    def n_replies(self, respondent: int) -> int:
        """How many replies came, whatever they hold."""
        return int(self._replies[respondent])

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
        n = self.n_replies(respondent)
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
