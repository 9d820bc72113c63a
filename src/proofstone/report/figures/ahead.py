"""Figures of a page that are drawn elsewhere while the rest of it is made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future
from typing import Any

from proofstone.report.figures.drawing import draw, for_page, vega_lite
from proofstone.report.sections.section import Figure

__all__ = ["BeginDrawing", "DrawnAhead"]

# A Vega-Lite specification as SVG, once it is there; None where nothing draws it.
BeginDrawing = Callable[[Mapping[str, Any]], Future[str] | None]


class DrawnAhead:
    """What ``draw`` gives of each figure, begun when this is made.

    A figure that is not begun is drawn here. One whose process has crashed is left out, since what
    crashed it would crash this process too; its table holds the same numbers.
    """

    def __init__(
        self, begin: BeginDrawing, figures: Iterable[Figure], models: Sequence[str]
    ) -> None:
        self._models = models
        self._begun: dict[str, tuple[Figure, Future[str]]] = {}
        for figure in figures:
            if (svg := begin(vega_lite(figure, models))) is not None:
                self._begun[figure.name] = (figure, svg)

    def draw(self, figure: Figure, models: Sequence[str] = ()) -> str:
        """The figure as SVG; waits for one that is being drawn."""
        begun, svg = self._begun.get(figure.name, (None, None))
        if svg is not None and (begun, self._models) == (figure, models):
            try:
                return for_page(svg.result(), figure)
            except BrokenExecutor:
                return ""
        return draw(figure, models)
