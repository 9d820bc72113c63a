"""The leaderboard of verified triples as a table, and its figure."""

from __future__ import annotations

import math
from collections.abc import Iterator

from msgspec import Struct

from proofstone.records.results import Estimate
from proofstone.report.board import RowGroup
from proofstone.report.card_lines import group_heading
from proofstone.report.card_values import card_value, group_order
from proofstone.report.numbers import shown_estimate
from proofstone.report.sections.section import Cell, Column, Figure, Mark, Span, Table
from proofstone.report.triples.answer import ranked_rows
from proofstone.report.triples.board import TripleBoard, TripleRow
from proofstone.report.triples.words import MEASURE_HELP, measure_name
from proofstone.wording import counted, say, word

__all__ = [
    "LEADING",
    "RowsTogether",
    "f1_figure",
    "openness_of",
    "rows_together",
    "standing_table",
    "triples_an_entity",
    "why_unranked",
]

LEADING = ("f1", "precision", "recall", "contradiction", "unparsed", "recall_unparsed")
_OPENNESS = {"closed": "commercial", "open weights": "open", "fully open": "open"}


def openness_of(row: TripleRow) -> str:
    """Commercial, open or unknown, by the model's card."""
    said = card_value(row.card, "openness")
    return word(_OPENNESS.get(said, said))


def triples_an_entity(row: TripleRow) -> float | None:
    """Triples said of an entity with a reply; None where there is none."""
    said = row.volunteered
    return said.triples / said.entities if said.entities else None


class RowsTogether(Struct, frozen=True):
    """Rows that stand together, under a heading where there is more than one such part; ``name``
    is that of their group by the models' cards."""

    name: str
    heading: str
    rows: tuple[TripleRow, ...]


def rows_together(board: TripleBoard) -> Iterator[RowsTogether]:
    """The rows of models and then simulated ones, which are ranked among themselves, each by what
    their cards say where the board is grouped."""
    both = len({row.simulated for row in board.rows}) > 1
    for simulated in (False, True):
        own = [row for row in board.rows if row.simulated == simulated]
        kind = say("Simulated respondents") if simulated and both else ""
        if not board.group_by:
            if own:
                yield RowsTogether("", kind, tuple(own))
            continue
        found: dict[str, list[TripleRow]] = {}
        for row in own:
            found.setdefault(card_value(row.card, board.group_by), []).append(row)
        for value in sorted(found, key=lambda value: group_order(board.group_by, value)):
            places = tuple(range(len(found[value])))
            heading = group_heading(board.group_by, RowGroup(name=value, ranked=places))
            shown = say("; ").join(filter(None, (kind, heading)))
            yield RowsTogether(word(value), shown, tuple(found[value]))


def why_unranked(row: TripleRow) -> str:
    """Why a row has no rank, in words."""
    if row.experiment:
        return say("not ranked: an experiment with another setting")
    if row.waiting:
        return say("not ranked: {triples} wait for a judge", triples=counted(row.waiting, "triple"))
    if row.other_entities:
        return say(
            "not ranked: held against other entities than most, {entities} differ",
            entities=counted(row.other_entities, "entity", "entities"),
        )
    if "f1" not in row.measured.estimates:
        return say("not ranked: nothing of one direction was judged")
    return say("not ranked: no other model was held against the same entities")


def standing_table(board: TripleBoard) -> Table:
    """The leaderboard as a table that files hold, too."""
    return Table(
        title=say("Leaderboard"),
        columns=(
            Column(key="model", name=word("model")),
            Column(key="rank", name=say("rank"), unit="rank"),
            Column(key="openness", name=say("openness")),
            *(
                Column(
                    key=name, name=measure_name(name), unit="points", help=word(MEASURE_HELP[name])
                )
                for name in LEADING
            ),
            Column(key="abstention", name=say("abstention"), unit="points"),
            Column(key="triples_an_entity", name=say("triples an entity"), digits=1),
            Column(key="fictional_given", name=say("fictional given"), unit="points"),
            Column(key="waiting", name=say("waiting")),
            Column(key="config", name=say("configuration")),
        ),
        rows=tuple(_row(row) for row in board.rows),
    )


def _row(row: TripleRow) -> tuple[Cell, ...]:
    estimates = row.measured.estimates
    return (
        row.label,
        row.rank,
        openness_of(row),
        *(estimates.get(name) for name in LEADING),
        row.abstention,
        triples_an_entity(row),
        row.fictional_given,
        row.waiting,
        row.config,
    )


def f1_figure(board: TripleBoard) -> Figure | None:
    """F1 of the ranked rows with ties as bars; None where no row is ranked."""
    rows = [row for row in ranked_rows(board) if not math.isnan(_f1(row).low)]
    if not rows:
        return None
    return Figure(
        name="f1",
        kind="dots",
        title=say("{measure} by model", measure=measure_name("f1")),
        subtitle=say(
            "{entities}; {level:g}% intervals over entities, both directions drawn together",
            entities=counted(board.entities, "entity", "entities"),
            level=100 * board.confidence,
        ),
        marks=tuple(_mark(row) for row in rows),
        spans=tuple(Span(first=first, last=last) for first, last in board.ties),
        row_axis=word("model"),
        value_axis=say("points"),
        x_axis=say("ranks left open"),
    )


def _f1(row: TripleRow) -> Estimate:
    return row.measured.estimates["f1"]


def _mark(row: TripleRow) -> Mark:
    found = _f1(row)
    return Mark(
        row=row.label,
        value=found.value,
        low=found.low,
        high=found.high,
        n=found.n,
        text=shown_estimate(found),
        x_low=float("nan") if row.rank is None else row.rank.low,
        x_high=float("nan") if row.rank is None else row.rank.high,
    )
