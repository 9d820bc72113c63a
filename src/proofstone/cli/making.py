"""``build KIND``: the kinds and their options come from what methods declare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proofstone.cli.building import pipeline_command
from proofstone.cli.building_either import TABLES, build_from_tables, either_command
from proofstone.cli.options import (
    json_option,
    quiet_option,
    read_seeds,
    seed_option,
    was_given,
    with_parameters,
    workspace_option,
)
from proofstone.cli.output import pasted, print_json, say, tell_known_name
from proofstone.cli.presets import preset_option, with_preset
from proofstone.errors import BadUsage
from proofstone.identity import short
from proofstone.records import ItemSet

if TYPE_CHECKING:
    from proofstone.ports import Method, Parameter, StepBuilder

__all__ = ["build_command"]


class BuildGroup(click.Group):
    """``build KIND``: one command a kind that an installed method builds."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All kinds, and ``form``."""
        from proofstone.methods import find_method, method_names  # noqa: PLC0415

        methods = [find_method(name) for name in method_names()]
        kinds = {kind for method in methods for kind in (*method.builders, *_pipelines(method))}
        kinds |= set(_placing())
        return [*sorted(kinds), "form"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a kind, with the options that its method declares."""
        from proofstone.methods import find_method, method_names  # noqa: PLC0415

        methods = [find_method(name) for name in method_names()]
        if cmd_name == "form":
            return _form_command(methods)
        for method in methods:
            if cmd_name in method.builders and cmd_name in _pipelines(method):
                return either_command(
                    cmd_name, method.builders[cmd_name][1], _pipelines(method)[cmd_name]
                )
            if cmd_name in method.builders:
                return _facts_command(cmd_name, method.builders[cmd_name][1])
            if cmd_name in _pipelines(method):
                return pipeline_command(cmd_name, _pipelines(method)[cmd_name])
        if cmd_name in _placing():
            return pipeline_command(cmd_name, _placing()[cmd_name])
        return None


def _placing() -> Mapping[str, StepBuilder]:
    from proofstone.stages.placing import PLACING  # noqa: PLC0415

    return PLACING.pipelines


def _pipelines(method: Method) -> Mapping[str, StepBuilder]:
    from proofstone.ports import BuildsInSteps  # noqa: PLC0415

    return method.pipelines if isinstance(method, BuildsInSteps) else {}


@click.command("build", cls=BuildGroup, subcommand_metavar="KIND INPUT...")
def build_command() -> None:
    "Build item banks, test forms and reference data."


def _facts_command(kind: str, parameters: Any) -> click.Command:
    @click.command(kind)
    @click.argument("inputs", nargs=-1, required=True)
    @click.option("--name", help="The bank's name; else that of the first input.")
    @with_parameters(parameters)
    @seed_option
    @workspace_option
    @json_option
    def build_facts(
        inputs: tuple[str, ...],
        name: str | None,
        seed: int,
        folder: Path | None,
        as_json: bool,
        **params: Any,
    ) -> None:
        from proofstone.wiring import open_workspace  # noqa: PLC0415

        with open_workspace(folder) as workspace:
            build_from_tables(workspace, kind, inputs, name, seed, params, as_json=as_json)

    build_facts.help = f"Build {kind} from INPUTs into a bank.\n\n{TABLES}"
    return build_facts


def _form_parameters(methods: Sequence[Method]) -> list[Parameter]:
    """The parameters of all composers, each name once: as the one with the most has it."""
    found: dict[str, Parameter] = {}
    for method in sorted(methods, key=lambda each: -len(each.parameters)):
        for parameter in method.parameters:
            found.setdefault(parameter.name, parameter)
    return list(found.values())


def _own_parameters(method: Method, params: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the values that the bank's method takes. Raises BadUsage where another was given."""
    own = {parameter.name for parameter in method.parameters}
    context = click.get_current_context()
    foreign = [
        f"--{name.replace('_', '-')}" for name in params.keys() - own if was_given(context, name)
    ]
    if foreign:
        known = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(own)) or "none"
        raise BadUsage(
            f"a form of {method.title} takes no {', '.join(sorted(foreign))}",
            hint=f"its parameters: {known}",
        )
    return {name: value for name, value in params.items() if name in own}


def _form_command(methods: Sequence[Method]) -> click.Command:
    @click.command("form")
    @click.argument("bank")
    @click.option("--seeds", metavar="N|LIST", help="5: five forms from --seed on; 40,41 or 40-42.")
    @click.option(
        "--sweep",
        metavar="NAME=LOW..HIGH|A,B",
        help="One form a value of a parameter: options=4..10, posed=open,original,shuffled.",
    )
    @click.option("--name", help="The forms' name; else the bank's.")
    @preset_option
    @with_parameters(_form_parameters(methods))
    @seed_option
    @workspace_option
    @json_option
    @quiet_option
    def build_form(
        bank: str,
        seeds: str | None,
        sweep: str | None,
        name: str | None,
        preset: str | None,
        seed: int,
        folder: Path | None,
        as_json: bool,
        quiet: bool,
        **params: Any,
    ) -> None:
        """Compose forms of questions from BANK, one a seed.

        The same bank, seed and parameters give the same form, byte for byte, on any machine.
        """
        from proofstone.wiring import open_workspace  # noqa: PLC0415

        _swept(sweep, params)  # what cannot be read is said before anything is opened
        read_seeds(seeds, seed)
        with open_workspace(folder) as workspace:
            method = workspace.method_of(workspace.find(bank, "bank"))
            own = {**_own_parameters(method, params), "seed": seed}
            params = with_preset(method, preset, "build form", own)
            chosen = read_seeds(seeds, params.pop("seed"))
            forms = [
                form
                for values in _swept(sweep, params)
                for form in workspace.build_form(bank, seeds=chosen, name=name, **values)
            ]
            uses = {form.id: workspace.store.items.uses(form.id) for form in forms}
        if as_json:
            print_json([_form(form, uses[form.id]) for form in forms])
            return
        for form in forms:
            shown = f"{form.name}-{short(form.id, 4)}"
            reuse = _reuse(uses[form.id]) + _left_out(form)
            click.echo(f"form   {shown}   {form.n_items} questions   seed {form.seed}   {reuse}")
        for known in dict.fromkeys(form.name for form in forms):
            tell_known_name(name, known, "questions", quiet=quiet)
        names = ",".join(f"{form.name}-{short(form.id, 4)}" for form in forms)
        say(f"next: proofstone run {pasted(names)} -m PROVIDER/NAME", quiet=quiet)

    return build_form


def _form(form: ItemSet, uses: list[int]) -> dict[str, Any]:
    reuse = {"places": sum(uses), "facts": len(uses), "least": min(uses), "most": max(uses)}
    return {
        "form": form.id,
        "seed": form.seed,
        "items": form.n_items,
        "reuse": reuse,
        "recipe": form.recipe,
    }


def _reuse(uses: list[int]) -> str:
    """How evenly a form uses its facts, in words."""
    often = f"{uses[0]} to {uses[-1]} times" if uses[0] < uses[-1] else f"{uses[0]} times"
    often = "once" if often == "1 times" else often
    return f"{sum(uses)} places, {len(uses)} facts used {often} each"


def _left_out(form: ItemSet) -> str:
    """How many retired facts a form does without, where there are any."""
    n = len(form.recipe.get("without", ()))
    return f"   {n} retired fact{'s' if n > 1 else ''} left out" if n else ""


def _swept(sweep: str | None, params: dict[str, Any]) -> list[dict[str, Any]]:
    """The parameters of each form of a sweep; without one, the parameters."""
    import re  # noqa: PLC0415

    if sweep is None:
        return [params]
    named = re.fullmatch(r"([\w-]+)=([\w-]+(?:,[\w-]+)+)", sweep)
    if named is not None and named[1].replace("-", "_") in params:
        name, values = named[1].replace("-", "_"), dict.fromkeys(named[2].split(","))
        return [{**params, name: value} for value in values]
    match = re.fullmatch(r"([\w-]+)=(\d+)\.\.(\d+)", sweep)
    if match is None or match[1].replace("-", "_") not in params:
        raise click.BadParameter(
            f"{sweep!r}: expected PARAMETER=LOW..HIGH, such as options=4..10, or "
            "PARAMETER=VALUE,VALUE, such as posed=open,original",
            param_hint="--sweep",
        )
    name, low, high = match[1].replace("-", "_"), int(match[2]), int(match[3])
    if high < low:
        raise click.BadParameter(f"{sweep!r}: {high} is below {low}", param_hint="--sweep")
    return [{**params, name: f"{value}-{value}"} for value in range(low, high + 1)]
