"""Figures as SVG, drawn by Altair and vl-convert, which are the extra ``[figures]``; no network."""

from proofstone.report.figures.drawing import can_draw, draw

__all__ = ["can_draw", "draw"]
