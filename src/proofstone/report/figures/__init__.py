"""Figures as Vega-Lite, and as SVG by vl-convert, which is in the extra ``[figures]``; no
network."""

from proofstone.report.figures.described import described
from proofstone.report.figures.drawing import can_draw, chart_of, draw, vega_lite

__all__ = ["can_draw", "chart_of", "described", "draw", "vega_lite"]
