"""What a tournament rewards, as sections: gains of effort, equilibria, bonuses, and the bar."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import structs

from proofstone.errors import BadUsage
from proofstone.mechanism.bonus import (
    dominant_bonus,
    flat_rate,
    least_rate_bonus,
    least_saving,
    mean_quality_bonus,
    rate_bonus,
    spent_per_item,
)
from proofstone.mechanism.equilibria import Equilibrium, all_equilibria
from proofstone.mechanism.game_file import TournamentGame
from proofstone.mechanism.tournament import (
    Chances,
    Tournament,
    chances,
    dominance,
    score_cdf,
    simulate,
)
from proofstone.page.section import (
    Column,
    Figure,
    Level,
    Mark,
    Section,
    Table,
    points,
    signed_points,
)
from proofstone.wording.messages import counted, paragraph, say, word

_PAIRS = 200_000
_BONUSES, _BARS = 25, 25


def study_tournament(asked: TournamentGame, *, seed: int) -> Iterator[Section]:
    """Yield the sections of a tournament. Raises BadUsage if scores may tie."""
    found = chances(asked.game)
    held = all_equilibria(found, asked.bonus, asked.cost)
    yield _effort(asked, found, seed)
    yield _rates(asked, found, held)
    yield _bonuses(asked, found)
    yield _bars(asked)


def _effort(asked: TournamentGame, found: Chances, seed: int) -> Section:
    """What high effort adds to the chance of the bonus, and the assumptions behind it."""
    simulated = simulate(asked.game, n=_PAIRS, seed=seed)
    computed = (
        found.low_low, found.low_high, found.high_low, found.high_high,
        found.reach_low, found.reach_high,
    )  # fmt: skip
    names = (
        say("low effort wins against low effort"), say("low effort wins against high effort"),
        say("high effort wins against low effort"), say("high effort wins against high effort"),
        say("low effort reaches the bar"), say("high effort reaches the bar"),
    )  # fmt: skip
    table = Table(
        title=say("Probabilities"),
        columns=(
            Column(key="event", name=say("event")),
            Column(key="computed", name=say("computed"), unit="probability", digits=4),
            Column(key="simulated", name=say("simulated"), unit="probability", digits=4),
            Column(key="error", name=say("standard error"), unit="probability", digits=4),
        ),
        rows=tuple(zip(names, computed, simulated.shares, simulated.errors, strict=True)),
        sorts=False,
    )
    return Section(
        name="effort",
        title=say("Effect of effort on the chance of the bonus"),
        finding=_effort_finding(found),
        plain=_dominance_words(asked.game),
        tables=(table,),
        how=say(
            "Computed by quadrature (numerical error at most {error:.0e}), and simulated with "
            "{n:,} pairs for each event, seed {seed}.",
            error=max(found.error, 1e-12), n=_PAIRS, seed=seed,
        ),
    )  # fmt: skip


def _effort_finding(found: Chances) -> str:
    told = say(
        "High effort changes the chance of the bonus by {low} points against low effort and by "
        "{high} points against high effort.",
        low=signed_points(found.gain_low), high=signed_points(found.gain_high),
    )  # fmt: skip
    if found.least_gain > found.error + 1e-9:
        return told
    never = say(
        "The smaller change is not above 0: no bonus makes high effort best against both, if it "
        "costs anything."
    )
    return paragraph(told, never)


def _dominance_words(game: Tournament) -> str:
    told = dominance(game.low, game.high)
    if not told.holds:
        return say(
            "The assumption that effort raises quality throughout does not hold: at the quality "
            "{at:.3g}, the share of reviews at or below it is {excess} points larger with high "
            "effort.",
            at=told.at, excess=points(told.excess),
        )  # fmt: skip
    if not told.is_strict:
        return say("Both efforts have the same distribution of quality.")
    return say("Effort raises quality throughout (first-order stochastic dominance).")


def _rates(asked: TournamentGame, found: Chances, held: Sequence[Equilibrium]) -> Section:
    """Equilibria at the stated bonus, and rates of high effort by bonus."""
    bound = float(asked.cost.cdf(np.array([asked.bonus * found.least_gain]))[0])
    table = Table(
        title=say("Equilibria at the stated bonus"),
        columns=(
            Column(key="first", name=say("one reviewer: rate of high effort"), unit="share"),
            Column(key="second", name=say("the other"), unit="share"),
            Column(key="stable", name=say("stable")),
            Column(key="spent", name=say("bonus paid for an item"), digits=3),
        ),
        rows=tuple(
            (
                each.first, each.second, word("yes" if each.is_stable else "no"),
                spent_per_item(found, asked.bonus, each.first) if each.is_symmetric else None,
            )
            for each in held
        ),
        sorts=False,
    )  # fmt: skip
    return Section(
        name="equilibria",
        title=say("How many reviewers work with high effort"),
        finding=_rates_finding(asked, found, held),
        plain=say(
            "Without a bonus the rate is {flat} %; the sufficient condition alone promises at "
            "least {bound} % at this bonus.",
            flat=points(flat_rate(asked.cost)), bound=points(bound),
        ),
        tables=(table,),
        figures=tuple(_rate_figure(asked, found)),
        how=say(
            "Equilibria are found on a grid of 4,001 rates; two closer than 1/4,000, or a curve "
            "that touches without crossing, may be missed. Stable: best responses return to it "
            "after a small change."
        ),
    )  # fmt: skip


def _rates_finding(asked: TournamentGame, found: Chances, held: Sequence[Equilibrium]) -> str:
    alike = [each for each in held if each.is_symmetric]
    unlike = len(held) - len(alike)
    said = {"bonus": f"{asked.bonus:g}", "unit": asked.about.unit}
    if not alike:
        first = say("At a bonus of {bonus} {unit}, no equilibrium treats both alike.", **said)
    elif len(alike) == 1:
        first = say(
            "At a bonus of {bonus} {unit}, {rate} % of reviews are made with high effort in "
            "equilibrium.",
            rate=points(alike[0].first), **said,
        )  # fmt: skip
    else:
        first = say(
            "At a bonus of {bonus} {unit} there are {n} symmetric equilibria, with high effort in "
            "{rates} % of reviews.",
            n=len(alike), rates=", ".join(points(each.first) for each in alike), **said,
        )  # fmt: skip
    if not unlike:
        return first
    more = counted(unlike, "equilibrium", "equilibria")
    return paragraph(first, say("{more} in which reviewers differ.", more=more))


def _rate_figure(asked: TournamentGame, found: Chances) -> Iterator[Figure]:
    top = _most_shown(asked, found)
    bonuses = np.linspace(0.0, top, _BONUSES)
    marks = []
    for bonus in bonuses:
        alike = [e.first for e in all_equilibria(found, float(bonus), asked.cost) if e.is_symmetric]
        if not alike:
            return
        ends = {say("lowest equilibrium"): min(alike)}
        if max(alike) - min(alike) > 1e-6:
            ends[say("highest equilibrium")] = max(alike)
        bound = float(asked.cost.cdf(np.array([bonus * found.least_gain]))[0])
        ends[say("sufficient condition")] = bound
        marks += [Mark(row=row, x=float(bonus), value=rate) for row, rate in ends.items()]
    yield Figure(
        name="rate-by-bonus",
        kind="curves",
        title=say("High effort by bonus"),
        subtitle=say("rate of high effort in symmetric equilibria, and what is promised at least"),
        marks=tuple(marks),
        levels=(Level(value=asked.rate, text=say("target {rate} %", rate=points(asked.rate))),),
        x_axis=say("bonus ({unit})", unit=asked.about.unit) if asked.about.unit else say("bonus"),
        x_unit="number",
        value_axis=say("reviews with high effort (%)"),
    )


def _most_shown(asked: TournamentGame, found: Chances) -> float:
    """The end of the bonus axis: beyond the stated bonus, and what the target needs if known."""
    enough = rate_bonus(found, asked.cost, asked.rate)
    return max(2.0 * asked.bonus, 1.25 * enough if math.isfinite(enough) else 0.0, 1.0)


def _bonuses(asked: TournamentGame, found: Chances) -> Section:
    """Bonuses that goals need (corollary 1), with what they cost."""
    saving = least_saving(asked.whitelist)
    rows: list[tuple[str, float | None, float | None, float | None]] = []

    def add(goal: str, sufficient: float, least: float | None, rate: float) -> None:
        spent = spent_per_item(found, sufficient, rate) if math.isfinite(sufficient) else None
        rows.append((goal, _finite(sufficient), _finite(least), spent))

    typical = float(asked.cost.quantile(np.array([0.5]))[0])
    add(
        say("high effort is best for all reviewers with a cost up to the median, {cost:.3g}",
            cost=typical),
        dominant_bonus(found, typical, saving), None, 0.5,
    )  # fmt: skip
    add(
        say("{rate} % of reviews with high effort", rate=points(asked.rate)),
        rate_bonus(found, asked.cost, asked.rate, saving),
        least_rate_bonus(found, asked.cost, asked.rate) if not saving else None,
        asked.rate,
    )
    if asked.gain:
        try:
            enough = mean_quality_bonus(asked.game, found, asked.cost, asked.gain, saving)
        except BadUsage as reason:
            rows.append((f"{say('mean quality + {gain:.3g}', gain=asked.gain)}: {reason.message}",
                         None, None, None))  # fmt: skip
        else:
            difference = asked.game.high.mean() - asked.game.low.mean()
            rate = flat_rate(asked.cost) + asked.gain / difference
            add(say("mean quality + {gain:.3g}", gain=asked.gain), enough, None, rate)
    table = Table(
        title=say("Bonuses for goals"),
        columns=(
            Column(key="goal", name=say("goal")),
            Column(key="sufficient", name=say("sufficient bonus"), digits=3),
            Column(key="least", name=say("smallest bonus"), digits=3,
                   help=say("at which every symmetric equilibrium reaches the goal")),
            Column(key="spent", name=say("paid for an item"), digits=3,
                   help=say("expected, at the sufficient bonus, if the goal is just reached")),
        ),
        rows=tuple(rows),
        sorts=False,
    )  # fmt: skip
    whitelist = (
        say("A whitelist takes {saving:.3g} off the cost of effort at least.", saving=saving)
        if asked.whitelist
        else ""
    )
    return Section(
        name="bonuses",
        title=say("Bonuses for stated goals"),
        finding=_bonus_finding(asked, found, saving),
        plain=whitelist,
        tables=(table,),
        how=say(
            "Sufficient: cost of effort over the smaller gain (Jin et al. 2026, corollary 1). It "
            "is conservative: the smallest bonus solves the equilibrium itself, and is not "
            "computed with a whitelist."
        ),
    )


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _bonus_finding(asked: TournamentGame, found: Chances, saving: float) -> str:
    enough = rate_bonus(found, asked.cost, asked.rate, saving)
    said = {"rate": points(asked.rate), "unit": asked.about.unit}
    if not math.isfinite(enough):
        return say("No bonus is known to ensure high effort in {rate} % of reviews.", **said)
    return say(
        "A bonus of {bonus:.3g} {unit} ensures high effort in {rate} % of reviews.",
        bonus=enough, **said,
    )  # fmt: skip


def _bars(asked: TournamentGame) -> Section:
    """Gains and the sufficient bonus by the bar."""
    grid = _bar_grid(asked)
    found = [chances(structs.replace(asked.game, bar=bar)) for bar in grid]
    table = Table(
        title=say("Gains by bar"),
        columns=(
            Column(key="bar", name=say("bar"), digits=3),
            Column(key="gain_low", name=say("gain against low effort"), unit="change"),
            Column(key="gain_high", name=say("gain against high effort"), unit="change"),
            Column(key="bonus", name=say("sufficient bonus"), digits=3),
        ),
        rows=tuple(
            (bar, each.gain_low, each.gain_high, _finite(rate_bonus(each, asked.cost, asked.rate)))
            for bar, each in zip(grid, found, strict=True)
        ),
        sorts=False,
    )
    best = max(range(len(grid)), key=lambda place: found[place].least_gain)
    series = {say("against low effort"): "gain_low", say("against high effort"): "gain_high"}
    figure = Figure(
        name="gain-by-bar",
        kind="curves",
        title=say("Gain of high effort by bar"),
        subtitle=say("change of the chance of the bonus, in points"),
        marks=tuple(
            Mark(row=row, x=bar, value=getattr(each, name))
            for row, name in series.items()
            for bar, each in zip(grid, found, strict=True)
        ),
        x_axis=say("bar"),
        x_unit="number",
        value_axis=say("gain (points)"),
        table=1,
    )
    return Section(
        name="bars",
        title=say("Sensitivity to the bar"),
        finding=say(
            "The smaller gain is largest at the bar {bar:.3g}, of {n} bars tried: {gain} points.",
            n=len(grid), bar=grid[best], gain=signed_points(found[best].least_gain),
        ),
        tables=(table,),
        figures=(figure,),
    )  # fmt: skip


def _bar_grid(asked: TournamentGame) -> list[float]:
    """The stated bar, and bars from where nearly all scores lie above to where few do."""
    game = asked.game
    low, high = game.low.ends(1e-3)[0], game.high.ends(1e-3)[1]
    if game.noise is not None:
        low, high = low + game.noise.ends(1e-2)[0], high + game.noise.ends(1e-2)[1]
    scan = np.linspace(low, high, 400)
    reached = 1.0 - score_cdf(game.high, game.noise, scan)
    inner = scan[(reached > 0.02) & (1.0 - score_cdf(game.low, game.noise, scan) < 0.98)]
    first, last = (float(inner[0]), float(inner[-1])) if len(inner) > 1 else (low, high)
    return sorted({*np.linspace(first, last, _BARS).tolist(), asked.game.bar})
