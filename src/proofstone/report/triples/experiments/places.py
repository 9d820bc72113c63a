"""The same models on parts of their entities: measures of each part, against the other parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from proofstone.records.results import Estimate
from proofstone.report.sections.section import Figure
from proofstone.report.triples.experiments.cells import (
    measured_cells,
    model_name,
    strips,
    strips_subtitle,
)
from proofstone.report.triples.experiments.evidence import Asked, Experiment
from proofstone.report.triples.experiments.tallies import Cell, DrawnCells

__all__ = ["Place", "Placed", "place_entities", "placed_figure"]


@dataclass(frozen=True, slots=True)
class Place:
    """A model on the entities of one part: how many were asked about, and its measures."""

    value: str
    entities: int
    measures: tuple[Estimate | None, ...]
    triples: float | None


@dataclass(frozen=True, slots=True)
class Placed:
    """A row by the values of a field, and by how much F1 of each lies above that of all others
    together, all intervals of the row holding at once."""

    asked: Asked
    places: tuple[Place, ...]
    less: tuple[Estimate | None, ...]


def place_entities(found: Experiment, asked: Asked, field: str, values: Sequence[str]) -> Placed:
    """A row's measures on the entities of each of ``values``."""
    tallies = found.tallies
    mine = tallies.shared([asked.group])
    parts = [mine & tallies.where(field, value) for value in values]
    placed = np.logical_or.reduce([*parts, np.zeros(len(mine), dtype=bool)])
    cells = [Cell(asked.group, part) for part in parts]
    cells += [Cell(asked.group, placed & ~part) for part in parts]
    drawn = DrawnCells(tallies, cells, confidence=found.board.confidence, seed=found.board.seed)
    n = len(parts)
    less = drawn.less([(place, n + place) for place in range(n)], "f1")
    return Placed(
        asked=asked,
        places=tuple(
            Place(
                value=value,
                entities=int(parts[place].sum()),
                measures=measured_cells(partial(drawn.estimate, place)),
                triples=tallies.triples_each(asked.group, parts[place]),
            )
            for place, value in enumerate(values)
        ),
        less=tuple(less) if n > 1 else (None,) * n,
    )


def placed_figure(
    name: str,
    title: str,
    axis: str,
    found: Experiment,
    placed: Sequence[Placed],
    values: Sequence[str],
) -> Figure | None:
    """F1 at each of ``values``, a mark a model; None where there is none."""
    return strips(
        name,
        title,
        strips_subtitle(found.board),
        axis,
        (
            (value, model_name(each.asked.row), each.places[place].measures[0])
            for place, value in enumerate(values)
            for each in placed
        ),
    )
