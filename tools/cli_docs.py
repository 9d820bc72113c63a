"""docs/cli.md is the command tree as ``--help`` prints it, every command whole.

python -m tools.cli_docs            writes it from proofstone.cli.root.cli
python -m tools.cli_docs --check    fails where it is out of date
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from tools.generated import settle
from tools.resolved import ROOT

__all__ = ["WIDTH", "commands", "page"]

WIDTH = 96
HEADER = """\
# Commands

Results go to standard output, talk to standard error. This page is generated from the commands'
own `--help` by `make docs`; exit codes and errors are in [errors.md](errors.md).
"""


def commands(root: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """Every visible command below ``root`` with its whole name, ``root`` first, in help's order."""
    pending = [(click.Context(root, info_name=name), root)]
    while pending:
        context, command = pending.pop(0)
        yield context.command_path, command
        if isinstance(command, click.Group):
            found = [
                (name, command.get_command(context, name))
                for name in command.list_commands(context)
            ]
            pending = [
                (click.Context(child, info_name=name, parent=context), child)
                for name, child in found
                if child is not None and not child.hidden
            ] + pending


def page(root: click.Command, name: str = "proofstone") -> str:
    """The whole page: a contents list, then each command's help text under its name."""
    sections = []
    contents = []
    for path, command in commands(root, name):
        anchor = path.replace(" ", "-")
        contents.append(f"- [`{path}`](#{anchor}): {command.get_short_help_str(limit=200)}")
        sections.append(f"## {path}\n\n```text\n{help_text(command, path)}\n```\n")
    return "\n".join([HEADER, *contents, "", *sections])


def help_text(command: click.Command, path: str) -> str:
    """What ``PATH --help`` prints on a terminal of WIDTH columns, without the last line break."""
    context = click.Context(command, info_name=path, terminal_width=WIDTH, max_content_width=WIDTH)
    return "\n".join(line.rstrip() for line in command.get_help(context).splitlines())


def main(arguments: list[str]) -> str | None:
    """Writes or checks the page; the answer suits ``sys.exit``."""
    from proofstone.cli.root import cli  # noqa: PLC0415  (the page's functions work on any tree)

    return settle(ROOT / "docs" / "cli.md", page(cli), arguments, "make docs")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
