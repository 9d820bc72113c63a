"""What studies read: forms, the scores on each, and who is complete on which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import Estimand, Weighting, equal_weights, mean_estimates
from proofstone.errors import BadUsage
from proofstone.records.results import Estimate, Measure, values_kind
from proofstone.records.score_table import Respondent, ScoreTable
from proofstone.report.sheet import Sheet

__all__ = ["HowAsked", "Part", "ReplyLengths", "complete_everywhere", "label_of", "left_out"]


@dataclass(frozen=True)
class ReplyLengths:
    """Tokens of replies as parallel arrays (N): unit and respondent as in the part's table, the
    completion's tokens, and those of them that were reasoning (NaN where not told)."""

    unit: NDArray[np.int32]
    respondent: NDArray[np.int32]
    sample: NDArray[np.int32]
    completion: NDArray[np.float64]
    reasoning: NDArray[np.float64]


@dataclass(frozen=True)
class HowAsked:
    """How a respondent was asked: its model, the way, its settings, and the model's size in
    billions of parameters, and of its card the kind and the family, where they are known.
    ``prompt`` is the hash of its templates and few-shot examples, ``replicate`` what sets a repeat
    apart, ``judge`` whose verdicts its scores are (empty: no judge's)."""

    model: str
    way: str
    settings: Mapping[str, Any]
    parameters_b: float | None = None
    kind: str = ""
    family: str = ""
    prompt: str = ""
    replicate: str = ""
    judge: str = ""


@dataclass(frozen=True)
class Part:
    """A form (or several of one recipe, together) with the scores on it under ``measure``.
    ``asked`` says by respondent of the table how it was asked. ``origins`` are the facts that the
    table's units come from, for studies that compare forms of the same questions: of a unit on
    one fact, what that was made from, or the fact itself; empty bytes for others. The table's
    ``items`` in their order. ``others`` are measures of the same scores that stand beside. Where a
    part is what one judge made of the replies, ``judged`` says of each score (N) whether a judge
    was asked for it."""

    name: str
    kind: str
    seed: int | None
    recipe: Mapping[str, Any]
    table: ScoreTable
    measure: Measure
    lengths: ReplyLengths | None = None
    asked: tuple[HowAsked, ...] = ()
    origins: tuple[bytes, ...] = ()
    others: tuple[Measure, ...] = ()
    judged: NDArray[np.bool_] | None = None

    @cached_property
    def sheet(self) -> Sheet:
        """The scores as the measure values them."""
        return Sheet.of(self.table, self.measure)

    @cached_property
    def sheets(self) -> dict[str, Sheet]:
        """The same under the measure and each of the others, by what heads their columns."""
        found = {self.measure.label or self.measure.name: self.sheet}
        return found | {each.label: Sheet.of(self.table, each) for each in self.others}

    @cached_property
    def complete(self) -> dict[str, int]:
        """The complete respondents by label, in the table's order; simulated ones are marked."""
        return {
            label_of(who): place
            for place, who in enumerate(self.table.respondents)
            if self.sheet.is_complete[place]
        }

    def estimates(
        self, labels: Sequence[str], *, estimand: Estimand, confidence: float
    ) -> dict[str, Estimate]:
        """The mean of each of these complete respondents on the items that they have in common."""
        units, values = self.block(labels)
        weighting = equal_weights(len(units))
        found = self.means(labels, units, values, weighting, estimand, confidence)
        return dict(zip(labels, found, strict=True))

    def means(
        self,
        labels: Sequence[str],
        units: NDArray[np.int64],
        values: NDArray[np.float64],
        weighting: Weighting,
        estimand: Estimand,
        confidence: float,
    ) -> tuple[Estimate, ...]:
        """The weighted mean of each respondent's column of ``values`` (units, labels). A score that
        is a share is of as many right-or-wrong answers as its unit has keys."""
        keys = self.sheet.keys.among(units)
        found: dict[int, Estimate] = {}
        for of_parts in (False, True):
            columns = [n for n, each in enumerate(labels) if self._is_of_parts(each) is of_parts]
            if columns:
                estimates = mean_estimates(
                    values[:, columns],
                    weighting,
                    keys,
                    estimand=estimand,
                    confidence=confidence,
                    n_parts=len(keys.unit) if of_parts else None,
                )
                found |= dict(zip(columns, estimates, strict=True))
        return tuple(found[column] for column in range(len(labels)))

    def _is_of_parts(self, label: str) -> bool:
        """Whether a respondent's scores are shares of an item's parts, one a key of it."""
        return values_kind(self.table.respondents[self.complete[label]].scale) != ""

    def block(self, labels: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The units that count for all of these respondents, and their values (units, labels)."""
        places = [self.complete[label] for label in labels]
        units = np.flatnonzero(~np.isnan(self.sheet.values[:, places]).any(axis=1))
        return units, self.sheet.block(units, places)


def label_of(who: Respondent) -> str:
    """A respondent as a study names it, the same on every form."""
    shown = " ".join(part for part in (who.name, who.way, who.settings) if part)
    return f"{shown} (simulated)" if who.simulated else shown


def complete_everywhere(parts: Sequence[Part]) -> list[str]:
    """The respondents that are complete on every part, in the order of the first.

    Raises BadUsage where there is none.
    """
    labels = [label for label in parts[0].complete if all(label in part.complete for part in parts)]
    if not labels:
        raise BadUsage(
            "no respondent is complete on all of these forms",
            hint="run the same model in the same way on each: proofstone run FORM -m MODEL; "
            "proofstone status lists what is unfinished",
        )
    return labels


def left_out(parts: Sequence[Part], labels: Sequence[str]) -> tuple[str, ...]:
    """A note naming the respondents that the study leaves out, or none."""
    known = {label_of(who): None for part in parts for who in part.table.respondents}
    missing = [label for label in known if label not in labels]
    if not missing:
        return ()
    return (f"Left out, not complete on every form here: {', '.join(missing)}.",)
