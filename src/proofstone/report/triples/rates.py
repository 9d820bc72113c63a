"""What became of the triples that models said: supported, contradicted, or not decided."""

from __future__ import annotations

import math
from collections.abc import Sequence

from proofstone.records.results import Estimate
from proofstone.report.numbers import shown_estimate, shown_share
from proofstone.report.sections.section import Cell, Column, Figure, Mark, Section, Table
from proofstone.report.triples.board import TripleBoard, TripleRow
from proofstone.report.triples.words import (
    MEASURE_HELP,
    counted_rows,
    headed,
    measure_name,
    shown_range,
)
from proofstone.wording import say, word

__all__ = ["rates_section"]

_MEASURES = (
    "precision", "contradiction", "neutral", "without_reference", "unparsed", "precision_judged",
    "precision_decided", "recall_judged", "recall_contradiction", "recall_unparsed",
)  # fmt: skip


def rates_section(board: TripleBoard) -> Section | None:
    """Contradiction and neutral rates, and precision by what it is divided by; None where no
    triple that a model said was judged."""
    rows = [row for row in board.rows if "contradiction" in row.measured.estimates]
    if not rows:
        return None
    return Section(
        name="rates",
        title=say("Contradicted, and not decided"),
        finding=_finding(rows),
        plain=say(
            "Neutral is not false: the reference says nothing either way. Precision of what was "
            "decided leaves neutral triples out, and is the other end of what may be true."
        ),
        tables=(_table(rows),),
        figures=(_figure(board, rows, "contradiction"), _figure(board, rows, "neutral")),
    )


def _finding(rows: Sequence[TripleRow]) -> str:
    against = [row.measured.estimates["contradiction"].value for row in rows]
    neutral = [
        found.value for row in rows if (found := row.measured.estimates.get("neutral")) is not None
    ]
    if len(rows) == 1 and neutral:
        return say(
            "Of what {model} said the reference contradicts {against} and does not decide "
            "{neutral}.",
            model=rows[0].label,
            against=shown_share(against[0]),
            neutral=shown_share(neutral[0]),
        )
    if not neutral:
        return say(
            "The reference contradicts {share} of what models said.", share=shown_range(against)
        )
    return say(
        "The reference contradicts {against} of what models said, and does not decide {neutral}.",
        against=shown_range(against),
        neutral=shown_range(neutral),
    )


def _table(rows: Sequence[TripleRow]) -> Table:
    held = [name for name in _MEASURES if any(name in row.measured.estimates for row in rows)]
    return Table(
        title=say("Verdict rates and denominators"),
        columns=(
            Column(key="model", name=word("model")),
            *(
                Column(
                    key=name, name=measure_name(name), unit="points", help=word(MEASURE_HELP[name])
                )
                for name in held
            ),
        ),
        rows=tuple((row.label, *_cells(row, held)) for row in rows),
    )


def _cells(row: TripleRow, held: Sequence[str]) -> list[Cell]:
    return [row.measured.estimates.get(name) for name in held]


def _figure(board: TripleBoard, rows: Sequence[TripleRow], measure: str) -> Figure:
    known = [
        (row, found)
        for row in rows
        if (found := row.measured.estimates.get(measure)) and not math.isnan(found.value)
    ]
    known.sort(key=lambda pair: (-pair[1].value, pair[0].label))
    return Figure(
        name=measure,
        kind="dots",
        title=say("{measure} by model", measure=headed(measure)),
        subtitle=say(
            "{models}; of all triples sampled; {level:g}% intervals",
            models=counted_rows([row for row, _found in known]),
            level=100 * board.confidence,
        ),
        marks=tuple(_mark(row, found) for row, found in known),
        row_axis=word("model"),
        value_axis=say("points"),
        table=1,
    )


def _mark(row: TripleRow, found: Estimate) -> Mark:
    return Mark(
        row=row.label,
        value=found.value,
        low=found.low,
        high=found.high,
        n=found.n,
        text=shown_estimate(found),
    )
