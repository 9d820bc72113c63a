"""A tournament in which the reported rating itself is the score: what it rewards.

Section 4.1 of Jin et al. 2026 pays the reviewer whose rating of the item is higher. Both then rate
the same item, and a rating can be raised without any work. A reviewer of effort e reads the item's
quality q with an error, adds a leniency l, and reports q + error + l; the bonus goes to the higher
report if it is at least the bar. The model is ours.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.mechanism.distributions import Distribution

Floats = NDArray[np.float64]
Effort = Literal["low", "high"]
_STEPS = 4_000


class Rating(Struct, frozen=True, kw_only=True):
    """Quality of items, the reading errors by effort, the bar, bonus, cost of effort and leniency.

    ``penalty`` is the expected loss for each point of leniency, for example audits times their
    fine, in the unit of the bonus. ``most`` is the largest leniency (the end of the scale).
    """

    quality: Distribution
    low_error: Distribution
    high_error: Distribution
    bar: float
    bonus: float
    cost: float
    penalty: float = 0.0
    most: float = 1.0
    levels: int = 11


class Choice(Struct, frozen=True, order=True):
    """What a reviewer chooses: the effort and the leniency added to the rating."""

    effort: Effort
    leniency: float


def win_chance(game: Rating, mine: Choice, other: Choice) -> float:
    """Return the probability that ``mine`` wins the bonus against ``other``, in [0, 1]."""
    own, rival = _error(game, mine), _error(game, other)
    low, high = own.ends()
    places = np.linspace(low, high, _STEPS + 1)
    reached = own.cdf(places)
    beaten = rival.cdf(places + mine.leniency - other.leniency)
    parts = (beaten[1:] + beaten[:-1]) / 2.0 * np.diff(reached)
    above = np.append(np.cumsum(parts[::-1])[::-1], 0.0)
    values, weights = game.quality.nodes()
    return float(weights @ np.interp(game.bar - values - mine.leniency, places, above))


def _error(game: Rating, choice: Choice) -> Distribution:
    return game.low_error if choice.effort == "low" else game.high_error


class LeniencyFound(Struct, frozen=True, kw_only=True):
    """What the scheme rewards.

    ``effort_gain``: what high effort adds to the chance of the bonus, both without leniency, when
    the other's effort is low and when it is high. ``leniency_gain``: what the first level of
    leniency adds, both with high effort. ``equilibria``: symmetric equilibria in pure strategies on
    the grid of levels. ``best_response``: the best choice against each choice.
    """

    effort_gain: tuple[float, float]
    leniency_gain: float
    step: float
    equilibria: tuple[Choice, ...]
    best_response: tuple[tuple[Choice, Choice], ...]


def study_leniency(game: Rating) -> LeniencyFound:
    """Return what the scheme rewards, by the chances of all pairs of choices on the grid.

    Raises BadUsage for errors with ties and for values out of range.
    """
    _check(game)
    levels = np.linspace(0.0, game.most, game.levels)
    choices = [Choice(effort, float(level)) for effort in ("low", "high") for level in levels]
    won = np.array([[win_chance(game, mine, other) for other in choices] for mine in choices])
    paid = (
        game.bonus * won
        - np.array(
            [game.cost * (each.effort == "high") + game.penalty * each.leniency for each in choices]
        )[:, None]
    )
    place = {choice: at for at, choice in enumerate(choices)}
    best = paid.max(axis=0)
    answers = tuple(
        (other, choices[int(np.argmax(paid[:, at]))]) for at, other in enumerate(choices)
    )
    stays = tuple(
        each for at, each in enumerate(choices) if paid[at, at] >= best[at] - 1e-9 * game.bonus
    )
    plain: dict[Effort, int] = {"low": 0, "high": game.levels}
    gains = [won[plain["high"], plain[e]] - won[plain["low"], plain[e]] for e in ("low", "high")]
    lenient = place[Choice("high", float(levels[1]))]
    return LeniencyFound(
        effort_gain=(float(gains[0]), float(gains[1])),
        leniency_gain=float(won[lenient, plain["high"]] - won[plain["high"], plain["high"]]),
        step=float(levels[1]),
        equilibria=stays,
        best_response=answers,
    )


def simulated_win(game: Rating, mine: Choice, other: Choice, *, n: int, seed: int) -> float:
    """Return the share of ``n`` simulated items of which ``mine`` wins the bonus."""
    rng = np.random.default_rng(seed)
    quality = game.quality.draw(rng, n)
    own = quality + _error(game, mine).draw(rng, n) + mine.leniency
    rival = quality + _error(game, other).draw(rng, n) + other.leniency
    return float(np.mean((own > rival) & (own >= game.bar)))


def _check(game: Rating) -> None:
    problems = [
        f"{name} must be a distribution without ties, not {error.shape!r}"
        for name, error in (("low_error", game.low_error), ("high_error", game.high_error))
        if error.shape in ("constant", "empirical")
    ]
    problems += [
        f"{name} must be above 0, not {value:g}"
        for name, value in (("bonus", game.bonus), ("most", game.most))
        if value <= 0
    ]
    problems += [
        f"{name} must be at least 0, not {value:g}"
        for name, value in (("cost", game.cost), ("penalty", game.penalty))
        if value < 0
    ]
    if not 2 <= game.levels <= 51:
        problems.append(f"levels must be from 2 to 51, not {game.levels}")
    if problems:
        raise BadUsage("; ".join(problems))
