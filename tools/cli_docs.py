"""docs/cli.md is the command tree as ``--help`` prints it, every command whole.

python -m tools.cli_docs            writes it from proofstone.cli.cli
python -m tools.cli_docs --check    fails where it is out of date
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from tools.generated import settle
from tools.resolved import ROOT

__all__ = ["WIDTH", "commands", "page", "plain"]

WIDTH = 96
HEADER = """\
# Commands

Results go to standard output, talk to standard error. This page is generated from the commands'
own `--help` by `make docs`; exit codes and errors are in [errors.md](errors.md).
"""


def commands(root: click.Command, name: str) -> Iterator[click.Context]:
    """A context for ``root`` and every visible command below it, in help's order. Its
    ``command_path`` is the whole name; help is as wide as WIDTH."""
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


def page(root: click.Command, name: str = "proofstone") -> str:
    """The whole page: a contents list, then each command's help text under its name."""
    sections = []
    contents = []
    for context in commands(root, name):
        path = context.command_path
        summary = context.command.get_short_help_str(limit=200)
        contents.append(f"- [`{path}`](#{path.replace(' ', '-')}): {summary}")
        sections.append(f"## {path}\n\n```text\n{plain(context.get_help())}\n```\n")
    return "\n".join([HEADER, *contents, "", *sections])


def plain(text: str) -> str:
    """``text`` without the blanks that end its lines, and without the last line break."""
    return "\n".join(line.rstrip() for line in text.splitlines())


def main(arguments: list[str]) -> str | None:
    """Writes or checks the page; the answer suits ``sys.exit``."""
    from proofstone.cli import cli  # noqa: PLC0415  (the page's functions work on any tree)

    return settle(ROOT / "docs" / "cli.md", page(cli), arguments, "make docs")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
