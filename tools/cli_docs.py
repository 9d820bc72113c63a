"""docs/reference/cli/ has a page per command, as ``--help`` prints it, and a list of all.

python -m tools.cli_docs            writes them from proofstone.cli.cli
python -m tools.cli_docs --check    fails where one is out of date
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping

import click

from tools.generated import settle
from tools.resolved import ROOT

__all__ = ["WIDTH", "commands", "pages", "plain"]

WIDTH = 96
FOLDER = ROOT / "docs" / "reference" / "cli"
HEADER = """\
# Commands

Reference · for everyone at the command line

Results go to standard output, messages to standard error. These pages are generated from the
commands' own `--help` by `make docs`. Exit codes and errors are in [errors](../errors.md).
"""


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
    """The pages by file name: a list of all commands, and a page per command at the top, with the
    commands below it."""
    found = list(commands(root, name))
    contents = []
    below: dict[str, list[click.Context]] = {}
    for context in found[1:]:
        top = context.command_path.split()[1]
        below.setdefault(top, []).append(context)
        summary = context.command.get_short_help_str(limit=200)
        anchor = context.command_path.replace(" ", "-")
        contents.append(f"- [`{context.command_path}`]({top}.md#{anchor}): {summary}")
    listed = "\n".join([HEADER, *contents, "", _common(found), _section(found[0])])
    each_page = {f"{top}.md": _page(own) for top, own in below.items()}
    return {"README.md": listed, **each_page}


def _page(own: list[click.Context]) -> str:
    """A command with those below it, each under its name."""
    title = f"# {own[0].command_path}\n\nReference · [all commands](README.md)\n"
    return "\n".join([title, *map(_section, own)])


def _section(context: click.Context) -> str:
    return f"## {context.command_path}\n\n```text\n{plain(context.get_help())}\n```\n"


def _common(found: list[click.Context]) -> str:
    """A table of the options that at least half of the commands have, with one meaning."""
    leaves = [each for each in found if not isinstance(each.command, click.Group)]
    count = Counter(record for each in leaves for record in _options(each).items())
    rows = [
        f"| {' '.join(f'`{part}`' for part in names.split())} | {text} |"
        for (names, text), n in count.items()
        if 2 * n >= len(leaves)
    ]
    return "\n".join(["## Common options", "", "| option | meaning |", "|---|---|", *rows, ""])


def _options(context: click.Context) -> Mapping[str, str]:
    """The help of each option of a command, by its names."""
    found = [each for each in context.command.get_params(context) if isinstance(each, click.Option)]
    return {" ".join(each.opts): (each.help or "").strip() for each in found}


def plain(text: str) -> str:
    """Return ``text`` without trailing spaces and without the last line break."""
    return "\n".join(line.rstrip() for line in text.splitlines())


def main(arguments: list[str]) -> str | None:
    """Writes or checks the pages; the answer suits ``sys.exit``."""
    from proofstone.cli import cli  # noqa: PLC0415  (the page's functions work on any tree)

    made = pages(cli)
    FOLDER.mkdir(parents=True, exist_ok=True)
    stale = sorted(path for path in FOLDER.glob("*.md") if path.name not in made)
    if stale and arguments:
        return f"{stale[0].name} is of no command; run: make docs"
    for path in stale:
        path.unlink()
    told = [settle(FOLDER / name, text, arguments, "make docs") for name, text in made.items()]
    return "\n".join(each for each in told if each) or None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
