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

# Heading -> command -> (module, summary). The summaries stand here so that ``--help`` imports
# nothing; a test compares them with the commands' own.
TREE: dict[str, dict[str, tuple[str, str]]] = {
    "Start": {
        "demo": ("start.cli", "Run a complete offline demonstration."),
        "init": ("start.cli", "Create a workspace, with --guided from documents."),
        "status": ("keep.cli", "Show the contents of a workspace and unfinished runs."),
        "doctor": ("keep.cli", "Diagnose the installation, settings and endpoints."),
    },
    "Create": {
        "ingest": ("ingest.cli", "Read documents into sources and passages."),
        "build": ("build.cli", "Build item banks, test forms and reference data."),
        "check": ("check.cli", "Check an item bank or form for annotation artifacts."),
        "review": ("review.cli", "Export review spreadsheets, import and compare reviews."),
        "correct": ("correct.cli", "Edit, exclude and include items; override scores."),
    },
    "Evaluate": {
        "run": ("run.cli", "Evaluate models on a form, an item bank or a file."),
        "grade": ("run.cli_grade", "Grade stored responses, or the responses of a file."),
    },
    "Results": {
        "leaderboard": ("results.cli", "Show the leaderboard with confidence intervals."),
        "compare": ("results.cli", "Compare two results on their common items."),
        "report": ("results.cli", "Write a report as an HTML page."),
        "audit": ("results.audit.cli", "Audit results from any tool: ranks, ties, item problems."),
    },
    "Data": {
        "search": ("search.cli", "Search passages of the workspace, or the web."),
        "list": ("browse.cli", "List the contents of the workspace by kind."),
        "show": ("browse.cli", "Show one object with its provenance."),
        "export": ("browse.cli", "Export items, responses, scores or a leaderboard."),
        "import": ("browse.cli", "Import items, entities or reference data from a file."),
    },
    "Manage": {
        "models": ("run.cli_models", "List models, check endpoints, show prices."),
        "workspace": ("keep.cli", "Back up, move, merge or purge a workspace."),
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
        """Return the command that the first argument names. Raises UsageError with close names."""
        from proofstone.session.cli_command import resolve

        return resolve(super().resolve_command, self.list_commands(ctx), ctx, args)

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
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Color results; auto: at a terminal, unless NO_COLOR is set.",
)
@click.pass_context
def cli(context: click.Context, color: str) -> None:
    """Build, run and audit knowledge benchmarks for language models.

    Start with 'proofstone demo', or audit a table of results: 'proofstone audit scores.csv'. Every
    command has --help and --json. Shell completion: docs/how-to/operate.md.
    """
    context.color = {"auto": None, "always": True, "never": False}[color]


def main(arguments: list[str] | None = None) -> Any:
    """Runs the command line and exits: 0 done, 1 a gate failed, 2 bad usage or input,
    3 incomplete, 4 budget, 5 endpoint or key, 130 interrupted (Ctrl-C, SIGTERM or SIGHUP)."""
    _take_stop_signals()
    try:
        code = cli.main(arguments, prog_name="proofstone", standalone_mode=False)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help(), err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        from proofstone.session.cli_command import tell_usage

        tell_usage(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        sys.exit(130)
    except ProofstoneError as error:
        from proofstone.session.cli_command import tell_error

        tell_error(error)
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
    """Treat SIGTERM and SIGHUP as Ctrl-C: responses in flight are paid for, so they are kept.

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
    click.echo("error[PS-301]: no room for the results: the disk that they go to is full", err=True)
    # What Python still holds for stdout would fail again at the end, with another exit code.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
