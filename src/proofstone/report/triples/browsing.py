"""What the script of a page is told of the entities and verdicts that the page holds."""

from __future__ import annotations

import msgspec
from markupsafe import Markup

from proofstone.records.triples import DIRECTIONS
from proofstone.report.shown_text import visible
from proofstone.report.triples.held import (
    EVIDENCE_A_PIECE,
    VERDICTS,
    Held,
)
from proofstone.wording import word

__all__ = ["held_json"]


def held_json(held: Held) -> Markup:
    """The names of pieces in their order, and the words for codes in rows; safe in a page."""
    told = {
        "stamp": held.stamp,
        "folder": held.folder if held.is_beside else "",
        "triples": {"n": held.triples, "pieces": held.names["triples"]},
        "evidence": {"each": EVIDENCE_A_PIECE, "pieces": held.names["evidence"]},
        "entities": {"n": held.entities, "pieces": held.names["entities"]},
        "groups": [[visible(model), visible(setting)] for model, setting in held.groups],
        "verdicts": [word(verdict) for verdict in VERDICTS],
        "directions": [word(direction) for direction in DIRECTIONS],
    }
    text = msgspec.json.encode(told).decode().replace("<", "\\u003c")
    return Markup(text)  # noqa: S704 - no tag can begin in it
