"""``build KIND`` of a kind that is built in steps, with models or without."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from proofstone.cli.asking_options import (
    connections_option,
    max_tokens_option,
    reasoning_option,
    setting_option,
    temperature_option,
)
from proofstone.cli.build_models import named_models, role_options
from proofstone.cli.build_report import report_build
from proofstone.cli.dry_run_options import dry_run_list
from proofstone.cli.egress import TerminalEgress
from proofstone.cli.kin import judge_lines, tell_lines
from proofstone.cli.options import (
    budget_option,
    cache_option,
    json_option,
    languages_option,
    quiet_option,
    read_panel,
    read_settings,
    seed_option,
    with_options,
    with_parameters,
    workspace_option,
    yes_option,
)
from proofstone.cli.output import say
from proofstone.cli.spending import beside_told, tell_lost

if TYPE_CHECKING:
    from proofstone.ports import ModelRole, StepBuilder

__all__ = [
    "build_in_steps",
    "build_options",
    "pipeline_command",
    "pipeline_help",
]

Command = TypeVar("Command", bound=Callable[..., Any])
_SETTINGS = ("temperature", "max_tokens", "reasoning_effort")


# The options of every command that asks models to build.
build_options = with_options(
    click.option("--name", help="The bank's name; else that of the first input."),
    click.option(
        "-m", "--model", "models", multiple=True, metavar="[ROLE=]PROVIDER/NAME",
        help="The model that builds, or that of one role; of a panel judge=A,B,C.",
    ),
    click.option("--judge", multiple=True, metavar="PROVIDER/NAME,...",
                 help="The model that judges, in every role that does; several are a "
                 "panel where the role takes one."),
    click.option(
        "--per-input", type=click.IntRange(1), metavar="N",
        help="Let N rows of each input enter, drawn by the seed; a larger N keeps those "
        "that were drawn.",
    ),
    click.option("--limit", type=click.IntRange(1), help="Let only the first rows enter."),
    languages_option("Let only passages in these languages enter."),
    *dry_run_list(
        dry_run="Say what the build would take, and do not build: from a pilot.",
        pilot="Rows that a dry run really works on; what it makes of them is kept for the build.  "
        "[default: 20]",
        least_pilot=2,
        show="Print the prompts of the first N rows as they would be sent, and build nothing; "
        "without --dry-run nobody is asked.",
    ),
    temperature_option,
    max_tokens_option,
    reasoning_option,
    setting_option,
    cache_option,
    budget_option,
    connections_option,
    yes_option,
    quiet_option,
)  # fmt: skip


def pipeline_command(kind: str, builder: StepBuilder) -> click.Command:
    """The command that builds this kind."""

    @click.command(kind)
    @click.argument("inputs", nargs=-1, required=True)
    @build_options
    @role_options(builder)
    @with_parameters(builder.parameters)
    @seed_option
    @workspace_option
    @json_option
    def command(**options: Any) -> None:
        build_in_steps(kind, builder, options)

    ending = "into a bank" if builder.enters == "passages" else "for each source"
    command.help = f"Build {kind} from INPUTs, step by step, {ending}.\n\n{pipeline_help(builder)}"
    return command


def build_in_steps(kind: str, builder: StepBuilder, options: dict[str, Any]) -> None:
    """What the command does with its options, and with its exit code."""
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    asked = dict(options)
    inputs: tuple[str, ...] = asked.pop("inputs")
    folder, as_json, quiet = asked.pop("folder"), asked.pop("as_json"), asked.pop("quiet")
    with open_workspace(folder) as workspace:
        workspace.ask_egress = TerminalEgress(yes=asked.pop("yes"), quiet=quiet)
        workspace.tell = partial(say, quiet=quiet)
        tell_lost(workspace, quiet=quiet)
        code = perform(workspace, kind, builder, inputs, asked, as_json=as_json, quiet=quiet)
    click.get_current_context().exit(code)


def perform(
    workspace: Any,
    kind: str,
    builder: StepBuilder,
    inputs: Sequence[str],
    options: dict[str, Any],
    *,
    as_json: bool,
    quiet: bool,
) -> int:
    """Builds, or says what it would take; returns the exit code."""
    from proofstone.cli.build_dry_run import perform_dry_build, read_dry_build  # noqa: PLC0415
    from proofstone.cli.progress import tell_interrupt, watching  # noqa: PLC0415

    wanted = read_dry_build(options.pop("dry_run"), options.pop("pilot"), options.pop("show"))
    name = options["name"]
    asked = _asked(builder, inputs, options)
    kin = workspace.kin_of_build(kind, models=asked["models"], judge=asked["judge"])
    tell_lines(judge_lines(kin), quiet=quiet)
    if wanted is not None:
        return perform_dry_build(
            workspace, kind, inputs, asked, wanted, kin, as_json=as_json, quiet=quiet
        )
    spending = asked["budget"] = workspace.spending(asked["budget"])
    with beside_told(spending, quiet=quiet), watching(quiet=quiet) as watch:
        result = workspace.build_in_steps(
            kind, inputs, **asked, watch=watch, on_interrupt=tell_interrupt
        )
    return report_build(result, kin, name=name, as_json=as_json, quiet=quiet)


def _asked(builder: StepBuilder, inputs: Sequence[str], options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of ``build_in_steps`` that options mean."""
    asked = dict(options)
    named = {name: asked.pop(name) for name in _SETTINGS}
    settings = {name: value for name, value in named.items() if value is not None}
    asked["settings"] = {**settings, **read_settings(asked.pop("extra"))}
    asked["models"] = named_models(builder, asked.pop("models"), asked)
    asked["judge"] = read_panel(asked.pop("judge"))
    asked["languages"] = asked["languages"] or ()
    asked["name"] = asked["name"] or Path(inputs[0]).stem + builder.suffix
    return asked


def _named_by(role: str, declared: ModelRole) -> str:
    if declared.has_option:
        return f"--{role}"
    if declared.optional:
        return f"-m {role}=..."
    return "--judge" if declared.purpose == "judge" else "-m"


def pipeline_help(builder: StepBuilder) -> str:
    """What INPUTs are, whom a build asks, and what is promised of it."""
    about = builder.help
    if builder.rows is None:
        about += (
            " An INPUT is a source of the workspace, or a book that sources stand in: see 'list "
            "source'"
        )
        about += "." if builder.files is None else "; or a file of rows that are further on."
    roles = "\n".join(
        f"  {role}  {declared.help} ({_named_by(role, declared)})"
        for role, declared in builder.roles.items()
    )
    asked = f"\n\nModels are asked in these roles:\n\n\b\n{roles}" if roles else ""
    return (
        f"{about}{asked}\n\nWhat a step made of a row is kept: the same command again works on "
        "what is missing, after a kill too. A row whose call failed is pending, never dropped; "
        "while one is, there is no bank and the exit code is 3. 'show BUILD --dropped' lists every "
        "dropped row with its reason."
    )
