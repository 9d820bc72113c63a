"""Scores by the length of replies within items of like difficulty."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from proofstone.records.runs import Estimate
from proofstone.records.scores import Respondent
from proofstone.results.sections.evidence import Evidence
from report.made_up import table_of
from report.test_sections import evidence_of, section


def confounded() -> Evidence:
    """Two models on 90 items in three kinds: 9, 5 and 1 of ten right, replies of 100, 200 and 400
    tokens: difficulty alone makes long replies worse."""
    rows = [
        (item, who, 0, "answered", float((item // 3) % 10 < (9, 5, 1)[item % 3]))
        for who in range(2)
        for item in range(90)
    ]
    table = table_of([Respondent(name, "") for name in "ab"], rows, n_units=90)  # type: ignore[arg-type]
    tokens = np.array([100.0, 200, 400])[table.unit % 3] + table.unit % 10
    return evidence_of(replace(table, tokens=tokens))


def test_long_replies_are_worse_over_items_and_not_within_thirds() -> None:
    """All 180 replies in fifths; the score falls over all items."""
    found = section(confounded(), "length")
    table = found.tables[1]
    assert sum(int(row[2]) for row in table.rows) == 180  # type: ignore[arg-type]
    scores = [row[3].value for row in table.rows if isinstance(row[3], Estimate)]
    assert scores[0] > 0.7
    assert scores[-1] == pytest.approx(0.1, abs=0.1)
    assert found.figures[0].kind == "curves"
    assert {mark.row for mark in found.figures[0].marks} == {
        "all items", "easy third", "middle third", "hard third",
    }  # fmt: skip


def test_replies_of_one_length_have_no_bins() -> None:
    evidence = confounded()
    assert evidence.sheet is not None
    table = replace(evidence.sheet.table, tokens=np.full(180, 50.0))
    assert len(section(evidence_of(table), "length").tables) == 1
