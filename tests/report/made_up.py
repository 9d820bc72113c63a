"""Made-up score tables for the report's tests: small, fixed, with every kind of respondent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from proofstone.records.runs import OUTCOMES, Measure, Outcome
from proofstone.records.scores import Respondent, ScoreTable

ACCURACY = Measure(
    name="accuracy",
    of="correct",
    counts={"answered": "value", "refused": 0.0, "unparsed": 0.0, "truncated": 0.0},
    denominator="all replies",
)
MISS = Measure(
    name="no answer",
    of="correct",
    counts={"answered": 0.0, "refused": 1.0, "unparsed": 1.0, "truncated": 1.0},
    denominator="all replies",
)
ATTEMPTED = Measure(
    name="accuracy of attempted",
    of="correct",
    counts={"answered": "value"},
    denominator="answered replies",
)
MEASURES = (ACCURACY, MISS, ATTEMPTED)

Row = tuple[int, int, int, Outcome, float | None]


def table_of(
    respondents: Sequence[Respondent],
    rows: Sequence[Row],
    *,
    n_units: int,
    expected: Sequence[int] | None = None,
    n_options: int = 5,
    keys: Sequence[tuple[int, int]] = (),
    discipline: Sequence[str] = (),
) -> ScoreTable:
    """A table of rows (unit, respondent, sample, outcome, value); answer keys A to D in turn."""
    unit, who, sample = (np.array([row[i] for row in rows], dtype=np.int32) for i in range(3))
    value = [np.nan if row[4] is None else row[4] for row in rows]
    names = tuple(sorted(set(discipline))) or ("",)
    codes = [names.index(name) for name in discipline] or [0] * n_units
    edges = np.array(keys, dtype=np.int64).reshape(-1, 2)
    return ScoreTable(
        respondents=tuple(respondents),
        unit=unit,
        respondent=who,
        sample=sample,
        outcome=np.array([OUTCOMES.index(row[3]) for row in rows], dtype=np.int8),
        value=np.array(value, dtype=np.float64),
        answer=np.zeros(len(rows), dtype=np.int32),
        answers=("",),
        items=tuple(bytes([i % 256, i // 256]) for i in range(n_units)),
        strata={
            "discipline": np.array(codes, dtype=np.int32),
            "field": np.zeros(n_units, dtype=np.int32),
        },
        stratum_names={"discipline": names, "field": ("",)},
        answer_key=np.arange(n_units, dtype=np.int32) % 4,
        answer_keys=("A", "B", "C", "D"),
        n_options=np.full(n_units, n_options, dtype=np.int32),
        form=np.zeros(n_units, dtype=np.int32),
        forms=("elements-7f3a",),
        cluster_unit=edges[:, 0].copy(),
        cluster_key=edges[:, 1].copy(),
        expected=np.array(expected or [n_units] * len(respondents), dtype=np.int64),
    )


def right_of(n: int, right: int, respondent: int, outcomes: Sequence[Outcome] = ()) -> list[Row]:
    """``n`` replies of one respondent: the first ``right`` right, the last ones ``outcomes``."""
    rows: list[Row] = [(i, respondent, 0, "answered", float(i < right)) for i in range(n)]
    for place, outcome in enumerate(outcomes):
        unit = n - len(outcomes) + place
        rows[unit] = (unit, respondent, 0, outcome, None)
    return rows


def two_small() -> ScoreTable:
    """60 questions, two ways of one small model, both about at chance (1 in 5)."""
    model = "smollm2-135m"
    truncated: tuple[Outcome, ...] = ("truncated",) * 4
    unparsed: tuple[Outcome, ...] = ("unparsed",) * 7
    rows = right_of(60, 9, 0, unparsed[:2])
    rows += right_of(60, 11, 1, truncated + unparsed)
    respondents = [Respondent(model, "direct"), Respondent(model, "cot")]
    return table_of(respondents, rows, n_units=60)


def mixed() -> ScoreTable:
    """Three real respondents, one of them incomplete, and one simulated; shared facts; strata."""
    draw: NDArray[np.float64] = np.random.default_rng(7).random((40, 4))
    skill = (0.9, 0.35, 0.5, 0.6)
    rows: list[Row] = [
        (i, r, 0, "answered", float(draw[i, r] < skill[r]))
        for r in range(4)
        for i in range(40)
        if not (r == 2 and i >= 30)
    ]
    rows += [(30, 2, 0, "failed", None)]
    rows[40] = (0, 1, 0, "refused", None)
    respondents = [
        Respondent("lab/large", "direct", runs=(b"\x01" * 32,)),
        Respondent("lab/小模型", "direct"),
        Respondent("lab/unlucky", "direct"),
        Respondent("sim/guesser?ability=0.6", "direct", simulated=True),
    ]
    return table_of(
        respondents,
        rows,
        n_units=40,
        keys=[(i, i // 2) for i in range(40)],
        discipline=["Science" if i < 25 else "History" for i in range(40)],
    )
