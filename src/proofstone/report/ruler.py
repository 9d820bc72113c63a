"""How a leaderboard measures: one sheet, what intervals speak of, how units are averaged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import (
    Estimand,
    SharedKeys,
    Weighting,
    equal_weights,
    group_weights,
    mean_estimates,
)
from proofstone.records.results import Estimate, Measure, Scale, values_kind
from proofstone.report.sheet import Sheet

__all__ = ["SAMPLE_WISE", "Ruler"]

SAMPLE_WISE = "sample"


@dataclass(frozen=True, slots=True)
class Ruler:
    """How to measure: the sheet of the headline, those of other measures, and what is asked.

    ``scale``: the scores are shares on a scale of their own."""

    sheet: Sheet
    others: Mapping[str, tuple[Measure, Sheet]]
    estimand: Estimand
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
        estimand: Estimand | None = None,
    ) -> tuple[Estimate, ...]:
        """The means of columns of the headline's values. A share is of as many right-or-wrong
        answers as its unit has keys: of a question's statements."""
        return mean_estimates(
            values,
            weighting,
            keys,
            estimand=estimand or self.estimand,
            confidence=self.confidence,
            n_parts=len(keys.unit) if values_kind(self.scale) else None,
        )

    def weighting(self, level: str, units: NDArray[np.int64]) -> Weighting:
        """The weights of the chosen units at a level."""
        if level == SAMPLE_WISE:
            return equal_weights(len(units))
        return group_weights(self.sheet.table.strata[level][units])
