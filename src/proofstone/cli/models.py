"""``models list``, ``models check`` and ``models price``."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from proofstone.cli.egress import TerminalEgress
from proofstone.cli.options import json_option, read_list, workspace_option
from proofstone.cli.output import print_json, print_table, say

if TYPE_CHECKING:
    from proofstone.engines.models import Checked, Listed
    from proofstone.stages.catalogue import PriceRow

__all__ = ["models_command"]


@click.group("models")
def models_command() -> None:
    """List models, check that they answer, see what they cost.

    A model is named PROVIDER/NAME: openai/gpt-5.1, openrouter/qwen/qwen3-8b, local/FILE.gguf (runs
    here), sim/NAME?ability=0.7 (a simulated respondent). An own endpoint is an entry in
    proofstone.toml; so are a model's card and its price.
    """


@models_command.command("list")
@workspace_option
@json_option
def list_models(folder: Path | None, as_json: bool) -> None:
    """List models and providers: their cards, their endpoints, and whether their keys are set.

    The models are those of proofstone.toml and those once run here. A retired one is marked: its
    endpoint no longer served it when it was last checked; its results stay.
    """
    from proofstone.report.card_values import card_line  # noqa: PLC0415
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    with open_workspace(folder) as workspace:
        models = workspace.models()
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
    help="How often a text under judgement talks the model into a label: over a hundred attacks.",
)
@click.option("--limit", type=click.IntRange(min=1), help="With --as-judge: only so many attacks.")
@click.option("--budget", help="With --as-judge: spend at most this, as 5USD or 1Mtok, a model.")
@workspace_option
@json_option
def check_models(
    names: tuple[str, ...],
    as_judge: bool,
    limit: int | None,
    budget: str | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Ask endpoints whether models are there: their own list, and one tiny question each.

    NAMES are models; without any, all of proofstone.toml and all once run here. One that cannot be
    opened keeps no other from being asked. A model that was run here and is neither listed nor
    served any more is retired: its results stay and are marked. Exits with 5 if any fails.

    With --as-judge each of NAMES is asked to judge texts that try to talk it into a label, in
    English and Chinese, in plain words and hidden in Markdown, comments and the source document.
    """
    from proofstone.cli.judge_trials import show_judge_trials  # noqa: PLC0415
    from proofstone.errors import BadUsage  # noqa: PLC0415
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    if as_judge and not names:
        raise BadUsage("--as-judge needs models: name the ones that are to judge")
    if not as_judge and (limit or budget):
        raise BadUsage("--limit and --budget go with --as-judge")
    if as_judge:
        show_judge_trials(read_list(names), folder, limit=limit, budget=budget, as_json=as_json)
        return

    with open_workspace(folder) as workspace:
        workspace.ask_egress = TerminalEgress()
        checks = workspace.check_models(read_list(names))
    if as_json:
        print_json(checks)
    else:
        print_table([_check_row(check) for check in checks])
        for check in checks:
            if not check.usable and check.advice:
                click.echo(f"{check.name}: {check.advice}")
        failed = Counter(_state(check) for check in checks)
        say(", ".join(f"{n} {state}" for state, n in failed.items()))
    if not all(check.usable for check in checks):
        click.get_current_context().exit(5)


@models_command.command("price")
@click.argument("names", nargs=-1)
@workspace_option
@json_option
def price_models(names: tuple[str, ...], folder: Path | None, as_json: bool) -> None:
    """Show what models cost, from when the price is, and which models lack one.

    NAMES are models; without any, all of proofstone.toml and all once run here. Prices are US
    dollars per million tokens. A missing one comes with the line to add to proofstone.toml.
    """
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    with open_workspace(folder) as workspace:
        rows = workspace.prices(read_list(names))
    if as_json:
        print_json(rows)
        return
    print_table([_PRICE_HEAD, *(_price_cells(row) for row in rows if row.price or row.free)])
    for row in rows:
        if row.is_old and row.price is not None:
            click.echo(f"! {row.name}: {row.age_days} days old; see {row.price.source}")
    missing = [row for row in rows if row.line]
    if missing:
        click.echo(
            f"no price is known of {len(missing)}; add to {missing[0].file}, figures filled:"
        )
    for row in missing:
        there = f"   # stands on line {row.table_at}: add below it" if row.table_at else ""
        click.echo(f"\n{row.table}{there}\n{row.line}")


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
    return "RETIRED" if check.retired else "FAILED"


def _check_row(check: Checked) -> tuple[str, ...]:
    if not check.usable:
        found = f"{check.kind}: {check.detail}".removesuffix(": ")
        return (_state(check), check.name, check.listed, "", found)
    return ("ok", check.name, check.listed, f"{check.latency_s:.2f} s", check.served_model)


def _mark(listed: Listed) -> str:
    """``  retired (2026-11-21)`` behind the name of a retired model."""
    if listed.checked is None or listed.checked.state != "retired":
        return ""
    day = datetime.fromtimestamp(listed.checked.checked_at, UTC).strftime("%Y-%m-%d")
    return f"  retired ({day})"
