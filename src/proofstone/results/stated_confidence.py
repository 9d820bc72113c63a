"""The confidence that replies state, beside their scores: what calibration is read from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from proofstone.records.runs import STATED_CONFIDENCE
from proofstone.records.scores import ScoreTable


def with_confidence(table: ScoreTable, more: Mapping[str, ScoreTable]) -> ScoreTable:
    """``table`` with what was stated with each of its answers, where its method scores that too
    (``more``, by the name of the scores); NaN where a reply states none."""
    import numpy as np  # noqa: PLC0415 - numpy is not needed to print a help text

    stated = more.get(STATED_CONFIDENCE)
    if stated is None or not len(stated.value):
        return table
    said = dict(zip(_places(stated), stated.value.tolist(), strict=True))
    found = np.array([said.get(place, np.nan) for place in _places(table)], dtype=np.float64)
    return table if np.isnan(found).all() else replace(table, confidence=found)


def _places(table: ScoreTable) -> list[tuple[int, int, int]]:
    """The respondent, unit and sample of each row; both tables count units alike."""
    columns = (table.respondent.tolist(), table.unit.tolist(), table.sample.tolist())
    return list(zip(*columns, strict=True))
