"""What a table of results says of its models: their parameters and their family."""

from __future__ import annotations

import re

import numpy as np

from proofstone.engines.tables.column_names import plain
from proofstone.engines.tables.layout import Layout
from proofstone.engines.tables.problems import place, refused
from proofstone.errors import Problem
from proofstone.records import Card, FileColumns
from proofstone.records.families import family_of

__all__ = ["model_facts"]

_COUNT = re.compile(r"(\d+(?:[.,]\d+)*(?:e[+-]?\d+)?)\s*([kmbt]?)", re.IGNORECASE)
_BILLIONS = {"k": 1e-6, "m": 1e-3, "b": 1.0, "t": 1e3}
_RAW_FROM = 1e6  # no model has a million billions: from here a bare number counts single parameters


def model_facts(table: FileColumns, layout: Layout) -> dict[str, Card]:
    """The card of each model of a long table or one of accuracies, by its name; empty without
    columns of parameters or families.

    A bare number is billions, or millions under a name such as ``params_m``; from a million on it
    counts parameters. Raises BadInput for cells that are no number of parameters, and for models
    of which records say different things."""
    columns = {
        role: table.columns[name]
        for role in ("parameters", "active", "family")
        if (name := getattr(layout, role))
    }
    if not columns or layout.kind in ("wide", "labels") or not layout.model:
        return {}
    models = table.columns[layout.model]
    problems: list[Problem] = []
    found: dict[str, dict[str, str]] = {name: {} for name in models.names}
    for role, column in columns.items():
        header = getattr(layout, role)
        pairs = np.stack([models.codes, column.codes], axis=1)
        _, first = np.unique(pairs, axis=0, return_index=True)
        for record in sorted(first.tolist()):
            model, code = int(models.codes[record]), int(column.codes[record])
            if model < 0 or code < 0:
                continue
            text, at = column.names[code], f"{place(table, record)}, column {header}"
            known = found[models.names[model]].setdefault(role, text)
            if known != text:
                what = f"is {text!r}, and another record of {models.names[model]} has {known!r}"
                problems.append(Problem(at, what))
            elif role != "family" and _billions(text, header) is None:
                problems.append(Problem(at, f"{text!r} is no number of parameters (7B, 350M)"))
    if problems:
        raise refused(table, problems)
    return {name: _card(name, told, layout) for name, told in found.items() if told}


def _card(name: str, told: dict[str, str], layout: Layout) -> Card:
    return Card(
        family=told.get("family") or family_of(name),
        total_parameters_b=_billions(told.get("parameters", ""), layout.parameters),
        active_parameters_b=_billions(told.get("active", ""), layout.active),
    )


def _billions(text: str, header: str) -> float | None:
    match = _COUNT.fullmatch(text.strip())
    if match is None:
        return None
    number = float(match[1].replace(",", ""))
    unit = match[2].lower()
    if unit:
        return number * _BILLIONS[unit] or None
    if number >= _RAW_FROM:
        return number / 1e9
    in_millions = {"m", "millions", "million"} & set(plain(header).split("_"))
    return number * (1e-3 if in_millions else 1.0) or None
