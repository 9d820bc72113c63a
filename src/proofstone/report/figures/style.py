"""How every figure looks: black on white, in colours that print and all readers tell apart."""

from __future__ import annotations

from typing import Any

__all__ = ["BLUE", "INK", "OKABE_ITO", "QUIET", "RAMP", "styled"]

# Okabe and Ito (2008), without yellow, which is too light for lines on white.
OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000")
BLUE = OKABE_ITO[0]
INK, QUIET, RULE = "#1a1a1a", "#555555", "#d8d8d8"
# One hue from near-white to dark: it stays in order in black and white.
RAMP = ("#f4f8fb", "#c6dbec", "#84b4d6", "#3e86ba", "#0b4f86", "#06305a")


def styled(chart: Any) -> Any:
    """The chart in the page's font and greys."""
    return (
        chart.configure(font="system-ui, sans-serif", background="white")
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=INK,
            labelFontSize=12,
            labelLimit=240,
            titleColor=QUIET,
            titleFontSize=12,
            titleFontWeight="normal",
            gridColor=RULE,
            domainColor=QUIET,
            tickColor=QUIET,
        )
    )
