"""The command tree: each command's module is imported when the command is named."""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sys
import threading
from types import FrameType
from typing import Any

import click

from proofstone import __version__
from proofstone.errors import ProofstoneError


def _method_commands() -> dict[str, tuple[str, str]]:
    """The commands of the methods of this package, from ``commands.txt`` in their folders: a line
    each with its name, the module there and its help."""
    found = {}
    methods = os.path.join(os.path.dirname(__file__), "methods")
    for folder in sorted(os.listdir(methods)):
        file = os.path.join(methods, folder, "commands.txt")
        if os.path.exists(file):
            with open(file, encoding="utf-8") as lines:
                for line in lines:
                    name, module, text = line.strip().split(maxsplit=2)
                    found[name] = (f"methods.{folder}.{module}", text)
    return found


# Heading -> command -> (module, one line of help). The lines stand here so that ``--help`` imports
# nothing; a test compares them with the commands' own.
TREE: dict[str, dict[str, tuple[str, str]]] = {
    "Start": {
        "demo": ("start.cli", "The whole path on real facts with a real model, offline."),
        "start": ("start.cli", "Begin with a folder of documents: examples, cost, and a run file."),
        "init": ("keep.cli", "Make a folder a workspace."),
        "status": ("keep.cli", "Say what this workspace holds and what is unfinished."),
        "doctor": ("keep.cli", "Check this installation and workspace, and say what to mend."),
    },
    "Make": {
        "ingest": ("ingest.cli", "Read documents into sources, pages and passages."),
        "build": ("build.cli", "Build item banks, test forms and reference data."),
        "check": (
            "check.cli",
            "Say whether answers give themselves away, and what a bank covers.",
        ),
    },
    "People": {
        "review": ("review.cli", "Reviews by people: sheets out and in, agreement, what follows."),
    },
    "Freeze": {
        "plan": (
            "results.cli",
            "Fix the analysis of a form's or bank's runs, before they are run.",
        ),
    },
    "Run": {
        "run": ("run.cli", "Ask models the questions of a form or bank, and score them."),
        "resume": ("run.cli", "Go on with a run where it stopped."),
        "score": ("run.cli_score", "Score a run's stored replies; no contestant is asked."),
    },
    "Read": {
        "leaderboard": ("results.cli", "Rank what was run, with intervals and ties."),
        "compare": (
            "results.cli",
            "Say what changed from A to B, and by how much, on common items.",
        ),
        "gate": (
            "results.cli",
            "Answer pass, fail or cannot tell for a run against a baseline.",
        ),
        "report": ("results.cli", "Write the leaderboard with its evidence as an HTML page."),
        "audit": (
            "results.audit.cli",
            "Say what results show, whoever made them: ranks, ties, intervals.",
        ),
    },
    "Things": {
        "search": ("search.cli", "Find passages: in what the workspace has read, or on the web."),
        "list": ("browse.cli", "List what the workspace holds of one kind."),
        "show": ("browse.cli", "Show one thing whole, with what it came from."),
        "edit": ("correct.cli", "Correct an item or a fact: a new version that names the old one."),
        "retire": ("correct.cli", "Leave an item, or all items on a fact, out of leaderboards."),
        "restore": ("correct.cli", "Take a retired item or fact into leaderboards again."),
        "rule": ("correct.cli", "Rule on a stored reply: correct, incorrect or void."),
        "export": ("browse.cli", "Write a bank, form, run, scores or leaderboard to a file."),
        "import": (
            "browse.cli",
            "Read a bank, a form or a list of entities from a file, checked whole.",
        ),
    },
    "Files": {
        "extract": (
            "run.cli_files",
            "Extract answer letters from replies, a file in and a file out.",
        ),
        "grade": ("run.cli_files", "Grade replies to short questions, a file in and a file out."),
        **_method_commands(),
        "metrics": ("run.cli_files", "Count grades of a file: n, CO, NA, IN, CGA and F, as JSON."),
    },
    "Admin": {
        "models": ("run.cli_models", "List models, check that they answer, see what they cost."),
        "presets": (
            "run.cli_models",
            "Show published settings and where they differ here.",
        ),
        "workspace": ("keep.cli", "Back up, restore, move, merge, migrate or purge a workspace."),
    },
}


class LazyTree(click.Group):
    """A group that knows its commands' names and help without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands in the order of the tree."""
        return [name for commands in TREE.values() for name in commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, its module imported now."""
        for commands in TREE.values():
            if cmd_name in commands:
                module = importlib.import_module(f"proofstone.{commands[cmd_name][0]}")
                name = cmd_name.replace("-", "_")
                command: click.Command = getattr(module, f"{name}_command")
                return command
        return _outside_command(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names; UsageError with those near it."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            near = get_close_matches(args[0], self.list_commands(ctx))
            if not near:
                raise
            meant = f"{error.message} Did you mean {' or '.join(near)}?"
            raise click.UsageError(meant, ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands under their headings, from the tree alone."""
        for heading, commands in TREE.items():
            with formatter.section(heading):
                formatter.write_dl([(name, line) for name, (_module, line) in commands.items()])


def _outside_command(name: str) -> click.Command | None:
    """The command of this name of a method of another package."""
    from proofstone.method import outside_methods

    commands = {
        key: command for each in outside_methods() for key, command in each.commands.items()
    }
    found: click.Command | None = commands.get(name)
    return found


@click.command(cls=LazyTree, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="proofstone", message="%(prog)s %(version)s")
def cli() -> None:
    """Build, review, run and audit knowledge benchmarks for language models.

    Begin with 'proofstone demo'. Every command has --help, and --json for programs.
    """


def main(arguments: list[str] | None = None) -> Any:
    """Runs the command line and exits: 0 done, 1 a gate failed, 2 bad usage or input,
    3 incomplete, 4 budget, 5 endpoint or key, 130 interrupted (Ctrl-C, SIGTERM or SIGHUP)."""
    _take_stop_signals()
    try:
        code = cli.main(arguments, prog_name="proofstone", standalone_mode=False)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        sys.exit(130)
    except ProofstoneError as error:
        from proofstone.session.terminal import say

        say(f"error [{error.code}] {error}")
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # Whoever read our output (head, less) has enough: no error.
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        _tell_full()
        sys.exit(3)
    sys.exit(code if isinstance(code, int) else 0)


def _take_stop_signals() -> None:
    """Treat SIGTERM and SIGHUP as Ctrl-C: replies in flight are paid for, so they are kept.

    One that is ignored at the start stays so (SIGHUP under nohup). SIGHUP never counts as a second
    Ctrl-C: a closing terminal, its shell and a login service may each send one. What would be
    printed on a terminal that is gone is dropped, since writing there fails.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    stops = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    if hasattr(signal, "SIGHUP"):
        stops[signal.SIGHUP] = signal.SIG_DFL
    terminal = [stream for stream in range(3) if os.isatty(stream)]  # later it is none any more
    is_stopping = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal is_stopping
        is_hangup = number not in (signal.SIGINT, signal.SIGTERM)
        if is_hangup:
            _drop(terminal)
            if is_stopping:
                return
        is_stopping = True
        signal.default_int_handler(number, frame)

    for number, at_start in stops.items():
        if signal.getsignal(number) == at_start:
            signal.signal(number, stop)


def _drop(streams: list[int]) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in streams:
        os.dup2(nowhere, stream)
    os.close(nowhere)


def _tell_full() -> None:
    """Says that results did not fit where they were written to. Not 1, which is a gate's "fail"."""
    click.echo("error [PS-301] no room for the results: the disk that they go to is full", err=True)
    # What Python still holds for stdout would fail again at the end, with another exit code.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
