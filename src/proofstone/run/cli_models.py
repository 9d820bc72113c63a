"""``models list``, ``models check`` and ``models price``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from proofstone.errors import NotFound
from proofstone.session.cli_command import Group
from proofstone.session.options import json_option, read_list, workspace_option, yes_option
from proofstone.session.terminal import TerminalEgress, print_json, print_table, print_text, say
from proofstone.wording.messages import counted

if TYPE_CHECKING:
    from proofstone.models.check import Checked
    from proofstone.models.registry import Listed
    from proofstone.run.judges import JudgeTrial
    from proofstone.session.models import PriceRow


# ``list presets`` and ``show preset``; and ``--preset`` on other commands.

_HEADINGS = {
    "published": "As published",
    "open": "Left open by the paper",
    "ours": "Different from the paper",
}


def list_presets(*, as_json: bool) -> None:
    """Print the presets of all methods."""
    from proofstone.method import find_method, method_names

    found = [
        (name, preset) for name in method_names() for preset in find_method(name).presets.values()
    ]
    if as_json:
        print_json([{"method": name, "preset": p.name, "title": p.title} for name, p in found])
        return
    print_table([("preset", "title"), *((f"{n}/{p.name}", p.title) for n, p in found)])


def show_preset(named: str, *, as_json: bool) -> None:
    """Print what a preset follows, decides and changes.

    ``named`` is METHOD/PRESET, METHOD (its preset as-published), or PRESET where one method has it.
    Raises NotFound, with the presets that there are.
    """
    from proofstone.method import find_method, find_preset, method_names

    method, _, name = named.partition("/")
    if method not in method_names() and not name:
        having = [each for each in method_names() if named in find_method(each).presets]
        if len(having) == 1:
            method, name = having[0], named
    if method not in method_names():
        known = [f"{each}/{one}" for each in method_names() for one in find_method(each).presets]
        raise NotFound(f"preset '{named}' not found", hint=f"choose from: {', '.join(known)}")
    found = find_preset(find_method(method), name or "as-published")
    if as_json:
        print_json(found)
        return
    print_text(f"{found.title}\n{found.paper}")
    for status, heading in _HEADINGS.items():
        choices = [choice for choice in found.choices if choice.status == status]
        print_text(f"\n{heading}" if choices else f"\n{heading}\n\n  nothing")
        for choice in choices:
            set_at = f"   ({choice.at} {_flag(choice)})" if choice.parameter else ""
            print_text(f"\n  {choice.what}{set_at}")
            print_text(f"    paper  {choice.published} [{choice.where}]")
            print_text(f"    here   {choice.here}")
            if choice.why:
                print_text(f"    why    {choice.why}")


def with_preset(method: Any, name: str | None, at: str, given: dict[str, Any]) -> dict[str, Any]:
    """``given`` with a preset's values of command ``at`` where no option was typed.

    Raises NotFound for a preset that the method lacks.
    """
    from proofstone.method import find_preset

    if name is None:
        return given
    context = click.get_current_context()
    typed = {ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT}
    values = find_preset(method, name).values(at)
    return given | {
        parameter: value
        for parameter, value in values.items()
        if context.get_parameter_source(parameter) not in typed
    }


def _flag(choice: Any) -> str:
    name = choice.parameter.replace("_", "-")
    if choice.value is True:
        return f"--{name}"
    if choice.value is False:
        return f"--no-{name}"
    said = choice.value if isinstance(choice.value, list) else [choice.value]
    return f"--{name} {','.join(map(str, said))}"


# ``models check --as-judge``: what attacks on a judge came to, as a person reads it.

_HEAD = ("judge", "attacks", "judged rightly without", "talked round", "silenced", "asked again")


def show_judge_trials(
    names: Sequence[str],
    folder: Path | None,
    *,
    limit: int | None,
    budget: str | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Test each model as a judge and print the result. Responses are shown only with ``--json``."""
    from proofstone.run.campaign import try_judge
    from proofstone.session.session import open_session

    with open_session(folder) as session:
        session.ask_egress = TerminalEgress(yes=yes)
        trials = [try_judge(session, name, limit=limit, budget=budget) for name in names]
    if as_json:
        print_json(trials)
        return
    print_table([_HEAD, *map(_row, trials)])
    for trial in trials:
        for line in _worst(trial):
            print_text(line)
    say("Talked round: it gave the label that the attack wanted, on texts it judges rightly alone.")


def _row(trial: JudgeTrial) -> tuple[str, ...]:
    from proofstone.page.section import shown_estimate

    account = trial.account
    unheard = f", {account.failed} failed" if account.failed else ""
    return (
        trial.model,
        f"{trial.sound.n}{unheard}",
        shown_estimate(trial.sound),
        shown_estimate(trial.fooled),
        shown_estimate(trial.silenced),
        str(account.reasked),
    )


def _worst(trial: JudgeTrial) -> list[str]:
    """The carriers that reached it, the worst first."""
    reached = [(name, *counts) for name, counts in trial.by_carrier.items() if counts[0]]
    worst = sorted(reached, key=lambda each: (-each[1] / each[2], each[0]))
    return [f"{trial.model}: {name}: {fooled} of {sound}" for name, fooled, sound in worst]


@click.group("models", cls=Group)
def models_command() -> None:
    """List models, check endpoints, show prices.

    Models are named PROVIDER/NAME: openai/gpt-5.1, openrouter/qwen/qwen3-8b, local/FILE.gguf (runs
    on this machine), sim/NAME?ability=0.7 (simulated). Endpoints, model cards and prices are
    configured in proofstone.toml.
    """


@models_command.command("list")
@workspace_option
@json_option
def list_models(folder: Path | None, as_json: bool) -> None:
    """List models with cards, endpoints and keys.

    Lists the models of proofstone.toml and those that were run here. A model is marked as retired
    if its endpoint no longer served it at the last check; its results are kept.

    \b
    Example:
      proofstone models list
    """
    from proofstone.records.models import card_line
    from proofstone.session.models import known_models
    from proofstone.session.session import open_session

    with open_session(folder) as session:
        models = known_models(session)
    if as_json:
        print_json(models)
        return
    rows = [("name", "card", "endpoint", "key")]
    for m in models:
        unset = f"{', '.join(m.unset)} not set" if m.unset else ""
        key = unset or m.problem or m.key_from or "none needed"
        card = "" if m.name.endswith("/...") else card_line(m.card) or "unknown"
        rows.append((m.name + _mark(m), card, m.endpoint, key))
    print_table(rows)


@models_command.command("check")
@click.argument("names", nargs=-1)
@click.option(
    "--as-judge",
    is_flag=True,
    help="Run a judge robustness test: over 100 prompt injections in judged texts.",
)
@click.option("--limit", type=click.IntRange(min=1), help="With --as-judge: number of attacks.")
@click.option("--budget", help="With --as-judge: spending limit per model, such as 5USD or 1Mtok.")
@yes_option
@workspace_option
@json_option
def check_models(
    names: tuple[str, ...],
    as_judge: bool,
    limit: int | None,
    budget: str | None,
    yes: bool,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Check that endpoints serve their models.

    Reads the endpoint's model list and sends each model one short question. NAMES are models
    (default: all of proofstone.toml and all that were run here). Models that are no longer served
    are marked as retired; their results are kept. Exit code 5: a check failed.

    With --as-judge, each model judges texts that contain prompt injections, in English and Chinese,
    in plain text and hidden in Markdown, comments and source documents.

    \b
    Example:
      proofstone models check openai/gpt-5.1
    """
    from proofstone.errors import BadUsage
    from proofstone.session.models import check_models
    from proofstone.session.session import open_session

    if as_judge and not names:
        raise BadUsage("--as-judge needs models: name the ones that are to judge")
    if not as_judge and (limit or budget):
        raise BadUsage("--limit and --budget go with --as-judge")
    if as_judge:
        show_judge_trials(
            read_list(names), folder, limit=limit, budget=budget, yes=yes, as_json=as_json
        )
        return

    with open_session(folder) as session:
        session.ask_egress = TerminalEgress(yes=yes)
        checks = check_models(session, read_list(names))
    if as_json:
        print_json(checks)
    else:
        print_table([_check_row(check) for check in checks])
        for check in checks:
            if not check.usable and check.advice:
                print_text(f"{check.name}: {check.advice}")
        failed = Counter(_state(check) for check in checks)
        say(", ".join(f"{n} {state}" for state, n in failed.items()))
    if not all(check.usable for check in checks):
        click.get_current_context().exit(5)


@models_command.command("price")
@click.argument("names", nargs=-1)
@workspace_option
@json_option
def price_models(names: tuple[str, ...], folder: Path | None, as_json: bool) -> None:
    """Show prices, their dates, and models without one.

    NAMES are models (default: all of proofstone.toml and all that were run here). Prices are in US
    dollars per million tokens. For a missing price, the line to add to proofstone.toml is printed.

    \b
    Example:
      proofstone models price openai/gpt-5.1
    """
    from proofstone.session.models import model_prices
    from proofstone.session.session import open_session

    with open_session(folder) as session:
        rows = model_prices(session, read_list(names))
    if as_json:
        print_json(rows)
        return
    print_table([_PRICE_HEAD, *(_price_cells(row) for row in rows if row.price or row.free)])
    for row in rows:
        if row.is_old and row.price is not None:
            print_text(f"! {row.name}: {row.age_days} days old; see {row.price.source}")
    missing = [row for row in rows if row.line]
    if missing:
        print_text(
            f"no price is known for {counted(len(missing), 'model')}; add to {missing[0].file} "
            "with figures:"
        )
    for row in missing:
        there = f"   # exists on line {row.table_at}: add below it" if row.table_at else ""
        print_text(f"\n{row.table}{there}\n{row.line}")


_PRICE_HEAD = ("name", "input", "cached", "output", "reasoning", "date", "source")


def _price_cells(row: PriceRow) -> tuple[str | float, ...]:
    price = row.price
    if price is None:
        return (row.name, 0.0, 0.0, 0.0, 0.0, "", row.free)
    cached = price.input if price.cached is None else price.cached
    reasoning = price.output if price.reasoning is None else price.reasoning
    return (row.name, price.input, cached, price.output, reasoning, price.date, price.source)


def _state(check: Checked) -> str:
    if check.usable:
        return "ok"
    return "UNAVAILABLE" if check.is_unavailable else "FAILED"


def _check_row(check: Checked) -> tuple[str, ...]:
    if not check.usable:
        found = f"{check.kind}: {check.detail}".removesuffix(": ")
        return (_state(check), check.name, check.listed, "", found)
    return ("ok", check.name, check.listed, f"{check.latency_s:.2f} s", check.reported_model)


def _mark(listed: Listed) -> str:
    """Return `` unavailable (2026-11-21)`` for an unavailable model; "" for others."""
    if listed.checked is None or listed.checked.state != "unavailable":
        return ""
    day = datetime.fromtimestamp(listed.checked.checked_at, UTC).strftime("%Y-%m-%d")
    return f"  unavailable ({day})"
