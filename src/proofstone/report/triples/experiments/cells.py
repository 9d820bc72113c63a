"""Columns and marks that the experiments share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from proofstone.records.results import Estimate
from proofstone.report.numbers import shown_estimate
from proofstone.report.sections.section import Column, Figure, Mark
from proofstone.report.triples.board import TripleBoard, TripleRow
from proofstone.report.triples.experiments.evidence import Asked
from proofstone.wording import counted, say, word

__all__ = [
    "CONFIG", "UNPARSED", "config_column", "config_of", "measured_cells", "measured_columns",
    "measures_of",
    "model_name", "resolved", "strips", "strips_subtitle", "triples_an_entity",
]  # fmt: skip

MEASURED = ("f1", "precision", "recall")
UNPARSED = ("unparsed", "recall_unparsed")
CONFIG = 8


def model_name(row: TripleRow) -> str:
    """A row's model, marked where it is simulated, with its setting."""
    parts = (row.group.model, row.group.setting, "(simulated)" if row.simulated else "")
    return " ".join(filter(None, parts))


def config_column() -> Column:
    """The hash of how a row was asked."""
    return Column(
        key="config",
        name=say("asked as"),
        help=say("hash of prompts and settings: the same in any two tables means asked once"),
    )


def measured_columns() -> tuple[Column, ...]:
    """F1, precision and recall, and the share of verdicts that could not be parsed."""
    return (
        Column(key="f1", name="F1", unit="points", help=say("2PR / (P + R)")),
        Column(
            key="precision", name=word("precision"), unit="points",
            help=say("of the sampled triples that it said, those that the reference entails"),
        ),
        Column(
            key="recall", name=word("recall"), unit="points",
            help=say("of the sampled triples of the reference, those that it said"),
        ),
        Column(
            key="unparsed", name=say("unparsed"), unit="points",
            help=say(
                "verdicts that could not be parsed, in the direction with more of them; they "
                "count against the model"
            ),
        ),
    )  # fmt: skip


def measures_of(row: TripleRow) -> tuple[Estimate | None, ...]:
    """The cells under ``measured_columns``."""
    return measured_cells(row.measured.estimates.get)


def measured_cells(find: Callable[[str], Estimate | None]) -> tuple[Estimate | None, ...]:
    """The same of measures that are found by their names."""
    unparsed = [each for each in map(find, UNPARSED) if each is not None]
    return (
        *map(find, MEASURED),
        max(unparsed, key=lambda each: each.value, default=None),
    )


def triples_an_entity(row: TripleRow) -> float | None:
    """Triples of an entity that exists and was asked about; None where none was."""
    said = row.volunteered
    return said.triples / said.entities if said.entities else None


def strips(
    name: str,
    title: str,
    subtitle: str,
    axis: str,
    marks: Iterable[tuple[str, str, Estimate | None]],
) -> Figure | None:
    """A row a value with a mark for each series ((value, series, estimate)); None without any."""
    made = tuple(
        Mark(
            row=value, column=series, value=found.value, low=found.low, high=found.high,
            n=found.n, text=shown_estimate(found),
        )
        for value, series, found in marks
        if found is not None
    )  # fmt: skip
    if not made:
        return None
    return Figure(
        name=name, kind="strips", title=title, subtitle=subtitle, marks=made, row_axis=axis,
        column_axis=word("model"), value_axis="F1", table=1,
    )  # fmt: skip


def strips_subtitle(board: TripleBoard) -> str:
    """What a figure of strips shows: of how many entities, and with which intervals."""
    return say(
        "{entities}; {level:g}% intervals of the first three models, a tick for every other; n: "
        "sampled triples",
        entities=counted(board.entities, "entity", "entities"),
        level=100 * board.confidence,
    )


def resolved(found: Sequence[Estimate | None]) -> tuple[int, int]:
    """How many of these differences are above nothing and below it, by their whole interval."""
    known = [each for each in found if each is not None]
    return sum(each.low > 0.0 for each in known), sum(each.high < 0.0 for each in known)


def config_of(asked: Asked) -> str:
    """The short hash of how a row was asked."""
    return asked.row.config[:CONFIG]
