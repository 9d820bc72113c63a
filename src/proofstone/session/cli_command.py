"""Commands that share their options, their help layout and the form of their errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Any

import click

from proofstone.errors import BadInput, BadUsage, ProofstoneError
from proofstone.session.terminal import be_quiet, say

MOST_OPTIONS = 15  # in the first section of a command's help
_NEAR = 5
# In the first section of every help, if the command has them.
_COMMON = frozenset({"_click_default_help", "help", "folder", "as_json", "quiet", "yes"})


class Command(click.Command):
    """A command whose less common options are printed under "Advanced options".

    ``basic`` names the parameters of the first section; empty: all of them.
    """

    basic: frozenset[str] = frozenset()

    def __init__(self, *args: Any, basic: tuple[str, ...] = (), **more: Any) -> None:
        super().__init__(*args, **more)
        self.basic = frozenset(basic)
        if all(parameter.name != "quiet" for parameter in self.params):
            self.params.append(_quiet())
        self.params.append(_color())

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in one section or two."""
        sections: dict[str, list[tuple[str, str]]] = {"Options": [], "Advanced options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None or (not record[1] and isinstance(parameter, click.Argument)):
                continue
            is_basic = not self.basic or parameter.name in self.basic | _COMMON
            sections["Options" if is_basic else "Advanced options"].append(record)
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


class Group(click.Group):
    """A group of such commands that suggests names for a mistyped one."""

    command_class = Command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names. Raises UsageError with close names."""
        return resolve(super().resolve_command, self.list_commands(ctx), ctx, args)


Resolved = tuple[str | None, click.Command | None, list[str]]


def resolve(
    find: Callable[[click.Context, list[str]], Resolved],
    known: list[str],
    context: click.Context,
    args: list[str],
) -> Resolved:
    """Return what ``find`` finds. Raises UsageError with close names for a mistyped command."""
    try:
        return find(context, args)
    except click.UsageError as error:
        raise _Unknown(f"no command '{args[0]}'", args[0], known, context) from error


class _Unknown(click.UsageError):
    """A name that is unknown, with the names that there are."""

    def __init__(self, message: str, name: str, known: list[str], ctx: click.Context) -> None:
        super().__init__(message, ctx)
        self.name, self.known = name, known


def command(
    name: str, *, basic: tuple[str, ...] = (), **more: Any
) -> Callable[[Callable[..., Any]], Command]:
    """Return a decorator that makes a ``Command``."""
    return click.command(name, cls=Command, basic=basic, **more)


def _quiet() -> click.Option:
    def hush(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
        be_quiet(ctx, wanted)

    return click.Option(
        ["-q", "--quiet"], is_flag=True, expose_value=False, callback=hush,
        help="Print no progress and no messages.",
    )  # fmt: skip


def _color() -> click.Option:
    """``--color`` behind a command, as before it; only the help of all commands lists it."""
    return click.Option(
        ["--color"], type=click.Choice([*COLORS]), hidden=True, expose_value=False,
        callback=set_color,
    )  # fmt: skip


COLORS = {"auto": None, "always": True, "never": False}


def set_color(context: click.Context, _parameter: click.Parameter, wanted: str | None) -> None:
    """Color the results of this command, or not; None leaves what was chosen before."""
    if wanted is not None:
        context.find_root().color = context.color = COLORS[wanted]


# Errors: ``error[PS-203]: what happened``, details, suggestions, a command to paste.


def tell_error(error: ProofstoneError) -> None:
    """Print an error with its code, its details and what to do."""
    tell_error_line(error.code, error.message)
    for line in _details(error):
        say(f"  {line}", is_error=True)


def tell_error_line(code: str, message: str) -> None:
    """Print one line: ``error[PS-401]: the budget is reached``."""
    say(f"error[{code}]: {message}", is_error=True)


def _details(error: ProofstoneError) -> Iterator[str]:
    if isinstance(error, BadInput):
        yield from map(str, error.problems[: error.shown])
        if len(error.problems) > error.shown:
            yield f"... and {len(error.problems) - error.shown} more problems"
    first, *others = error.hint.splitlines() or [""]
    listed = re.match(r"(?:there is|choose from|it has): (.*)", first)
    if listed:
        wanted = re.search(r"'([^']+)'", error.message)
        yield from _near(wanted[1] if wanted else "", re.split(r", ", listed[1]))
        yield first
    elif first:
        yield first if first.startswith("did you mean") else f"help: {first}"
    yield from (line.removeprefix("  ") for line in others)


_HASH = re.compile(r"-[0-9a-f]{4,}$")  # after the name of a form or bank


def _near(name: str, known: list[str]) -> Iterator[str]:
    plain = {_HASH.sub("", each): each for each in known if each != name}
    near = [plain[each] for each in get_close_matches(name, plain, _NEAR, 0.65)]
    if near:
        names = " or ".join(f"'{each}'" for each in near)
        yield f"did you mean {names}?"


def tell_usage(error: click.ClickException) -> None:
    """Print an error of the command line itself in the form of all errors."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "proofstone"
    message, details = _usage(error)
    tell_error_line(BadUsage.code, message)
    for line in (*details, f"help: {path} --help"):
        say(f"  {line}", is_error=True)


def _usage(error: click.ClickException) -> tuple[str, list[str]]:
    """A message without capital and period, and suggestions."""
    if isinstance(error, _Unknown):
        return error.message, list(_near(error.name, error.known))
    if isinstance(error, click.NoSuchOption):
        known = [] if error.ctx is None else [
            flag for each in error.ctx.command.get_params(error.ctx)
            for flag in (*each.opts, *each.secondary_opts)
        ]  # fmt: skip
        return f"no option '{error.option_name}'", list(_near(error.option_name, known))
    text = error.format_message().strip()
    text = text.removesuffix(".") if not text.endswith("..") else text
    choice = re.search(r"'([^']*)' is not one of (.*?)$", text)
    if choice:
        known = re.findall(r"'([^']+)'", choice[2])
        named = text[: choice.start()].rstrip(": ")
        message = f"{named}: '{choice[1]}' is unknown" if named else f"'{choice[1]}' is unknown"
        return _lower(message), [*_near(choice[1], known), f"choose from: {', '.join(known)}"]
    first, *rest = text.splitlines()
    return _lower(first), [line.strip() for line in rest]


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
