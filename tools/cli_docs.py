"""docs/reference/cli/ has a page per command, an index, and a page of common options.

python -m tools.cli_docs            writes them from proofstone.cli.cli
python -m tools.cli_docs --check    names missing, extra and outdated pages
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import click

from tools.generated import settle_folder
from tools.resolved import ROOT

__all__ = ["WIDTH", "commands", "common_options", "examples_in", "page_name", "pages", "plain"]

WIDTH = 80  # fits a column of the site
ALIKE = 6  # an option that so many commands have alike is described once
FOLDER = ROOT / "docs" / "reference" / "cli"
INDEX = """\
# Commands

Reference · for everyone at the command line

Results go to standard output, messages to standard error. These pages are generated from the
commands' own `--help` by `make reference`. Options that many commands share are described once, in
[common options](common-options.md). Exit codes and errors are in [errors](../errors.md).
"""
COMMON = """\
# Common options

Reference · [all commands](README.md)

An option means the same in all commands named above its table. The page of a command describes its
other options, and `--help` lists all of them. `--color` is accepted before and after the name of a
command. A command with subcommands only takes `--help`.
"""
# The names and help of an option, as --help prints them.
Record = tuple[str, str]


def commands(root: click.Command, name: str) -> Iterator[click.Context]:
    """Yield a context for ``root`` and every visible command below it, in order of help.

    Its ``command_path`` is the full name; help is as wide as WIDTH.
    """
    pending = [_context(root, name, None)]
    while pending:
        context = pending.pop(0)
        yield context
        if isinstance(context.command, click.Group):
            below = context.command.list_commands(context)
            found = [(each, context.command.get_command(context, each)) for each in below]
            pending = [
                _context(child, each, context)
                for each, child in found
                if child is not None and not child.hidden
            ] + pending


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    settings = {"terminal_width": WIDTH, "max_content_width": WIDTH, **command.context_settings}
    return click.Context(command, info_name=name, parent=parent, **settings)


def pages(root: click.Command, name: str = "proofstone") -> dict[str, str]:
    """Return the pages by file name: the index, the common options, and one page per command."""
    found = list(commands(root, name))
    common = common_options(found)
    listed = [
        f"- [`{each.command_path}`]({page_name(each)}): {each.command.get_short_help_str(200)}"
        for each in found[1:]
    ]
    index = "\n".join([INDEX, *listed, "", f"## {name}", "", _shown(found[0].get_help())])
    return {
        "README.md": index,
        "common-options.md": COMMON + "".join(_tables(found, common)),
        **{page_name(each): _page(each, found, common) for each in found[1:]},
    }


def page_name(context: click.Context) -> str:
    """Return the file name of a command's page: ``build-form.md``."""
    return f"{'-'.join(context.command_path.split()[1:])}.md"


def _page(context: click.Context, found: list[click.Context], common: set[Record]) -> str:
    """Return a command's help without common options, then their names and examples of a group."""
    shared = [option for option, record in _options(context).items() if record in common]
    with _hidden(shared):
        text = context.get_help()
    above = context.parent
    place = "" if above is None or above.parent is None else (
        f" · [{above.command_path}]({page_name(above)})"
    )  # fmt: skip
    parts = [
        f"# {context.command_path}\n\nReference · [all commands](README.md){place}\n",
        _shown(text),
    ]
    if shared:
        names = ", ".join(f"`{option.opts[-1]}`" for option in shared)
        parts.append(f"[Common options](common-options.md): {names}.\n")
    below = [each for each in found if each.parent is context]
    if below:
        links = ", ".join(f"[{each.info_name}]({page_name(each)})" for each in below)
        parts.append(f"A page per command: {links}.\n")
        lines = [line for each in below for line in examples_in(each.get_help())[:1]]
        parts.append(_shown("\n".join(lines), "sh"))
    return "\n".join(parts)


def _shown(text: str, language: str = "text") -> str:
    return f"```{language}\n{plain(text)}\n```\n"


@contextmanager
def _hidden(options: list[click.Option]) -> Iterator[None]:
    """Leave ``options`` out of the help."""
    visible = [option for option in options if not option.hidden]
    for option in visible:
        option.hidden = True
    try:
        yield
    finally:
        for option in visible:
            option.hidden = False


def examples_in(text: str) -> list[str]:
    """Return the command lines under "Example:" or "Examples:" of a help text or its page."""
    lines = text.splitlines()
    starts = [n for n, line in enumerate(lines) if line.strip() in ("Example:", "Examples:")]
    found = []
    for start in starts:
        for line in lines[start + 1 :]:
            if not line.startswith("    "):
                break
            found.append(line.strip())
    return found


def common_options(found: list[click.Context]) -> set[Record]:
    """Return the options that at least ALIKE commands have with the same help."""
    users = _users(found)
    return {record for record, names in users.items() if len(names) >= ALIKE}


def _users(found: list[click.Context]) -> dict[Record, list[str]]:
    """Return the commands without subcommands that have an option, by its record."""
    users: dict[Record, list[str]] = {}
    for context in found:
        if not isinstance(context.command, click.Group):
            name = " ".join(context.command_path.split()[1:])
            for record in _options(context).values():
                users.setdefault(record, []).append(name)
    return users


def _tables(found: list[click.Context], common: set[Record]) -> Iterator[str]:
    """Yield a table per set of commands that have the same common options, the largest first."""
    everyone = [
        " ".join(each.command_path.split()[1:])
        for each in found
        if not isinstance(each.command, click.Group)
    ]
    users = {record: names for record, names in _users(found).items() if record in common}
    sets = sorted(dict.fromkeys(map(tuple, users.values())), key=len, reverse=True)
    for names in sets:
        others = [name for name in everyone if name not in names]
        shown = others if len(others) < ALIKE else names
        listed = ", ".join(f"`{name}`" for name in shown)
        where = f"every command but {listed}" if shown is others and others else listed
        lines = [
            f"In {where if others else 'every command'}:",
            "",
            "| option | meaning |",
            "|---|---|",
        ]
        for (option, text), having in users.items():
            if tuple(having) == names:
                escaped = (cell.replace("|", "\\|") for cell in (f"`{option}`", text))
                lines.append(f"| {' | '.join(escaped)} |")
        yield "\n".join(["", *lines, ""])


def _options(context: click.Context) -> Mapping[click.Option, Record]:
    """Return the options of a command. One that its help hides has the record of the root's."""
    root = context.find_root()
    known = {
        each.name: each.get_help_record(root) for each in root.command.params if root != context
    }
    found = {
        each: each.get_help_record(context) or known.get(each.name)
        for each in context.command.get_params(context)
        if isinstance(each, click.Option)
    }
    return {option: record for option, record in found.items() if record}


def plain(text: str) -> str:
    """Return ``text`` without trailing spaces and without the last line break."""
    return "\n".join(line.rstrip() for line in text.splitlines())


def main(arguments: list[str]) -> str | None:
    """Writes or checks the pages; the answer suits ``sys.exit``."""
    from proofstone.cli import cli  # noqa: PLC0415  (the page's functions work on any tree)

    return settle_folder(FOLDER, pages(cli), arguments, "make reference")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
