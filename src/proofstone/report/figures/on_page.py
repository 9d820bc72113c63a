"""All figures of a page, each under the name of its files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import structs

from proofstone.report.board import Leaderboard
from proofstone.report.page_data import PageData
from proofstone.report.sections.drawn import leaderboard_figure
from proofstone.report.sections.section import Figure

__all__ = ["models_of", "page_figures"]


def models_of(board: Leaderboard) -> tuple[str, ...]:
    """The models of a page in their order, by which each looks the same in every figure."""
    return tuple(row.label for group in board.standings for row in group.ranked)


def page_figures(data: PageData) -> tuple[Figure, ...]:
    """The leaderboards', then those of the sections in their order; no two of one name."""
    used: dict[str, int] = {}
    return tuple(_apart(figure, used) for figure in _figures(data))


def _figures(data: PageData) -> Iterator[Figure]:
    for group in data.board.standings:
        if figure := leaderboard_figure(data.board, group):
            yield structs.replace(figure, name=f"{figure.name}{'-simulated' * group.simulated}")
    for section in data.sections:
        yield from section.figures


def _apart(figure: Figure, used: dict[str, int]) -> Figure:
    """With a name that a file may have everywhere, and that no figure before has."""
    name = re.sub(r"[^\w-]+", "-", figure.name).strip("-").lower() or "figure"
    used[name] = used.get(name, 0) + 1
    return structs.replace(figure, name=name if used[name] == 1 else f"{name}-{used[name]}")
