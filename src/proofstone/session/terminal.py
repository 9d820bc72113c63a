"""How commands speak: results to stdout, talk to stderr, JSON where it is asked for."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TextIO

import click
import msgspec
from msgspec import Struct

from proofstone.page.text import aligned, folded, folded_table, printable

if TYPE_CHECKING:
    from proofstone.session.permits import Leaving, Outgoing
    from proofstone.store.provenance import Origin

# Stored texts come from anywhere: escape sequences would move the cursor or change its colours, and
# marks of direction show a line in another order than it has.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


_QUIET = "proofstone.quiet"


def say(text: str, *, quiet: bool = False, is_error: bool = False) -> None:
    """Print a message on stderr. With ``--quiet``, only errors are printed."""
    context = click.get_current_context(silent=True)
    hushed = quiet or (context is not None and bool(context.meta.get(_QUIET)))
    if is_error or not hushed:
        click.echo(_as_wide(visible(text), sys.stderr), err=True)


def be_quiet(context: click.Context, wanted: bool) -> None:
    """Turn messages of this command off, or on."""
    context.meta[_QUIET] = wanted


def wants_color() -> bool:
    """Return True if results on stdout may be colored (``--color``, NO_COLOR, a terminal)."""
    context = click.get_current_context(silent=True)
    wanted = None if context is None else context.find_root().color
    if wanted is not None:
        return wanted
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def print_text(text: str) -> None:
    """A result on stdout, with its line breaks and without power over the terminal."""
    click.echo(_as_wide(visible(text), sys.stdout))


def say_next(commands: Iterable[str], *, quiet: bool = False) -> None:
    """Print the first two of these commands as the next steps.

    A command with a value that the user has to choose is marked as one to fill in.
    """
    for line in list(dict.fromkeys(commands))[:_MOST_STEPS]:
        head = "Fill in" if _PLACEHOLDER.search(line) else "Next"
        say(f"{head}: proofstone {line}", quiet=quiet)


_PLACEHOLDER = re.compile(r"(?<!\S)(PROVIDER/NAME|AMOUNT|FILE|BANK|RUN)(?!\S)")


_MOST_STEPS = 2


def print_rendered(text: str) -> None:
    """A result whose parts are safe to print already, and may be colored."""
    click.echo(_as_wide(text.removesuffix("\n"), sys.stdout))


def _as_wide(text: str, stream: TextIO) -> str:
    """``text`` with lines no longer than a terminal's; as it is for a file or a pipe."""
    width = terminal_width(stream)
    return text if width is None else folded(text, width)


def terminal_width(stream: TextIO) -> int | None:
    """The columns of a terminal; None for a file or a pipe."""
    return shutil.get_terminal_size((80, 24)).columns if stream.isatty() else None


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
    if not rows:
        return
    texts = [["" if cell is None else visible(str(cell)) for cell in row] for row in rows]
    left = [
        place
        for place in range(len(texts[0]))
        if not all(isinstance(row[place], int | float) for row in rows[1:]) or len(rows) == 1
    ]
    width = terminal_width(sys.stdout)
    for line in aligned(texts if width is None else folded_table(texts, width), left=left):
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


# A thing as ``show`` prints it.


class Description(Struct, frozen=True, kw_only=True):
    """A thing: what it is called, its facts line by line, texts that belong to it, and the rows
    that it came from."""

    title: str
    lines: tuple[tuple[str, str], ...]
    texts: tuple[str, ...] = ()
    ancestors: tuple[Ancestor, ...] = ()

    def __str__(self) -> str:
        width = max((len(name) for name, _value in self.lines), default=0)
        lines = [f"{name:<{width}}  {value}" for name, value in self.lines]
        came = ["\ncame from", *(f"  {each}" for each in self.ancestors)] if self.ancestors else []
        return "\n".join([self.title, *lines, *(f"\n{text}" for text in self.texts), *came])


class Ancestor(Struct, frozen=True, kw_only=True):
    """A row that another came from: how many steps behind it, its id, and a line about it."""

    depth: int
    kind: str
    id: str
    text: str

    def __str__(self) -> str:
        return f"{'  ' * self.depth}{self.id}  {self.text}".rstrip()


# Times as people read them, in UTC.


def day(seconds: float) -> str:
    """The date of a time in seconds since 1970: ``2026-03-01``."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


def minute(seconds: float) -> str:
    """The date and time of day: ``2026-03-01 14:05 UTC``."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def at_date(text: str) -> tuple[str, float | None]:
    """Split ``NAME@2026-03-01`` into the name and the end of that day in seconds since 1970.

    ``@2026-03-01T14:05`` is that time (UTC without a zone). Other texts are returned unchanged,
    with None.
    """
    name, mark, date = text.rpartition("@")
    if not mark or not name:
        return text, None
    try:
        moment = datetime.fromisoformat(date)
    except ValueError:
        return text, None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if len(date) <= len("2026-03-01"):
        moment += timedelta(days=1)
    return name, moment.timestamp()


# Describe outbound data on the terminal, and ask for permission if there is none.

_SHOWN = 8


class TerminalEgress:
    """Describe outbound data on stderr. New data needs a confirmation at the terminal or ``--yes``;
    otherwise it is refused."""

    def __init__(self, *, yes: bool = False, quiet: bool = False) -> None:
        self._yes = yes
        self._quiet = quiet

    def __call__(self, leaving: Leaving) -> str:
        """Return how a person permitted it, or "" without permission."""
        is_new = leaving.state == "new"
        say(describe(leaving), quiet=self._quiet and not is_new)
        if not is_new:
            return ""
        if self._yes:
            return "--yes"
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            return ""
        if leaving.asked == leaving.outgoing.origins:
            question = f"Nothing of this has gone to {leaving.to} from here. Send it?"
        else:
            new = _titles(leaving.asked)
            question = f"New for {leaving.to}: {new}. Send it?"
        return "asked" if click.confirm(question, err=True) else ""


def describe(leaving: Leaving) -> str:
    """What is about to be sent, in a few lines."""
    models = ", ".join(leaving.models)
    if leaving.state == "probe":
        return f"to {leaving.to} ({models}): a short test, nothing of this workspace"
    out = leaving.outgoing
    lines = [
        f"to {leaving.to} ({models}): {_n(out.requests, 'request')} with "
        f"{_n(out.items, out.noun)}{_length(out)}{', from' if out.origins else ''}"
    ]
    if out.passages and out.characters and out.noun == "question":
        lines.insert(0, f"{_n(out.passages, 'passage')} of the sources' own text go with questions")
    rows = [
        (f"  {printable(origin.title)}", _share(origin, out), origin.license or "no license stated")
        for origin in out.origins[:_SHOWN]
    ]
    lines += aligned(rows, left=(0, 2))
    if len(out.origins) > _SHOWN:
        lines.append(f"  and {len(out.origins) - _SHOWN} more sources")
    return "\n".join(lines)


def _share(origin: Origin, out: Outgoing) -> str:
    if not origin.n_items:
        return "few-shot examples" if out.noun == "question" else "in its own words"
    return f"{origin.n_items:,} of {_n(out.items, out.noun)}"


def _length(out: Outgoing) -> str:
    return f", about {out.characters:,} characters" if out.characters else ""


def _n(count: int, noun: str) -> str:
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def _titles(origins: tuple[Origin, ...]) -> str:
    more = f" and {len(origins) - _SHOWN} more" if len(origins) > _SHOWN else ""
    return ", ".join(origin.title for origin in origins[:_SHOWN]) + more
