"""What ratings and roles reward, as sections, and the section of a pilot."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from proofstone.mechanism.game_file import RatingGame, RolesGame, Sweep
from proofstone.mechanism.leniency import Choice, study_leniency
from proofstone.mechanism.pilot import Calibration, Range
from proofstone.mechanism.roles import (
    CAREFUL,
    ROLES,
    Profile,
    care_premiums,
    payoffs,
    pure_equilibria,
    varied,
)
from proofstone.page.section import (
    Cell,
    Column,
    Figure,
    Mark,
    Section,
    Table,
    shown_interval,
    signed_points,
)
from proofstone.wording.messages import listed, paragraph, say, word


def study_ratings(asked: RatingGame) -> Iterator[Section]:
    """Yield the section of a scheme that pays the higher rating. Raises as ``study_leniency``."""
    found = study_leniency(asked.game)
    low, high = found.effort_gain
    table = Table(
        title=say("Best responses"),
        columns=(
            Column(key="against", name=say("against")),
            Column(key="best", name=say("the best choice")),
        ),
        rows=tuple((_choice(other), _choice(best)) for other, best in found.best_response),
        sorts=False,
    )
    yield Section(
        name="leniency",
        title=say("Effects of a bonus for the higher rating"),
        finding=say(
            "Raising a rating by {step:.3g} changes the chance of the bonus by {lenient} points; "
            "high effort without leniency changes it by {low} points against low effort and {high} "
            "against high effort.",
            step=found.step, lenient=signed_points(found.leniency_gain),
            low=signed_points(low), high=signed_points(high),
        ),
        plain=_equilibria_words(found.equilibria),
        tables=(table,),
        how=say(
            "Both reviewers rate the same item. Choices: low or high effort, and leniency at "
            "{n} levels from 0 to {most:.3g}; symmetric equilibria in pure strategies only. The "
            "model is ours.",
            n=asked.game.levels, most=asked.game.most,
        ),
    )  # fmt: skip


def _choice(choice: Choice) -> str:
    effort = word("low effort" if choice.effort == "low" else "high effort")
    return say("{effort}, leniency {leniency:.3g}", effort=effort, leniency=choice.leniency)


def _equilibria_words(found: Sequence[Choice]) -> str:
    if not found:
        return say("No symmetric equilibrium in pure strategies.")
    return say("Symmetric equilibria: {choices}.", choices="; ".join(map(_choice, found)))


def study_roles(asked: RolesGame) -> Iterator[Section]:
    """Yield the section of a game of roles. Raises as ``payoffs``."""
    table = payoffs(asked.game)
    found = pure_equilibria(table)
    unit = asked.about.unit
    pays = Table(
        title=say("Expected pay less the cost of care"),
        columns=(
            Column(key="writer", name=word("writer")),
            Column(key="evidence", name=word("evidence verifier")),
            Column(key="answer", name=word("answer verifier")),
            *(
                Column(key=f"pay_{place}", name=say("{role} ({unit})", role=word(role), unit=unit))
                for place, role in enumerate(ROLES)
            ),
            Column(key="equilibrium", name=say("equilibrium")),
        ),
        rows=tuple(
            (
                *map(_care, profile), *(float(each) for each in table[profile]),
                word("yes" if profile in found else "no"),
            )
            for profile in product((1, 0), repeat=3)
        ),
        sorts=False,
    )  # fmt: skip
    sweeps = tuple(asked.sweeps)
    yield Section(
        name="roles",
        title=say("Where careful work is an equilibrium"),
        finding=_roles_finding(found),
        plain=_premium_words(care_premiums(table), unit),
        tables=(pays,),
        figures=tuple(_sweep_figure(asked, sweep) for sweep in sweeps),
        how=say(
            "Writer: per question written; verifiers: per question that reaches them. Equilibria "
            "in pure strategies; others are not searched for."
        ),
    )


def _care(care: int) -> str:
    return word("careful" if care else "careless")


def _roles_finding(found: Sequence[Profile]) -> str:
    if CAREFUL in found:
        if len(found) == 1:
            return say(
                "Careful work of all three roles is the only equilibrium in pure strategies."
            )
        return say(
            "Careful work of all three roles is one of {n} equilibria in pure strategies.",
            n=len(found),
        )
    if not found:
        return say("There is no equilibrium in pure strategies.")
    profiles = "; ".join(
        listed([f"{word(role)}: {_care(care)}" for role, care in zip(ROLES, profile, strict=True)])
        for profile in found
    )
    return paragraph(
        say("Careful work of all three roles is not an equilibrium."),
        say("Equilibria in pure strategies: {profiles}.", profiles=profiles),
    )


def _premium_words(premiums: Sequence[float], unit: str) -> str:
    shown = [
        say("{role} {premium:+z.2f} {unit}", role=word(role), premium=premium, unit=unit)
        for role, premium in zip(ROLES, premiums, strict=True)
    ]
    return say("Extra pay of care if the others are careful: {premiums}.", premiums=listed(shown))


def _sweep_figure(asked: RolesGame, sweep: Sweep) -> Figure:
    """The least premium of care over two values; empty cells: care of all is no equilibrium."""
    marks = []
    for y in np.linspace(*sweep.y_range, sweep.steps)[::-1]:
        for x in np.linspace(*sweep.x_range, sweep.steps):
            game = varied(asked.game, {sweep.x: float(x), sweep.y: float(y)})
            found = pure_equilibria(payoffs(game))
            text = str(len(found)) if CAREFUL in found else ""
            share = 1.0 / len(found) if CAREFUL in found else 0.0
            marks.append(Mark(row=f"{y:.2f}", column=f"{x:.2f}", value=share, text=text))
    return Figure(
        name=f"roles-{sweep.x}-{sweep.y}",
        kind="matrix",
        title=say("Where careful work is an equilibrium"),
        subtitle=say(
            "columns: {x}; rows: {y}; a number: care of all three is an equilibrium, and one of so "
            "many; empty: not",
            x=_name(sweep.x),
            y=_name(sweep.y),
        ),
        marks=tuple(marks),
        column_axis=_name(sweep.x),
        value_axis=say("share of careful work among these equilibria (%)"),
    )


def _name(value: str) -> str:
    return word(_NAMES.get(value, value))


_NAMES = {
    "accuracy": "accuracy of the evidence verifier",
    "guess": "chance of a blind guess",
    "survives": "share of questions that pass the models",
    "sufficient": "share of sufficient evidence",
    "in_time": "share answered in time",
    "late": "share answered late",
}


def pilot_section(found: Sequence[Calibration], by_bar: Sequence[Calibration]) -> Section:
    """Return the section of a pilot, by group, with the sensitivity to the bar."""
    return Section(
        name="pilot",
        title=say("Calibration by the pilot"),
        finding=" ".join(map(_pilot_words, found)),
        tables=(
            _pilot_table(say("Calibration"), found),
            *([_pilot_table(say("Calibration by bar"), by_bar)] if by_bar else []),
        ),
        how=say(
            "Percentile bootstrap over reviewers. The intervals of the smaller gain and of the "
            "bonus hold if those of all their parts do. A bonus without an upper end: the data "
            "do not exclude that effort gains nothing."
        ),
    )


def _pilot_words(one: Calibration) -> str:
    group = one.group or say("All reviews")
    if one.identified == "nothing":
        return say(
            "{group}: not identified; the pilot lacks {why}.", group=group, why=word(one.why)
        )
    if one.identified == "bounds":
        return say(
            "{group}: pay was assigned, effort was not. If unpaid reviewers work with low effort, "
            "the gain against low effort is at least {low} points {interval}; the bonus is not "
            "identified.",
            group=group, low=signed_points(one.gain_low.value), interval=_interval(one.gain_low),
        )  # fmt: skip
    gain = say(
        "{group}: high effort changes the chance of the bonus by at least {gain} points "
        "{interval}.",
        group=group, gain=signed_points(one.least_gain.value), interval=_interval(one.least_gain),
    )  # fmt: skip
    if one.identified == "gains":
        return paragraph(gain, say("Without costs of reviews the bonus is not identified."))
    if not math.isfinite(one.bonus.value):
        return paragraph(gain, say("No finite bonus follows."))
    return paragraph(
        gain,
        say("Cost over gain: a bonus of {bonus:.3g} {interval}.", bonus=one.bonus.value,
            interval=_amounts(one.bonus)),
    )  # fmt: skip


def _interval(found: Range) -> str:
    if math.isnan(found.low):
        return say("(no interval: fewer than 10 reviewers)")
    return shown_interval(found.low, found.high)


def _amounts(found: Range) -> str:
    if math.isnan(found.low):
        return say("(no interval: fewer than 10 reviewers)")
    high = f"{found.high:.3g}" if math.isfinite(found.high) else say("no upper end")
    return f"[{found.low:.3g}, {high}]"


def _pilot_table(title: str, found: Sequence[Calibration]) -> Table:
    def share(each: Range) -> Cell:
        return None if math.isnan(each.value) else f"{signed_points(each.value)} {_interval(each)}"

    def amount(each: Range) -> Cell:
        if math.isnan(each.value):
            return None
        value = f"{each.value:.3g}" if math.isfinite(each.value) else say("none")
        return f"{value} {_amounts(each)}"

    return Table(
        title=title,
        columns=(
            Column(key="group", name=say("group")),
            Column(key="bar", name=say("bar"), digits=3),
            Column(key="n_low", name=say("reviews, low effort or unpaid")),
            Column(key="n_high", name=say("reviews, high effort or paid")),
            Column(key="gain_low", name=say("gain against low effort"), unit="mixed"),
            Column(key="gain_high", name=say("gain against high effort"), unit="mixed"),
            Column(key="least_gain", name=say("smaller gain"), unit="mixed"),
            Column(key="cost", name=say("cost of effort"), unit="mixed"),
            Column(key="bonus", name=say("bonus"), unit="mixed"),
        ),
        rows=tuple(
            (
                one.group or say("all"), one.bar, one.n_low, one.n_high, share(one.gain_low),
                share(one.gain_high), share(one.least_gain), amount(one.cost), amount(one.bonus),
            )
            for one in found
        ),
        sorts=False,
    )  # fmt: skip
