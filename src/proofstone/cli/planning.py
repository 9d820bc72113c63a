"""``plan``: the analysis, fixed before the run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from proofstone.cli.options import json_option, workspace_option
from proofstone.cli.output import print_json, say
from proofstone.identity import short

if TYPE_CHECKING:
    from proofstone.engines.stats import Estimand

__all__ = ["plan_command"]


@click.command("plan")
@click.argument("target")
@click.option("--measure", default="", metavar="NAME", help="The primary measure; else the usual.")
@click.option(
    "--compare",
    "comparisons",
    nargs=2,
    multiple=True,
    metavar="MODEL MODEL",
    help="A comparison that is planned; several may be.",
)
@click.option(
    "--exclude", "exclusions", multiple=True, metavar="TEXT", help="What is left out, and when."
)
@click.option("--items", type=click.IntRange(1), help="How many items; else all of the target.")
@click.option("--samples", type=click.IntRange(1), default=1, show_default=True)
@click.option(
    "--stop", metavar="TEXT", help="When asking ends; else once, when every reply is there."
)
@click.option(
    "--level",
    type=click.Choice(["sample", "subfield", "field", "discipline"]),
    default="sample",
    show_default=True,
)
@click.option(
    "--estimand", type=click.Choice(["knowledge", "bank"]), default="knowledge", show_default=True
)
@click.option("--confidence", type=click.FloatRange(0.5, 0.999), default=0.95, show_default=True)
@click.option("--power", type=click.FloatRange(0.5, 0.999), default=0.8, show_default=True)
@click.option("--accuracy", type=float, default=0.5, show_default=True, help="Assumed, of both.")
@click.option(
    "--repeatability",
    type=float,
    default=0.7,
    show_default=True,
    help="Assumed: the share of an answer's variance that lies between items.",
)
@click.option(
    "--correlation",
    type=float,
    default=0.5,
    show_default=True,
    help="Assumed, of two models over items.",
)
@click.option(
    "--design-effect",
    type=float,
    default=1.0,
    show_default=True,
    help="Assumed: how many times shared facts multiply the variance.",
)
@workspace_option
@json_option
def plan_command(
    target: str,
    measure: str,
    comparisons: tuple[tuple[str, str], ...],
    exclusions: tuple[str, ...],
    items: int | None,
    samples: int,
    stop: str | None,
    level: str,
    estimand: Estimand,
    confidence: float,
    power: float,
    accuracy: float,
    repeatability: float,
    correlation: float,
    design_effect: float,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Fix the analysis of a form's or bank's runs, before they are run.

    Primary measure, comparisons, exclusions, sample size and stopping rule are frozen with a hash
    and the time, and with the smallest difference that they can find under what is assumed. Runs
    on TARGET name the plan; leaderboards and pages say what was planned, show each planned
    comparison, and mark everything else exploratory. A plan made after a run's first reply is
    marked so. Nothing is changed in place: a second plan holds for runs begun after it, and 'list
    plan' shows all.
    """
    from proofstone.engines.stats import Assumed  # noqa: PLC0415 - numpy
    from proofstone.stages.looking import look_at  # noqa: PLC0415
    from proofstone.stages.planned import n_begun  # noqa: PLC0415
    from proofstone.stages.plans import ONCE, PlanAsked  # noqa: PLC0415
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    asked = PlanAsked(
        measure=measure,
        comparisons=comparisons,
        exclusions=exclusions,
        n_items=items,
        samples=samples,
        stopping=stop or ONCE,
        estimand=estimand,
        level=level,
        confidence=confidence,
        power=power,
        assumed=Assumed(
            accuracy=accuracy, repeatability=repeatability, correlation=correlation,
            design_effect=design_effect,
        ),
    )  # fmt: skip
    with open_workspace(folder) as workspace:
        plan = workspace.plan(target, asked)
        shown = str(look_at(workspace.store, workspace.find(f"plan:{plan.id.hex()}")))
        late = n_begun(workspace.store, plan)
    if as_json:
        print_json(plan)
    else:
        click.echo(shown)
    if late:
        say(
            f"{late} of its runs had responses already; for these runs the plan is post hoc, not a "
            "preregistration"
        )
    say(f"next: proofstone run {target} -m MODEL; look: proofstone show plan:{short(plan.id)}")
