"""Rows of builds on a terminal: each value in a line, long ones cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from proofstone.cli.output import say, visible

__all__ = ["first_of", "short_text", "value_lines"]

_SHOWN = 400  # characters of a value
T = TypeVar("T")


def first_of(rows: list[T], limit: int, how: str) -> list[T]:
    """The first rows of those that were read, one beyond ``limit``; where it is there, it is said
    ``how`` to see more."""
    if len(rows) > limit:
        say(f"more follow: {how}")
    return rows[:limit]


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
