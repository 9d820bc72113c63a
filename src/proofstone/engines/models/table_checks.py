"""A table of a TOML file against the struct it becomes: every unknown key and wrong value named."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

import msgspec
from msgspec import Struct

__all__ = ["unknown_key", "wrong_fields"]

_MOST_NAMED = 30


def unknown_key(key: str, known: Iterable[str]) -> str:
    """That ``key`` is unknown, with the nearest known one, else with all of them."""
    names = sorted(set(known))
    near = difflib.get_close_matches(key, names, n=1)
    meant = f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(names)}"
    return f"unknown key {key!r}{meant if near or len(names) <= _MOST_NAMED else ''}"


def wrong_fields(path: str, fields: Any, struct: type[Struct]) -> list[str]:
    """All that keeps ``fields`` from becoming ``struct``, each with its key below ``path``."""
    if not isinstance(fields, Mapping):
        return [f"{path}: expected a table, came {type(fields).__name__}"]
    infos = {info.name: info for info in msgspec.structs.fields(struct)}
    wrong = [f"{path}: {unknown_key(key, infos)}" for key in fields if key not in infos]
    wrong += [
        f"{path}: {name} is missing"
        for name, info in infos.items()
        if info.required and name not in fields
    ]
    for name, value in fields.items():
        if name in infos:
            wrong += _wrong_value(f"{path}.{name}", value, infos[name].type)
    return wrong


def _wrong_value(path: str, value: Any, wanted: Any) -> list[str]:
    if isinstance(value, date) and wanted is str:
        return [f'{path}: write the day in quotation marks: "{value}"']
    try:
        msgspec.convert(value, wanted)
    except msgspec.ValidationError as error:
        return [f"{path}: {_said(str(error), value, wanted)}"]
    return []


def _said(error: str, value: Any, wanted: Any) -> str:
    choices = [choice for choice in getattr(wanted, "__args__", ()) if isinstance(choice, str)]
    if not choices or not isinstance(value, str):
        return error.replace(" - at `$`", "")
    near = difflib.get_close_matches(value.lower(), [choice for choice in choices if choice], n=1)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    return (
        f"expected one of {', '.join(choice for choice in choices if choice)}, not {value!r}{meant}"
    )
