"""A model's family and its size, from its card, else from its name: ``Qwen3-30B-A3B``."""

from __future__ import annotations

import re

from msgspec import Struct

from proofstone.records.cards import Card

__all__ = ["ModelSize", "size_of"]

# A number of billions that no letter or digit touches: not the 7B of 8x7B, where the sum is open.
_TOTAL = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)[bB](?![A-Za-z0-9])")
_ACTIVE = re.compile(r"[-_ ]A(\d+(?:\.\d+)?)[bB](?![A-Za-z0-9])")


class ModelSize(Struct, frozen=True, kw_only=True):
    """Billions of parameters, ``total`` and those that one token uses; a family holds models that
    differ by size alone. ``is_told``: by a card; else it is read from the name, and a mixture is
    one only where the name says so."""

    family: str
    total_b: float
    active_b: float
    is_mixture: bool
    is_told: bool


def size_of(name: str, card: Card | None = None, family: str = "") -> ModelSize | None:
    """The size of a model; None where neither its card nor its name tells it. ``family`` is the
    one that a table states, where it does."""
    short = name.rpartition("/")[2]
    found, active = _TOTAL.search(_ACTIVE.sub(" ", short)), _ACTIVE.search(short)
    if card is not None and card.total_parameters_b:
        total = card.total_parameters_b
        used = card.active_parameters_b or total
        return ModelSize(
            family=family or (_family(short, found, active) if found else card.family or short),
            total_b=total,
            active_b=used,
            is_mixture=card.architecture == "mixture" or used < total,
            is_told=True,
        )
    if found is None:
        return None
    total = float(found[1])
    return ModelSize(
        family=family or _family(short, found, active),
        total_b=total,
        active_b=float(active[1]) if active else total,
        is_mixture=active is not None,
        is_told=False,
    )


def _family(name: str, found: re.Match[str] | None, active: re.Match[str] | None) -> str:
    """The name without its sizes: ``Qwen3 Thinking-2507`` of Qwen3-30B-A3B-Thinking-2507."""
    rest = _TOTAL.sub(" ", _ACTIVE.sub(" ", name)) if found or active else name
    return " ".join(part.strip("-_. ") for part in rest.split() if part.strip("-_. ")) or name
