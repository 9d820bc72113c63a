"""``build KIND`` of a kind that is built from tables by rules, or from sources by models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from proofstone.cli.build_models import role_options
from proofstone.cli.building import (
    build_in_steps,
    build_options,
    pipeline_help,
)
from proofstone.cli.options import (
    json_option,
    seed_option,
    was_given,
    with_parameters,
    workspace_option,
)
from proofstone.cli.output import pasted, print_json, say, tell_known_name
from proofstone.errors import BadUsage
from proofstone.identity import short
from proofstone.ports import Parameter, StepBuilder

__all__ = ["TABLES", "build_from_tables", "either_command"]

# Options of building by models that a table's parameters of the same names take too.
_SHARED = {"limit", "languages"}
TABLES = "An INPUT is a table's file (CSV, JSONL, Parquet) or the name of a carried table."
# What makes it a build by models.
_BY_MODELS = ("models", "judge", "dry_run", "pilot", "show")
_OF_BOTH = ("inputs", "name", "limit", "languages", "falsified", "seed", "folder", "as_json")


def build_from_tables(
    workspace: Any,
    kind: str,
    inputs: Sequence[str],
    name: str | None,
    seed: int,
    params: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    """Builds a bank by rules and prints it."""
    bank = workspace.build_bank(
        kind, inputs, name=name or Path(inputs[0]).stem, seed=seed, **params
    )
    if as_json:
        print_json({"bank": bank.id, "name": bank.name, kind: len(bank.facts)})
        return
    shown = f"{bank.name}-{short(bank.id, 4)}"
    click.echo(f"bank   {shown}   {len(bank.facts)} {kind}")
    tell_known_name(name, bank.name, kind)
    say(f"next: proofstone build form {pasted(shown)} --seeds 3")


def either_command(
    kind: str, parameters: Sequence[Parameter], builder: StepBuilder
) -> click.Command:
    """The one command of both ways: with a model, INPUTs are sources; without, they are tables."""
    of_tables = {parameter.name for parameter in parameters}
    of_steps = {parameter.name for parameter in builder.parameters}
    only_tables = [each for each in parameters if each.name not in of_steps | _SHARED]

    @click.command(kind)
    @click.argument("inputs", nargs=-1, required=True)
    @build_options
    @role_options(builder)
    @with_parameters(builder.parameters)
    @with_parameters(only_tables)
    @seed_option
    @workspace_option
    @json_option
    @click.pass_context
    def build_either(context: click.Context, /, **options: Any) -> None:
        by_models = any(was_given(context, name) for name in _BY_MODELS)
        known = of_steps if by_models else of_tables
        other = (of_tables if by_models else _steps_only(context, of_steps)) - known
        _refuse(context, kind, other - set(_OF_BOTH), by_models=by_models)
        if by_models:
            for each in only_tables:
                options.pop(each.name)
            build_in_steps(kind, builder, options)
            return
        _build_from_tables(kind, {name: options[name] for name in of_tables}, options)

    build_either.help = (
        f"Build {kind} from INPUTs into a bank: from tables by rules, or with -m from sources by "
        f"models.\n\nWithout -m: {TABLES[0].lower()}{TABLES[1:]} --limit then is the most true "
        "statements of a table, drawn by the seed, and --languages chooses among carried tables."
        "\n\n"
        f"With -m: {pipeline_help(builder)}"
    )
    return build_either


def _build_from_tables(kind: str, params: dict[str, Any], options: dict[str, Any]) -> None:
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    if "limit" in params:
        params["limit"] = options["limit"] or 0
    if "languages" in params:
        params["languages"] = ",".join(options["languages"] or ()) or "all"
    with open_workspace(options["folder"]) as workspace:
        build_from_tables(
            workspace, kind, options["inputs"], options["name"], options["seed"], params,
            as_json=options["as_json"],
        )  # fmt: skip


def _steps_only(context: click.Context, of_steps: set[str]) -> set[str]:
    """What only a build by models takes: its parameters, and the options of asking."""
    asking = {parameter.name for parameter in context.command.params if parameter.name}
    return (of_steps | asking) - set(_OF_BOTH)


def _refuse(context: click.Context, kind: str, names: set[str], *, by_models: bool) -> None:
    """Options that were given and mean nothing in this way of building are named, all of them."""
    given = [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name in names and was_given(context, str(parameter.name))
    ]
    if given and by_models:
        raise BadUsage(
            f"{', '.join(given)} shapes {kind} from tables, and -m builds from sources",
            hint="leave out either",
        )
    if given:
        raise BadUsage(
            f"{', '.join(given)} is for building by models, and no model is named",
            hint="name one: -m PROVIDER/NAME",
        )
