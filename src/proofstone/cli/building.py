"""``build KIND`` of a kind that is built in steps, with models or without."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from proofstone.cli.output import pasted, print_json, say, tell_known_name
from proofstone.cli.placed import show_placed
from proofstone.cli.spending import spent_text, tell_lost
from proofstone.errors import BudgetReached, EndpointUnusable
from proofstone.identity import short

if TYPE_CHECKING:
    from proofstone.ports import ModelRole, StepBuilder
    from proofstone.records import Build
    from proofstone.stages.building import BuildResult
    from proofstone.stages.kin import Kin

__all__ = [
    "build_in_steps",
    "build_options",
    "pipeline_command",
    "pipeline_help",
    "report_build",
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
    @with_parameters(builder.parameters)
    @seed_option
    @workspace_option
    @json_option
    def command(**options: Any) -> None:
        build_in_steps(kind, options)

    ending = "into a bank" if builder.enters == "passages" else "for each source"
    command.help = f"Build {kind} from INPUTs, step by step, {ending}.\n\n{pipeline_help(builder)}"
    return command


def build_in_steps(kind: str, options: dict[str, Any]) -> None:
    """What the command does with its options, and with its exit code."""
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    asked = dict(options)
    inputs: tuple[str, ...] = asked.pop("inputs")
    folder, as_json, quiet = asked.pop("folder"), asked.pop("as_json"), asked.pop("quiet")
    with open_workspace(folder) as workspace:
        workspace.ask_egress = TerminalEgress(yes=asked.pop("yes"), quiet=quiet)
        tell_lost(workspace, quiet=quiet)
        code = perform(workspace, kind, inputs, asked, as_json=as_json, quiet=quiet)
    click.get_current_context().exit(code)


def perform(
    workspace: Any,
    kind: str,
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
    asked = _asked(inputs, options)
    kin = workspace.kin_of_build(kind, models=asked["models"], judge=asked["judge"])
    tell_lines(judge_lines(kin), quiet=quiet)
    if wanted is not None:
        return perform_dry_build(
            workspace, kind, inputs, asked, wanted, kin, as_json=as_json, quiet=quiet
        )
    with watching(quiet=quiet) as watch:
        result = workspace.build_in_steps(
            kind, inputs, **asked, watch=watch, on_interrupt=tell_interrupt
        )
    return report_build(result, kin, name=name, as_json=as_json, quiet=quiet)


def _asked(inputs: Sequence[str], options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of ``build_in_steps`` that options mean."""
    asked = dict(options)
    named = {name: asked.pop(name) for name in _SETTINGS}
    settings = {name: value for name, value in named.items() if value is not None}
    asked["settings"] = {**settings, **read_settings(asked.pop("extra"))}
    asked["models"] = _models(asked.pop("models"))
    asked["judge"] = read_panel(asked.pop("judge"))
    asked["languages"] = asked["languages"] or ()
    asked["name"] = asked["name"] or Path(inputs[0]).stem
    return asked


def _models(options: Sequence[str]) -> str | dict[str, list[str]]:
    """One model for all roles, or models by role: ``ROLE=PROVIDER/NAME``, of a panel
    ``ROLE=A,B,C`` (a query of a name may have an equals sign too, behind a slash)."""
    entries = [
        (entry, at > 0)
        for option in options
        for at, entry in enumerate(filter(None, map(str.strip, option.split(","))))
    ]
    by_role: dict[str, list[str]] = {}
    last = ""
    for entry, is_further in entries:
        role, equals, model = entry.partition("=")
        if equals and "/" not in role:
            by_role[role] = [model]
            last = role
        elif is_further and last:
            by_role[last].append(entry)
        elif by_role or len({entry for entry, _is_further in entries}) > 1:
            raise click.BadParameter(
                f"{entry!r}: name the role of each of several models, as ROLE={entry}",
                param_hint="--model",
            )
        else:
            return entry
    return by_role


def report_build(
    result: BuildResult,
    kin: Sequence[Kin] = (),
    *,
    name: str | None = None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Prints what came of a build and what to do next; returns the exit code. ``name`` is what the
    bank was to be called."""
    from proofstone.report.funnels import funnel_lines, pending_sentences  # noqa: PLC0415

    build, bank = result.build, result.bank
    shown_build = f"build:{short(build.id)}"
    if as_json:
        print_json({**_result(result), "kin": kin})
    else:
        click.echo("\n".join(funnel_lines(result.funnel)))
        if result.placed is not None:
            show_placed(result.placed, shown_build)
        elif bank is not None:
            shown = f"{bank.name}-{short(bank.id, 4)}"
            click.echo(f"bank   {shown}   {len(bank.facts):,} {build.kind}   {shown_build}")
        else:
            click.echo(f"{shown_build}   incomplete: no bank is made of it yet")
    if result.spent.calls and not build.simulated:
        say(f"spent {spent_text(result.spent)}", quiet=quiet)
    if result.stopped:
        code = (BudgetReached if result.over_budget else EndpointUnusable).code
        say(f"error [{code}] {result.stopped}")
    if not result.complete:
        for line in pending_sentences(result.funnel):
            say(line, quiet=quiet)
        say(f"held up: proofstone show {shown_build} --pending", quiet=quiet)
        further = ", with a further --budget" if result.over_budget else ""
        say(f"go on: the same command again{further}", quiet=quiet)
    else:
        if any(step.n_dropped for step in result.funnel.steps):
            say(f"dropped rows: proofstone show {shown_build} --dropped", quiet=quiet)
        if bank is not None:
            shown = pasted(f"{bank.name}-{short(bank.id, 4)}")
            tell_known_name(name, bank.name, build.kind, quiet=quiet)
            say(f"next: proofstone build form {shown} --seeds 3{_skipping(build)}", quiet=quiet)
    return _exit_code(result)


def _skipping(build: Build) -> str:
    """The option by which a form does without small groups, where the method has it: of documents
    few have enough statements each for a question of their own."""
    from proofstone.methods import find_method  # noqa: PLC0415

    known = {parameter.name for parameter in find_method(build.method).parameters}
    return " --skip-small" if "skip_small" in known else ""


def _exit_code(result: BuildResult) -> int:
    if result.interrupted:
        return 130
    if result.stopped:
        return (BudgetReached if result.over_budget else EndpointUnusable).exit_code
    return 0 if result.complete else 3


def _result(result: BuildResult) -> dict[str, Any]:
    bank = result.bank
    return {
        "build": result.build.id,
        "kind": result.build.kind,
        "models": result.build.models,
        "complete": result.complete,
        "bank": None if bank is None else bank.id,
        "name": None if bank is None else bank.name,
        "facts": 0 if bank is None else len(bank.facts),
        "placed": result.placed,
        "funnel": {**_fields(result.funnel), "left": result.funnel.left},
        "spent": result.spent,
        "stopped": result.stopped,
        "over_budget": result.over_budget,
        "interrupted": result.interrupted,
    }


def _fields(record: Any) -> dict[str, Any]:
    import msgspec  # noqa: PLC0415

    return msgspec.structs.asdict(record)


def _named_by(role: str, declared: ModelRole) -> str:
    if declared.optional:
        return f"-m {role}=..."
    return "--judge" if declared.purpose == "judge" else "-m"


def pipeline_help(builder: StepBuilder) -> str:
    """What INPUTs are, whom a build asks, and what is promised of it."""
    about = builder.help
    if builder.rows is None:
        about += (
            " An INPUT is a source of the workspace, or a book that sources stand in: see 'list "
            "source'."
        )
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
