"""What a printed page says on every sheet, and texts as style sheets write them."""

from __future__ import annotations

from markupsafe import Markup

from proofstone.report.page_data import Provenance

__all__ = ["css_string", "paper_line"]

# More runs than these are named once, on the last sheet.
MOST_RUNS = 4
MOST_TITLE = 160


def paper_line(title: str, made: Provenance) -> str:
    """The foot of every sheet: what the page is of, which runs, when it was made, by which
    version."""
    runs = ", ".join(made.runs[:MOST_RUNS])
    if len(made.runs) > MOST_RUNS:
        runs += f" +{len(made.runs) - MOST_RUNS}"
    return " \u00b7 ".join(
        filter(None, (title[:MOST_TITLE], runs, made.made_at, f"proofstone {made.version}"))
    )


def css_string(text: str) -> Markup:
    """``text`` between quotes, so that no character of it ends the text or the style sheet: all
    but letters and digits are written as their numbers."""
    return Markup('"{}"').format("".join(c if c.isalnum() else f"\\{ord(c):x} " for c in text))
