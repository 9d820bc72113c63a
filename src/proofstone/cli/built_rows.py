"""Rows of builds on a terminal: each value in a line, long ones cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from proofstone.cli.output import visible

__all__ = ["short_text", "value_lines"]

_SHOWN = 400  # characters of a value


def value_lines(values: Mapping[str, Any] | None) -> Iterator[str]:
    """A line a value; one that says so where the row's text was purged."""
    if values is None:
        yield "  its text was purged"
        return
    yield from (f"  {name}   {short_text(_text(value))}" for name, value in values.items())


def short_text(text: str) -> str:
    """A text in one line, cut where it is long."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]} ..."


def _text(value: Any) -> str:
    import msgspec  # noqa: PLC0415

    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
