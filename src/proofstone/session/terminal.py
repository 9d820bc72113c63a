"""How commands speak: results to stdout, talk to stderr, JSON where it is asked for."""

from __future__ import annotations

import re
import shlex
from typing import Any

import click
import msgspec

# Stored texts come from anywhere: escape sequences would move the cursor or change its colours, and
# marks of direction show a line in another order than it has.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def say(text: str, *, quiet: bool = False) -> None:
    """A line of talk, on stderr."""
    if not quiet:
        click.echo(visible(text), err=True)


def print_text(text: str) -> None:
    """A result on stdout, with its line breaks and without power over the terminal."""
    click.echo(visible(text))


def visible(text: str) -> str:
    """``text`` with control characters, but tab and line feed, as their escapes (``\\x1b``)."""
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def pasted(word: object) -> str:
    """A name or path as a shell takes it for one word, in commands that are printed."""
    return shlex.quote(str(word))


def tell_known_name(asked: str | None, has: str, what: str, *, quiet: bool = False) -> None:
    """Says that what was made is here already, under another name than it was to have."""
    if asked and asked != has:
        say(f"the same {what} are here already, under the name {has}", quiet=quiet)


def print_json(value: Any) -> None:
    """A result as indented JSON on stdout; ids as hexadecimal text."""
    plain = msgspec.to_builtins(value, builtin_types=(bytes,), enc_hook=_plain)
    text = msgspec.json.encode(_hexed(plain), enc_hook=_plain)
    click.echo(msgspec.json.format(text, indent=2).decode())


def print_table(rows: list[tuple[Any, ...]]) -> None:
    """Rows as aligned columns on stdout; numbers to the right."""
    from proofstone.page.text import aligned  # noqa: PLC0415

    if not rows:
        return
    texts = [["" if cell is None else visible(str(cell)) for cell in row] for row in rows]
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
