"""Vega-Lite specifications, put together from small parts.

Through Altair's classes the same figures took one to five seconds each, most of it copies that
``encode`` and ``layer`` make of all they hold; this takes milliseconds. ``Altair`` opens what comes
out (``chart_of``), and its schema judges every kind of figure in the tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "Field",
    "Part",
    "chart",
    "concat",
    "condition",
    "field",
    "hconcat",
    "layer",
    "specification",
    "value",
    "vconcat",
]

Spec = Mapping[str, Any]
_TYPES = {"Q": "quantitative", "N": "nominal", "O": "ordinal"}
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.4.1.json"


class Field:
    """What a channel shows: a field of the rows with its scale and axis, or a constant."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec

    def scale(self, *nothing: None, **how: Any) -> Field:
        """With a scale; ``scale(None)``: the values are pixels, colours or shapes themselves."""
        return Field({**self.spec, "scale": None if nothing else how})

    def axis(self, *nothing: None, **how: Any) -> Field:
        """With an axis, or with none."""
        return Field({**self.spec, "axis": None if nothing else how})

    def unsorted(self) -> Field:
        """In the order of the domain, and not of the alphabet."""
        return Field({**self.spec, "sort": None})

    def without_legend(self) -> Field:
        """Explained elsewhere."""
        return Field({**self.spec, "legend": None})


def field(name: str, **more: Any) -> Field:
    """A field by its name and kind: ``accuracy:Q`` (a number), ``model:N`` (a name)."""
    name, _, kind = name.partition(":")
    return Field({"field": name, **({"type": _TYPES[kind]} if kind else {}), **more})


def value(constant: Any) -> Field:
    """The same for all rows: a place in pixels, a colour."""
    return Field({"value": constant})


def condition(test: str, then: Field, otherwise: Field) -> Field:
    """One of two, by an expression of the row (``datum``)."""
    return Field({"condition": {"test": test, **then.spec}, **otherwise.spec})


class Part:
    """A chart, or several; nothing changes one, each method gives another."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec

    def encode(self, **channels: Field | str | Sequence[str]) -> Part:
        """With what each channel shows, in addition to those that are there."""
        known = self.spec.get("encoding", {})
        added = {name: _channel(name, shown) for name, shown in channels.items()}
        return Part({**self.spec, "encoding": {**known, **added}})

    def mark(self, kind: str, **how: Any) -> Part:
        """Drawn as points, rules, lines, areas, rectangles, ticks or text."""
        return Part({**self.spec, "mark": {"type": kind, **how}})

    def only(self, test: str) -> Part:
        """Of the rows of which an expression is true."""
        return Part({**self.spec, "transform": [{"filter": test}]})

    def properties(self, **properties: Any) -> Part:
        """With a size, a title, a description."""
        return Part({**self.spec, **properties})


def chart(rows: Sequence[Spec]) -> Part:
    """A chart of these rows, not drawn as anything yet."""
    return Part({"data": {"values": rows}})


def layer(*parts: Part) -> Part:
    """Parts over each other, the first at the back."""
    return Part({"layer": [part.spec for part in parts]})


def concat(*parts: Part, columns: int, spacing: int) -> Part:
    """Parts beside each other, ``columns`` in a row."""
    return Part({"concat": [p.spec for p in parts], "columns": columns, "spacing": spacing})


def hconcat(*parts: Part, spacing: int) -> Part:
    """Parts from left to right."""
    return Part({"hconcat": [part.spec for part in parts], "spacing": spacing})


def vconcat(*parts: Part, spacing: int) -> Part:
    """Parts from top to bottom."""
    return Part({"vconcat": [part.spec for part in parts], "spacing": spacing})


def specification(part: Part, config: Spec) -> dict[str, Any]:
    """The whole as Vega-Lite; the rows stand once, by name, in ``datasets``."""
    datasets: dict[str, Sequence[Spec]] = {}
    spec = _named(part.spec, datasets)
    return {"$schema": SCHEMA, **spec, "config": dict(config), "datasets": datasets}


def _channel(name: str, shown: Field | str | Sequence[str]) -> Any:
    if isinstance(shown, Field):
        return shown.spec
    if isinstance(shown, str):
        # The other end of an interval is of the kind of the first.
        return field(shown.partition(":")[0] if name in {"x2", "y2"} else shown).spec
    return [field(each).spec for each in shown]


def _named(spec: Spec, datasets: dict[str, Sequence[Spec]]) -> dict[str, Any]:
    found = dict(spec)
    if "data" in found:
        found["data"] = {"name": _name(found["data"]["values"], datasets)}
    for several in ("layer", "concat", "hconcat", "vconcat"):
        if several in found:
            found[several] = [_named(each, datasets) for each in found[several]]
    return found


def _name(rows: Sequence[Spec], datasets: dict[str, Sequence[Spec]]) -> str:
    for name, known in datasets.items():
        if known is rows or known == rows:
            return name
    name = f"rows-{len(datasets) + 1}"
    datasets[name] = rows
    return name
