"""``build KIND``: the kinds and their options come from what methods declare."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from proofstone.build.cli_taxonomy import show_placed
from proofstone.errors import BadUsage, BudgetReached, EndpointUnusable
from proofstone.records.banks import Parameter
from proofstone.records.ids import short
from proofstone.records.items import ItemSet
from proofstone.records.steps import StepBuilder
from proofstone.run.cli import dry_run_list
from proofstone.run.cli_models import with_preset
from proofstone.run.cli_options import (
    connections_option,
    max_tokens_option,
    preset_option,
    reasoning_option,
    setting_option,
    temperature_option,
)
from proofstone.run.self_preference import judge_lines, tell_lines
from proofstone.session.cli_egress import TerminalEgress
from proofstone.session.costs import beside_told, spent_text, tell_lost
from proofstone.session.options import (
    budget_option,
    cache_option,
    json_option,
    languages_option,
    quiet_option,
    read_once,
    read_panel,
    read_seeds,
    read_settings,
    seed_option,
    was_given,
    with_options,
    with_parameters,
    workspace_option,
    yes_option,
)
from proofstone.session.terminal import pasted, print_json, say, tell_known_name

if TYPE_CHECKING:
    from proofstone.build.build import BuildResult
    from proofstone.method import Method
    from proofstone.records.builds import Build
    from proofstone.records.steps import ModelRole, StepBuilder
    from proofstone.run.self_preference import Kin


Command = TypeVar("Command", bound=Callable[..., Any])


def role_options(builder: StepBuilder) -> Callable[[Command], Command]:
    """The options of roles that have one of their own; values arrive under the role's name."""
    return with_options(
        *(
            click.option(
                f"--{role}", role, multiple=True, metavar="PROVIDER/NAME,...",
                help=f"{declared.help[0].upper()}{declared.help[1:]}.",
            )
            for role, declared in builder.roles.items()
            if declared.has_option
        )
    )  # fmt: skip


def named_models(
    builder: StepBuilder, models: Sequence[str], options: dict[str, Any]
) -> str | dict[str, list[str]]:
    """The models of ``-m``, and those of the roles' own options, which are taken out of
    ``options``. UsageError where a model stands twice in a panel."""
    by_role = _by_role(models)
    own = {
        role: read_once(options.pop(role), "each member has one answer")
        for role, declared in builder.roles.items()
        if declared.has_option
    }
    own = {role: named for role, named in own.items() if named}
    if not own:
        return by_role
    if isinstance(by_role, str):
        by_role = {
            role: [by_role]
            for role, declared in builder.roles.items()
            if declared.purpose == "build" and not declared.optional
        }
    return {**by_role, **own}


def _by_role(options: Sequence[str]) -> str | dict[str, list[str]]:
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


# ``build KIND`` of a kind that is built in steps, with models or without.


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
    from proofstone.session.session import open_session

    asked = dict(options)
    inputs: tuple[str, ...] = asked.pop("inputs")
    folder, as_json, quiet = asked.pop("folder"), asked.pop("as_json"), asked.pop("quiet")
    with open_session(folder) as session:
        session.ask_egress = TerminalEgress(yes=asked.pop("yes"), quiet=quiet)
        session.tell = partial(say, quiet=quiet)
        tell_lost(session, quiet=quiet)
        code = perform(session, kind, builder, inputs, asked, as_json=as_json, quiet=quiet)
    click.get_current_context().exit(code)


def perform(
    session: Any,
    kind: str,
    builder: StepBuilder,
    inputs: Sequence[str],
    options: dict[str, Any],
    *,
    as_json: bool,
    quiet: bool,
) -> int:
    """Builds, or says what it would take; returns the exit code."""
    from proofstone.build.cli_pilot import perform_dry_build, read_dry_build
    from proofstone.build.step_builds import (
        build_in_steps,
        kin_of_build,
    )
    from proofstone.session.costs import start_spending
    from proofstone.session.progress import tell_interrupt, watching

    wanted = read_dry_build(options.pop("dry_run"), options.pop("pilot"), options.pop("show"))
    name = options["name"]
    asked = _asked(builder, inputs, options)
    kin = kin_of_build(session, kind, models=asked["models"], judge=asked["judge"])
    tell_lines(judge_lines(kin), quiet=quiet)
    if wanted is not None:
        return perform_dry_build(
            session, kind, inputs, asked, wanted, kin, as_json=as_json, quiet=quiet
        )
    spending = asked["budget"] = start_spending(session, asked["budget"])
    with beside_told(spending, quiet=quiet), watching(quiet=quiet) as watch:
        result = build_in_steps(
            session, kind, inputs, **asked, watch=watch, on_interrupt=tell_interrupt
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


# ``build KIND`` of a kind that is built from tables by rules, or from sources by models.

# Options of building by models that a table's parameters of the same names take too.
_SHARED = {"limit", "languages"}


TABLES = "An INPUT is a table's file (CSV, JSONL, Parquet) or the name of a carried table."


# What makes it a build by models.
_BY_MODELS = ("models", "judge", "dry_run", "pilot", "show")


_OF_BOTH = ("inputs", "name", "limit", "languages", "falsified", "seed", "folder", "as_json")


def build_from_tables(
    session: Any,
    kind: str,
    inputs: Sequence[str],
    name: str | None,
    seed: int,
    params: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    """Builds a bank by rules and prints it."""
    from proofstone.build.forms import make_bank

    bank = make_bank(session, kind, inputs, name=name or Path(inputs[0]).stem, seed=seed, **params)
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
    from proofstone.session.session import open_session

    if "limit" in params:
        params["limit"] = options["limit"] or 0
    if "languages" in params:
        params["languages"] = ",".join(options["languages"] or ()) or "all"
    with open_session(options["folder"]) as session:
        build_from_tables(
            session, kind, options["inputs"], options["name"], options["seed"], params,
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


class BuildGroup(click.Group):
    """``build KIND``: one command a kind that an installed method builds."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All kinds, and ``form``."""
        from proofstone.method import find_method, method_names

        methods = [find_method(name) for name in method_names()]
        kinds = {kind for method in methods for kind in (*method.builders, *method.pipelines)}
        kinds |= set(_placing())
        return [*sorted(kinds), "form"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a kind, with the options that its method declares."""
        from proofstone.method import find_method, method_names

        methods = [find_method(name) for name in method_names()]
        if cmd_name == "form":
            return _form_command(methods)
        for method in methods:
            if cmd_name in method.builders and cmd_name in method.pipelines:
                return either_command(
                    cmd_name, method.builders[cmd_name][1], method.pipelines[cmd_name]
                )
            if cmd_name in method.builders:
                return _facts_command(cmd_name, method.builders[cmd_name][1])
            if cmd_name in method.pipelines:
                return pipeline_command(cmd_name, method.pipelines[cmd_name])
        if cmd_name in _placing():
            return pipeline_command(cmd_name, _placing()[cmd_name])
        return None


def _placing() -> Mapping[str, StepBuilder]:
    from proofstone.build.placement import PLACING

    return PLACING.pipelines


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
        from proofstone.session.session import open_session

        with open_session(folder) as session:
            build_from_tables(session, kind, inputs, name, seed, params, as_json=as_json)

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
        from proofstone.build.forms import compose_forms
        from proofstone.session.session import method_of, open_session

        _swept(sweep, params)  # what cannot be read is said before anything is opened
        read_seeds(seeds, seed)
        with open_session(folder) as session:
            method = method_of(session, session.find(bank, "bank"))
            own = {**_own_parameters(method, params), "seed": seed}
            params = with_preset(method, preset, "build form", own)
            chosen = read_seeds(seeds, params.pop("seed"))
            forms = [
                form
                for values in _swept(sweep, params)
                for form in compose_forms(session, bank, seeds=chosen, name=name, **values)
            ]
            uses = {form.id: session.store.items.uses(form.id) for form in forms}
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
    import re

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


# What a build came to, as it is told.


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
    from proofstone.build.funnel import funnel_lines, pending_sentences

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
    _tell_trouble(result, quiet=quiet)
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
            say(f"next: proofstone {_next(build, shown)}", quiet=quiet)
    return _exit_code(result)


def _tell_trouble(result: BuildResult, *, quiet: bool) -> None:
    """What it took, why it stopped, and what it left out."""
    if result.spent.calls and not result.build.simulated:
        say(f"spent {spent_text(result.spent)}", quiet=quiet)
    if result.stopped:
        code = (BudgetReached if result.over_budget else EndpointUnusable).code
        say(f"error [{code}] {result.stopped}")
    for note in result.notes:
        say(f"note: {note}", quiet=quiet)


def _next(build: Build, bank: str) -> str:
    """The command that comes next: what its kind says; else of a bank that is asked as it stands
    its run, of others forms; without small groups where the method can do so: of documents few
    have enough statements each for a question of their own."""
    from proofstone.method import find_method

    method = find_method(build.method)
    if said := method.pipelines[build.kind].next:
        return said.format(bank=bank)
    if method.bank_run is not None:
        return f"run {bank} -m PROVIDER/NAME {method.bank_run}"
    skipping = any(parameter.name == "skip_small" for parameter in method.parameters)
    return f"build form {bank} --seeds 3{' --skip-small' if skipping else ''}"


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
        "notes": result.notes,
        "funnel": {**_fields(result.funnel), "left": result.funnel.left},
        "spent": result.spent,
        "stopped": result.stopped,
        "over_budget": result.over_budget,
        "interrupted": result.interrupted,
    }


def _fields(record: Any) -> dict[str, Any]:
    import msgspec

    return msgspec.structs.asdict(record)
