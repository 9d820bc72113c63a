"""``build KIND``: the kinds and their options come from what methods declare."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from proofstone.build.cli_show import show_placed
from proofstone.errors import BadUsage, BudgetReached, EndpointUnusable
from proofstone.records.builds import StepBuilder
from proofstone.records.ids import short
from proofstone.records.items import ItemSet
from proofstone.records.options import Parameter
from proofstone.run.cli_models import with_preset
from proofstone.run.cli_request import (
    connections_option,
    dry_run_list,
    max_tokens_option,
    preset_option,
    reasoning_option,
    setting_option,
    temperature_option,
)
from proofstone.run.self_preference import judge_lines, tell_lines
from proofstone.session.cli_command import Group, command, tell_error_line
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
from proofstone.session.progress import beside_told, spent_text, start_spending, tell_lost
from proofstone.session.terminal import (
    TerminalEgress,
    pasted,
    print_json,
    print_text,
    say,
    say_next,
    tell_known_name,
)

if TYPE_CHECKING:
    from proofstone.build.build import BuildResult
    from proofstone.build.pilot import StepPrompt
    from proofstone.method import Method
    from proofstone.records.builds import Build, ModelRole
    from proofstone.run.forecast import Amounts, BuildForecast, Range
    from proofstone.run.self_preference import SelfEvaluation
    from proofstone.session.session import Session

Command = TypeVar("Command", bound=Callable[..., Any])


# The options of every command that builds, and of those that ask models to.

_name_option = click.option(
    "--name", help="Name of the item bank (default: name of the first input)."
)


build_options = with_options(
    _name_option,
    click.option(
        "-m", "--model", "models", multiple=True, metavar="[ROLE=]PROVIDER/NAME",
        help="Model that builds, or the model of one role; for a panel judge=A,B,C.",
    ),
    click.option("--judge", multiple=True, metavar="PROVIDER/NAME,...",
                 help="LLM judge for all judging roles; several models form a panel."),
    click.option(
        "--per-input", type=click.IntRange(1), metavar="N",
        help="Sample N rows of each input (by the seed); a larger N keeps the rows of a smaller "
             "one.",
    ),
    click.option("--limit", type=click.IntRange(1), help="Only use the first N rows."),
    languages_option("Only use passages in these languages."),
    *dry_run_list(
        dry_run="Estimate requests, tokens, cost and time; build nothing.",
        pilot="With --dry-run: process N rows with API calls; their results are kept for the "
              "build.",
        least_pilot=2,
        show="Print the prompts of the first N rows; build nothing and make no API calls.",
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


# In the first section of ``build KIND --help``, with the options that all commands have.
_BASIC = (
    "name", "models", "judge", "limit", "per_input", "dry_run", "pilot", "budget", "seed",
    "languages",
)  # fmt: skip


def _kind_command(kind: str, *options: Callable[[Any], Any]) -> Callable[[Command], click.Command]:
    """A command of this kind with INPUTs and these options."""
    inputs = click.argument("inputs", nargs=-1, required=True)
    shared = (seed_option, workspace_option, json_option)

    def made(build: Callable[..., Any]) -> click.Command:
        return command(kind, basic=_BASIC)(with_options(inputs, *options, *shared)(build))

    return made


def _step_options(builder: StepBuilder) -> list[Callable[[Any], Any]]:
    """Return the options of a build in steps. Some roles have a separate option, whose values
    arrive under the role's name."""
    roles = [
        click.option(
            f"--{role}", role, multiple=True, metavar="PROVIDER/NAME,...",
            help=f"{declared.help[0].upper()}{declared.help[1:]}.",
        )
        for role, declared in builder.roles.items()
        if declared.has_option
    ]  # fmt: skip
    return [build_options, *roles, with_parameters(builder.parameters)]


def _named_models(
    builder: StepBuilder, models: Sequence[str], options: dict[str, Any]
) -> str | dict[str, list[str]]:
    """Return the models of ``-m`` and of role options, removing them from ``options``. Raises
    UsageError for a duplicate in a panel."""
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


def pipeline_command(kind: str, builder: StepBuilder) -> click.Command:
    """The command that builds this kind."""

    @_kind_command(kind, *_step_options(builder))
    def command(**options: Any) -> None:
        _build_in_steps(kind, builder, options)

    ending = "for each source" if builder.enters == "sources" else "as an item bank"
    command.help = (
        f"Build {kind} from INPUTs, {ending}.\n\n{_pipeline_help(builder)}"
        f"{_examples(kind, builder.example)}"
    )
    return command


def _build_in_steps(kind: str, builder: StepBuilder, options: dict[str, Any]) -> None:
    """Builds, or says what it would take; exits with its code."""
    from proofstone.build.banks import build_in_steps, self_evaluation_of_build
    from proofstone.session.progress import tell_interrupt, watching
    from proofstone.session.session import open_session

    asked = dict(options)
    inputs, quiet, as_json = asked.pop("inputs"), asked.pop("quiet"), asked.pop("as_json")
    dry_run, pilot, show = (asked.pop(name) for name in ("dry_run", "pilot", "show"))
    with open_session(asked.pop("folder")) as session:
        session.ask_egress = TerminalEgress(yes=asked.pop("yes"), quiet=quiet)
        session.tell = partial(say, quiet=quiet)
        tell_lost(session, quiet=quiet)
        if not dry_run and pilot is not None:
            raise click.UsageError("--pilot goes with --dry-run", click.get_current_context())
        name = asked["name"]
        asked = _asked(builder, inputs, asked)
        self_evaluation = self_evaluation_of_build(
            session, kind, models=asked["models"], judge=asked["judge"]
        )
        tell_lines(judge_lines(self_evaluation), quiet=quiet)
        if dry_run or show is not None:
            code = _dry_run(
                session, kind, inputs, asked, self_evaluation,
                rows=(pilot or 0) if dry_run else None, show=show or 0,
                as_json=as_json, quiet=quiet,
            )  # fmt: skip
        else:
            spending = asked["budget"] = start_spending(session, asked["budget"])
            with beside_told(spending, quiet=quiet), watching(quiet=quiet) as watch:
                result = build_in_steps(
                    session, kind, inputs, **asked, watch=watch, on_interrupt=tell_interrupt
                )
            code = _report(result, self_evaluation, name=name, as_json=as_json, quiet=quiet)
    click.get_current_context().exit(code)


def _asked(builder: StepBuilder, inputs: Sequence[str], options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of ``build_in_steps`` that options mean."""
    asked = dict(options)
    sent = {name: asked.pop(name) for name in ("temperature", "max_tokens", "reasoning_effort")}
    settings = {name: value for name, value in sent.items() if value is not None}
    asked["settings"] = {**settings, **read_settings(asked.pop("extra"))}
    asked["models"] = _named_models(builder, asked.pop("models"), asked)
    asked["judge"] = read_panel(asked.pop("judge"))
    asked["languages"] = asked["languages"] or ()
    asked["name"] = asked["name"] or Path(inputs[0]).stem + builder.suffix
    return asked


def _pipeline_help(builder: StepBuilder) -> str:
    """Return the help of a build: its INPUTs, the roles of its models, and how it resumes."""
    about = builder.help
    if builder.rows is None:
        about += (
            " An INPUT is a source of the workspace (see 'list sources'), or a book (all of its "
            "sources)."
        )
        about += "" if builder.files is None else " It can be a file of rows from a later step."

    def named_by(role: str, declared: ModelRole) -> str:
        if declared.has_option:
            return f"--{role}"
        if declared.optional:
            return f"-m {role}=..."
        return "--judge" if declared.purpose == "judge" else "-m"

    roles = "\n".join(
        f"  {role}  {declared.help} ({named_by(role, declared)})"
        for role, declared in builder.roles.items()
    )
    asked = f"\n\nRoles of models:\n\n\b\n{roles}" if roles else ""
    return (
        f"{about}{asked}\n\nResults of each step are kept: the same command again only processes "
        "missing rows. A row whose call failed is pending, never dropped. While rows are pending, "
        "no bank is made and the exit code is 3. 'show BUILD --dropped' lists dropped rows with "
        "reasons."
    )


def _examples(kind: str, *words: str) -> str:
    lines = "".join(f"\n  proofstone build {kind} {each}" for each in words if each)
    return f"\n\n\b\nExample{'s' * (lines.count(chr(10)) > 1)}:{lines}" if lines else ""


# ``build KIND`` of a kind that is built from tables by rules, or from sources by models.

# Options of building by models that a table's parameters of the same names take too.
_SHARED = {"limit", "languages"}


TABLES = "An INPUT is a table (CSV, JSONL, Parquet) or the name of a bundled table."


# What makes it a build by models.
_BY_MODELS = ("models", "judge", "dry_run", "pilot", "show")


_OF_BOTH = {"inputs", "name", "limit", "languages", "perturbed", "seed", "folder", "as_json"}


def facts_command(kind: str, parameters: Sequence[Parameter]) -> click.Command:
    """The command that builds this kind by rules."""

    @_kind_command(kind, _name_option, with_parameters(parameters))
    def build_facts(**options: Any) -> None:
        _build_from_tables(kind, {each.name: options[each.name] for each in parameters}, options)

    build_facts.help = f"Build {kind} from tables.\n\n{TABLES}{_examples(kind, 'facts.csv')}"
    return build_facts


def _build_from_tables(kind: str, params: dict[str, Any], options: dict[str, Any]) -> None:
    """Builds a bank by rules and prints it."""
    from proofstone.build.banks import make_bank
    from proofstone.session.session import open_session

    name, inputs = options["name"], options["inputs"]
    with open_session(options["folder"]) as session:
        bank = make_bank(
            session, kind, inputs, name=name or Path(inputs[0]).stem, seed=options["seed"],
            **params,
        )  # fmt: skip
        if options["as_json"]:
            print_json({"bank": bank.id, "name": bank.name, kind: len(bank.facts)})
            return
        shown = f"{bank.name}-{short(bank.id, 4)}"
        print_text(f"bank   {shown}   {len(bank.facts)} {kind}")
        tell_known_name(name, bank.name, kind)
        say_next([f"build form {pasted(shown)} --seeds 3"])


def either_command(
    kind: str, parameters: Sequence[Parameter], builder: StepBuilder
) -> click.Command:
    """The one command of both ways: with a model, INPUTs are sources; without, they are tables."""
    of_tables = {parameter.name for parameter in parameters}
    of_steps = {parameter.name for parameter in builder.parameters}
    only_tables = [each for each in parameters if each.name not in of_steps | _SHARED]

    @_kind_command(kind, *_step_options(builder), with_parameters(only_tables))
    def build_either(**options: Any) -> None:
        context = click.get_current_context()
        if any(was_given(context, name) for name in _BY_MODELS):
            _refuse(context, kind, of_tables - of_steps - _OF_BOTH, by_models=True)
            for each in only_tables:
                options.pop(each.name)
            _build_in_steps(kind, builder, options)
            return
        asking = {parameter.name for parameter in context.command.params if parameter.name}
        _refuse(context, kind, (of_steps | asking) - of_tables - _OF_BOTH, by_models=False)
        params = {name: options[name] for name in of_tables}
        if "limit" in params:
            params["limit"] = options["limit"] or 0
        if "languages" in params:
            params["languages"] = ",".join(options["languages"] or ()) or "all"
        _build_from_tables(kind, params, options)

    build_either.help = (
        f"Build {kind} from tables, or with -m from sources.\n\n"
        f"Without -m: {TABLES} --limit is then the maximum number of true statements per table, "
        "and --languages selects bundled tables."
        "\n\n"
        f"With -m: {_pipeline_help(builder)}{_examples(kind, 'facts.csv', builder.example)}"
    )
    return build_either


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


class BuildGroup(Group):
    """``build KIND``: one command a kind that an installed method builds."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All kinds, ``form`` and ``plan``."""
        methods, placing = _makers()
        kinds = {kind for method in methods for kind in (*method.builders, *method.pipelines)}
        return [*sorted({*kinds, *placing}), "form", "plan"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a kind, with the options that its method declares."""
        methods, placing = _makers()
        if cmd_name == "form":
            return _form_command(methods)
        if cmd_name == "plan":
            from proofstone.results.cli import plan_command

            return plan_command
        for method in methods:
            tables, steps = method.builders.get(cmd_name), method.pipelines.get(cmd_name)
            if tables and steps:
                return either_command(cmd_name, tables[1], steps)
            if tables:
                return facts_command(cmd_name, tables[1])
            if steps:
                return pipeline_command(cmd_name, steps)
        return pipeline_command(cmd_name, placing[cmd_name]) if cmd_name in placing else None


def _makers() -> tuple[list[Method], Mapping[str, StepBuilder]]:
    """All methods, and what places sources, by kind."""
    from proofstone.build.taxonomy_label import PLACING
    from proofstone.method import find_method, method_names

    return [find_method(name) for name in method_names()], PLACING.pipelines


@click.command("build", cls=BuildGroup, subcommand_metavar="KIND INPUT...")
def build_command() -> None:
    "Build item banks, test forms and reference data."


# ``build form``.


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
    @command(
        "form",
        basic=(
            "seeds",
            "name",
            "preset",
            "setting",
            "statements",
            "options",
            "questions",
            "posed",
            "entities",
            "sample",
            "seed",
        ),
    )
    @click.argument("bank")
    @click.option(
        "--seeds",
        metavar="N|LIST",
        help="Number of forms (5: five seeds starting at --seed), or seeds: 40,41 or 40-42.",
    )
    @click.option(
        "--sweep",
        metavar="NAME=LOW..HIGH|A,B",
        help="One form per value of a parameter: options=4..10, posed=open,original,shuffled.",
    )
    @click.option("--name", help="Name of the forms (default: name of the bank).")
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

        \b
        Example:
          proofstone build form facts --questions 100 --seeds 3
        """
        from proofstone.build.banks import compose_forms
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
            print_json([_form_fields(form, uses[form.id]) for form in forms])
            return
        for form in forms:
            print_text(_form_line(form, uses[form.id]))
        for known in dict.fromkeys(form.name for form in forms):
            tell_known_name(name, known, "questions", quiet=quiet)
        names = ",".join(f"{form.name}-{short(form.id, 4)}" for form in forms)
        first = pasted(names.partition(",")[0])
        say_next([f"show {first}", f"run {pasted(names)} -m PROVIDER/NAME"], quiet=quiet)

    return build_form


def _form_fields(form: ItemSet, uses: list[int]) -> dict[str, Any]:
    reuse = {"places": sum(uses), "facts": len(uses), "least": min(uses), "most": max(uses)}
    return {
        "form": form.id,
        "seed": form.seed,
        "items": form.n_items,
        "reuse": reuse,
        "recipe": form.recipe,
    }


def _form_line(form: ItemSet, uses: list[int]) -> str:
    """Return a line on a form: how evenly it uses its facts, and how many excluded ones it leaves
    out."""
    often = f"{uses[0]} to {uses[-1]} times" if uses[0] < uses[-1] else f"{uses[0]} times"
    often = "once" if often == "1 times" else often
    n = len(form.recipe.get("without", ()))
    left_out = f"   {n} excluded fact{'s' if n > 1 else ''} left out" if n else ""
    return (
        f"form   {form.name}-{short(form.id, 4)}   {form.n_items} questions   seed {form.seed}   "
        f"{sum(uses)} places, {len(uses)} facts used {often} each{left_out}"
    )


def _swept(sweep: str | None, params: dict[str, Any]) -> list[dict[str, Any]]:
    """The parameters of each form of a sweep; without one, the parameters."""
    if sweep is None:
        return [params]
    said, _, values = sweep.partition("=")
    name, span = said.replace("-", "_"), re.fullmatch(r"(\d+)\.\.(\d+)", values)
    if name not in params or not (span or re.fullmatch(r"[\w-]+(?:,[\w-]+)+", values)):
        raise click.BadParameter(
            f"{sweep!r}: expected PARAMETER=LOW..HIGH, such as options=4..10, or "
            "PARAMETER=VALUE,VALUE, such as posed=open,original",
            param_hint="--sweep",
        )
    if span is None:
        return [{**params, name: value} for value in dict.fromkeys(values.split(","))]
    low, high = int(span[1]), int(span[2])
    if high < low:
        raise click.BadParameter(f"{sweep!r}: {high} is below {low}", param_hint="--sweep")
    return [{**params, name: f"{value}-{value}"} for value in range(low, high + 1)]


# What a build came to, as it is told.


def _report(
    result: BuildResult,
    self_evaluation: Sequence[SelfEvaluation],
    *,
    name: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Print the result of a build and the next step, and return the exit code. ``name`` is the
    requested name of the bank."""
    from proofstone.build.funnel import funnel_lines, pending_sentences

    build, bank = result.build, result.bank
    shown_build = f"build:{short(build.id)}"
    shown = "" if bank is None else f"{bank.name}-{short(bank.id, 4)}"
    if as_json:
        print_json({**_result(result), "self_evaluation": self_evaluation})
    else:
        print_text("\n".join(funnel_lines(result.funnel)))
        if result.placed is not None:
            show_placed(result.placed, shown_build)
        elif bank is not None:
            print_text(f"bank   {shown}   {len(bank.facts):,} {build.kind}   {shown_build}")
        else:
            print_text(f"{shown_build}   incomplete: no bank is made of it yet")
    if result.spent.calls and not build.simulated:
        say(f"spent {spent_text(result.spent)}", quiet=quiet)
    _tell_stopped(result)
    for note in result.notes:
        say(f"note: {note}", quiet=quiet)
    if not result.complete:
        for line in pending_sentences(result.funnel):
            say(line, quiet=quiet)
        say(f"pending rows: proofstone show {shown_build} --pending", quiet=quiet)
        further = " with a further --budget" if result.over_budget else ""
        say(f"resume: run the same command again{further}", quiet=quiet)
    else:
        if any(step.n_dropped for step in result.funnel.steps):
            say(f"dropped rows: proofstone show {shown_build} --dropped", quiet=quiet)
        if bank is not None:
            tell_known_name(name, bank.name, build.kind, quiet=quiet)
            say_next([f"show {pasted(shown)}", _next(build, pasted(shown))], quiet=quiet)
    return _exit_code(result, is_whole=result.complete)


def _next(build: Build, bank: str) -> str:
    """Return the next command after a build.

    It is the kind's own one if stated. A bank that is asked unchanged is run; of others a form is
    built. Small groups are left out if the method can do so: few documents have enough statements
    for their own question.
    """
    from proofstone.method import find_method

    method = find_method(build.method)
    if said := method.pipelines[build.kind].next:
        return said.format(bank=bank)
    if method.bank_run is not None:
        return f"run {bank} -m PROVIDER/NAME {method.bank_run}".rstrip()
    skipping = any(parameter.name == "skip_small" for parameter in method.parameters)
    return f"build form {bank} --seeds 3{' --skip-small' if skipping else ''}"


def _tell_stopped(found: BuildResult | BuildForecast, *, quiet: bool = False) -> None:
    if found.stopped:
        code = (BudgetReached if found.over_budget else EndpointUnusable).code
        tell_error_line(code, found.stopped)


def _exit_code(found: BuildResult | BuildForecast, *, is_whole: bool) -> int:
    if found.interrupted:
        return 130
    if found.stopped:
        return (BudgetReached if found.over_budget else EndpointUnusable).exit_code
    return 0 if is_whole else 3


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
        "funnel": {**msgspec.structs.asdict(result.funnel), "left": result.funnel.left},
        "spent": result.spent,
        "stopped": result.stopped,
        "over_budget": result.over_budget,
        "interrupted": result.interrupted,
    }


# ``build KIND --dry-run``: what a build would take, and ``--show``: what it would send.


def _dry_run(
    session: Session,
    kind: str,
    inputs: Sequence[str],
    asked: dict[str, Any],
    self_evaluation: Sequence[SelfEvaluation],
    *,
    rows: int | None,
    show: int,
    as_json: bool,
    quiet: bool,
) -> int:
    """Shows the prompts of ``show`` rows, and the forecast by a pilot of ``rows``; returns the exit
    code."""
    from proofstone.build.banks import forecast_build, prompts_of_build
    from proofstone.session.progress import tell_interrupt, watching

    prompts = prompts_of_build(session, kind, inputs, show, **asked) if show else []
    if show and not as_json:
        print_text("\n".join(_prompt_lines(prompts)))
    if rows is None:
        if as_json:
            print_json({"prompts": prompts, "self_evaluation": self_evaluation})
        return 0
    spending = asked["budget"] = start_spending(session, asked["budget"])
    what = "additional cost, for the pilot's rows only"
    with beside_told(spending, what, quiet=quiet), watching(quiet=quiet) as watch:
        found = forecast_build(
            session, kind, inputs, **asked, pilot=rows, watch=watch, on_interrupt=tell_interrupt
        )
    if as_json:
        whole = {**msgspec.structs.asdict(found), "self_evaluation": self_evaluation}
        print_json({"prompts": prompts, "dry_run": whole} if prompts else whole)
    else:
        print_text("\n".join(_forecast_lines(found)))
    _tell_stopped(found, quiet=quiet)
    if found.failed:
        kinds = ", ".join(f"{kind} {n}" for kind, n in found.failed.items())
        failed = f"{sum(found.failed.values()):,} calls of the pilot failed: {kinds}"
        say(f"note: {failed}", quiet=quiet)
    return _exit_code(found, is_whole=found.is_known or not found.pilot)


def _forecast_lines(found: BuildForecast) -> Iterator[str]:
    """The result: a row a step, what the pilot took, how the ranges came about, the budget."""
    from proofstone.page.text import aligned, printable, without_empty
    from proofstone.run.forecast import budget_lines, price_notes, shown_range

    def row(name: str, models: str, rows: Range | None, amounts: Amounts) -> list[str]:
        first = [name, printable(models), "" if rows is None else shown_range(rows, "amount")]
        if amounts.requests is not None and not amounts.requests.high:
            return [*first, "", "", "", ""]
        return [
            *first,
            shown_range(amounts.requests, "amount"),
            shown_range(amounts.tokens, "amount"),
            shown_range(amounts.cost_usd, "usd"),
            shown_range(amounts.seconds, "time") if amounts.seconds else "",
        ]

    table = [
        ["", "", "rows", "calls", "tokens", "USD", "time"],
        *(row(s.name, ", ".join(s.models), s.rows, s.amounts) for s in found.steps),
        row("total", "", None, found.total),
    ]
    left = (0, 1) if any(step.models for step in found.steps) else (0,)
    yield from aligned(without_empty(table), left=left)
    names = ", ".join(found.left_out)
    if found.rows is not None:
        before = f", before {names}" if names else ""
        yield f"rows     {shown_range(found.rows, 'amount')} left in the end{before}"
    if not found.pilot and found.left:
        yield f"rows     {found.left:,} of {found.n_inputs:,} to process; no API calls were made"
        yield from _next_lines(found)
        n_pilot = max(2, min(20, found.n_inputs))
        yield f"what follows depends on the responses; measure it: --pilot {n_pilot}"
        return
    done = f"pilot    {found.sampled:,} of {found.pilot:,} rows through"
    if found.spent.calls and not found.simulated:
        yield f"{done}: {spent_text(found.spent)}"
        yield "         what was made of them is kept: the build takes it from there"
    else:
        yield f"{done}{'' if found.simulated else ', no API calls were made'}"
    if not found.left:
        yield "every row is through: nothing is left to do"
    elif not found.is_known:
        yield "too few rows of the pilot came through to say what the others take"
    else:
        yield (
            f"{found.confidence:.0%} prediction intervals, for {found.left:,} of "
            f"{found.n_inputs:,} rows that are left to do, what is dropped on the way counted"
        )
        if names:
            yield f"a sample says nothing of {names}: every row is taken to come through"
    yield from budget_lines(found.reach, "do")
    yield from price_notes(found.unpriced)


def _next_lines(found: BuildForecast) -> Iterator[str]:
    """The requests that can be sent now, a line per step."""
    for each in found.next_requests:
        responses = "unlimited" if each.completion_tokens is None else f"{each.completion_tokens:,}"
        yield (
            f"next     {each.step}: {each.requests:,} calls with up to "
            f"{each.prompt_tokens:,} prompt tokens and {responses} response tokens"
        )
    if found.next_of < found.n_inputs:
        yield f"         of the first {found.next_of:,} rows"


def _prompt_lines(prompts: Sequence[StepPrompt]) -> Iterator[str]:
    from proofstone.page.text import printable
    from proofstone.run.forecast import message_text

    told: set[tuple[str, str]] = set()
    for prompt in prompts:
        model = printable(prompt.to.model)
        yield f"=== {prompt.step}: {prompt.name}   row {short(prompt.row)}   to {model}"
        settings = msgspec.json.encode(prompt.to.settings).decode()
        line = f"--- settings of {model}: {settings}"
        line += f"; not sent: {', '.join(prompt.to.dropped)}" if prompt.to.dropped else ""
        if (prompt.step, line) not in told:
            told.add((prompt.step, line))
            yield line
        for message in prompt.messages:
            yield f"--- {message.role}"
            yield message_text(message)
        yield ""
