"""Stated confidence as figures: the reliability diagram, and risk against coverage."""

from __future__ import annotations

from collections.abc import Sequence

from proofstone.engines.stats import Calibration
from proofstone.report.numbers import points
from proofstone.report.sections.section import Figure, Mark
from proofstone.wording import paragraph, say

__all__ = ["reliability_diagram", "risk_curves"]

_MOST_DRAWN = 12


def reliability_diagram(known: Sequence[tuple[str, Calibration]]) -> Figure:
    """The share right of each bin by its mean confidence, a panel a model, best first."""
    return Figure(
        name="calibration",
        kind="calibration",
        title=say("Share right by stated confidence"),
        subtitle=_subtitle(
            say(
                "a dot a bin with its interval; bars say how many answers it has; on the diagonal "
                "confidence means what it says"
            ),
            len(known),
        ),
        marks=tuple(
            Mark(
                row=label,
                x=part.confidence,
                value=part.accuracy,
                low=part.low,
                high=part.high,
                n=part.n,
                text=points(part.accuracy),
            )
            for label, found in known[:_MOST_DRAWN]
            for part in found.bins
        ),
        x_axis=say("stated confidence"),
        value_axis=say("share right"),
        table=4,
    )


def risk_curves(known: Sequence[tuple[str, Calibration]]) -> Figure:
    """The share wrong by the share answered, surest first."""
    return Figure(
        name="risk-coverage",
        kind="curves",
        title=say("Share wrong by share answered"),
        subtitle=_subtitle(
            say("answering only from some confidence up, surest first; with intervals"), len(known)
        ),
        marks=tuple(
            Mark(
                row=label,
                x=point.coverage,
                value=point.risk,
                low=point.low,
                high=point.high,
                n=point.n,
                text=points(point.risk),
            )
            for label, found in known[:_MOST_DRAWN]
            for point in found.curve
        ),
        x_axis=say("share answered"),
        value_axis=say("share wrong"),
        table=3,
    )


def _subtitle(text: str, n: int) -> str:
    return (
        paragraph(text, say("(the first {n} models)", n=_MOST_DRAWN)) if n > _MOST_DRAWN else text
    )
