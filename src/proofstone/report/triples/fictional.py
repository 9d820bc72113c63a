"""Of entities that do not exist: who says triples about them, and how many."""

from __future__ import annotations

import math
from collections.abc import Sequence

from proofstone.records.results import Estimate
from proofstone.report.numbers import shown_estimate, shown_share
from proofstone.report.sections.section import Column, Figure, Mark, Section, Table
from proofstone.report.triples.board import TripleBoard, TripleRow
from proofstone.report.triples.carried import is_above
from proofstone.report.triples.words import shown_range
from proofstone.wording import counted, joined, paragraph, say, word

__all__ = ["asked_fictional", "fictional_finding", "fictional_section", "triples_each"]

_MOST_NAMED = 4
_NONE = Estimate(value=math.nan, n=0, low=math.nan, high=math.nan)


def asked_fictional(board: TripleBoard) -> list[TripleRow]:
    """The rows that were asked about fictional entities, those that made most up first."""
    rows = [row for row in board.rows if row.fictional_given is not None and row.fictional_given.n]
    return sorted(rows, key=lambda row: (-_given(row), -triples_each(row), row.label))


def triples_each(row: TripleRow) -> float:
    """Triples said of a fictional entity, of those that it was asked about; 0 for none."""
    said = row.volunteered
    return said.fictional_triples / said.fictional if said.fictional else 0.0


def fictional_section(board: TripleBoard) -> Section | None:
    """How many fictional entities got triples and how many triples each, beside abstention on
    entities that there are; None where nobody was asked about any."""
    rows = asked_fictional(board)
    if not rows:
        return None
    return Section(
        name="fictional",
        title=say("Entities that do not exist"),
        finding=fictional_finding(board),
        plain=say(
            "Whatever a model says of a fictional entity is made up. Abstention on entities that "
            "there are stands beside: a model that abstains on everything makes nothing up either."
        ),
        tables=(_table(rows),),
        figures=(_shares(board, rows), _each(rows)),
    )


def fictional_finding(board: TripleBoard) -> str:
    """Who makes most up and who least, as far as the intervals carry it; empty where nobody was
    asked."""
    rows = asked_fictional(board)
    if not rows:
        return ""
    silent = [row for row in rows if _given(row) == 0.0]
    if len(silent) == len(rows):
        return say("No model gave a triple about a fictional entity.")
    most, least = rows[0], rows[-1]
    if len(rows) == 1:
        return say(
            "{model} gives triples about {share} of 100 fictional entities, {each:.1f} triples "
            "each.",
            model=most.label,
            share=shown_estimate(_estimate(most)),
            each=triples_each(most),
        )
    if not is_above(_estimate(most), _estimate(least), len(rows) * (len(rows) - 1) // 2):
        return say(
            "Models gave triples about {share} of fictional entities; the highest and the "
            "lowest rate do not differ significantly.",
            share=shown_range([_given(least), _given(most)]),
        )
    said = say(
        "{most} has the highest hallucination rate: it gives triples about {high} of 100 "
        "fictional entities, {each:.1f} triples each; {least} about {low}.",
        most=most.label,
        high=shown_estimate(_estimate(most)),
        each=triples_each(most),
        least=joined([row.label for row in silent], _MOST_NAMED) if silent else least.label,
        low=shown_estimate(_estimate(least)),
    )
    return paragraph(said, _abstaining(most, silent or [least]))


def _abstaining(most: TripleRow, least: Sequence[TripleRow]) -> str:
    """Whether who makes least up abstains elsewhere, too."""
    known = [row.abstention.value for row in (most, *least) if row.abstention.n]
    if len(known) <= len(least):
        return ""
    return say(
        "The former abstains on {most} of the existing entities, the latter on {least}.",
        most=shown_share(known[0]),
        least=shown_range(known[1:]),
    )


def _estimate(row: TripleRow) -> Estimate:
    return row.fictional_given or _NONE


def _given(row: TripleRow) -> float:
    return _estimate(row).value


def _table(rows: list[TripleRow]) -> Table:
    return Table(
        title=say("Fictional entities"),
        columns=(
            Column(key="model", name=word("model")),
            Column(key="fictional", name=say("fictional entities"), help=say("with a reply")),
            Column(key="given", name=say("with triples"), unit="points"),
            Column(key="triples", name=say("triples about them")),
            Column(key="each", name=say("triples each"), digits=1),
            Column(
                key="abstention",
                name=say("abstention"),
                unit="points",
                help=say("of entities that there are, those it said that it knows nothing of"),
            ),
        ),
        rows=tuple(
            (
                row.label,
                row.volunteered.fictional,
                _estimate(row),
                row.volunteered.fictional_triples,
                triples_each(row),
                row.abstention,
            )
            for row in rows
        ),
    )


def _shares(board: TripleBoard, rows: list[TripleRow]) -> Figure:
    return Figure(
        name="fictional-given",
        kind="dots",
        title=say("Fictional entities that got triples"),
        subtitle=say(
            "of those it was asked about; {level:g}% intervals", level=100 * board.confidence
        ),
        marks=tuple(
            Mark(
                row=row.label,
                value=_given(row),
                low=_estimate(row).low,
                high=_estimate(row).high,
                n=row.volunteered.fictional,
                text=shown_estimate(_estimate(row)),
            )
            for row in rows
        ),
        row_axis=word("model"),
        value_axis=say("points"),
        table=1,
    )


def _each(rows: list[TripleRow]) -> Figure:
    fewest = min(row.volunteered.fictional for row in rows)
    most = max(row.volunteered.fictional for row in rows)
    n = counted(most, "fictional entity", "fictional entities")
    return Figure(
        name="fictional-triples",
        kind="bars",
        title=say("Triples about a fictional entity"),
        subtitle=n if fewest == most else say("up to {n}", n=n),
        marks=tuple(
            Mark(row=row.label, value=round(triples_each(row), 1), n=row.volunteered.fictional)
            for row in rows
        ),
        row_axis=word("model"),
        value_axis=say("triples each"),
        value_unit="number",
        table=1,
    )
