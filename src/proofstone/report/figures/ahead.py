"""Figures of a page that are drawn elsewhere while the rest of it is made."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future
from typing import Any

from proofstone.report.figures.drawing import draw, for_page, vega_lite
from proofstone.report.sections.section import Figure

__all__ = ["BeginDrawing", "DrawnAhead"]

# A Vega-Lite specification as SVG, once it is there; None where nothing draws it.
BeginDrawing = Callable[[Mapping[str, Any]], Future[str] | None]


class DrawnAhead:
    """What ``draw`` gives of each figure, begun when this is made; what cannot be had is drawn
    here."""

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
            with contextlib.suppress(BrokenExecutor):
                return for_page(svg.result(), figure)
        return draw(figure, models)
