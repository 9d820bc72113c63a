"""How commands speak: results to stdout, talk to stderr, JSON where it is asked for."""

from __future__ import annotations

from typing import Any

import click
import msgspec

__all__ = ["print_json", "print_table", "say"]


def say(text: str, *, quiet: bool = False) -> None:
    """A line of talk, on stderr."""
    if not quiet:
        click.echo(text, err=True)


def print_json(value: Any) -> None:
    """A result as indented JSON on stdout; ids as hexadecimal text."""
    plain = msgspec.to_builtins(value, builtin_types=(bytes,), enc_hook=_plain)
    text = msgspec.json.encode(_hexed(plain), enc_hook=_plain)
    click.echo(msgspec.json.format(text, indent=2).decode())


def print_table(rows: list[tuple[Any, ...]]) -> None:
    """Rows as aligned columns on stdout; numbers to the right."""
    from proofstone.report.columns import aligned  # noqa: PLC0415

    if not rows:
        return
    texts = [["" if cell is None else str(cell) for cell in row] for row in rows]
    left = [
        place
        for place in range(len(texts[0]))
        if not all(isinstance(row[place], int | float) for row in rows[1:]) or len(rows) == 1
    ]
    for line in aligned(texts, left=left):
        click.echo(line)


def _hexed(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {str(_hexed(name)): _hexed(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_hexed(entry) for entry in value]
    return value


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):  # a NumPy number or array
        return value.tolist()
    return str(value)
