"""A game of three roles: a writer, an evidence verifier and an answer verifier.

The pay-offs follow the published scheme of a writer whose questions must be hard and well supported
(base pay, two levels of bonus, revision). The probabilities that connect effort with outcomes are
the user's. All amounts are in one unit of money.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Literal

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from proofstone.errors import BadUsage

Floats = NDArray[np.float64]
Profile = tuple[int, int, int]
"""The choice of each role, in the order of ``ROLES``: 1 careful, 0 careless."""

ROLES = ("writer", "evidence verifier", "answer verifier")
CAREFUL: Profile = (1, 1, 1)

Standing = Literal["only", "one of several", "none"]


class Roles(Struct, frozen=True, kw_only=True):
    """The pay and what effort changes; probabilities in [0, 1], a pair as (careless, careful).

    ``survives``: a question passes the models (model difficulty). ``sufficient``: its evidence is
    enough (evidence quality). ``accuracy``: a careful evidence verifier answers from sufficient
    evidence. ``in_time`` and ``late``: a careful answer verifier answers correctly in time, or
    beyond it. ``guess``: any answer without reading is correct. ``revisions``: at most so many,
    each with ``revision_cost`` for the writer, and ``kept`` is the share of the bonus after each.
    ``easy_forfeits``: a question answered in time costs the writer every bonus, or only the last.
    """

    base: float
    base_on: Literal["written", "verified"] = "verified"
    level_1: float
    level_2: float
    cost: tuple[float, float, float]
    survives: tuple[float, float]
    sufficient: tuple[float, float]
    accuracy: float
    in_time: tuple[float, float]
    late: tuple[float, float]
    guess: float
    revisions: int = 1
    revision_cost: float = 0.0
    kept: float = 1.0
    easy_forfeits: Literal["every bonus", "the last bonus"] = "every bonus"


def check_roles(game: Roles) -> None:
    """Raise BadUsage with all values out of range."""
    shares: dict[str, float] = {"accuracy": game.accuracy, "guess": game.guess, "kept": game.kept}
    for name in ("survives", "sufficient", "in_time", "late"):
        for effort, value in zip(("careless", "careful"), getattr(game, name), strict=True):
            shares[f"{name} ({effort})"] = value
    problems = [
        f"{name} must be in [0, 1], not {value:g}"
        for name, value in shares.items()
        if not 0.0 <= value <= 1.0
    ]
    amounts = {
        "base": game.base, "level_1": game.level_1, "level_2": game.level_2,
        "revision_cost": game.revision_cost,
        **{f"cost of the {role}": cost for role, cost in zip(ROLES, game.cost, strict=True)},
    }  # fmt: skip
    problems += [
        f"{name} must be a finite number of at least 0, not {value:g}"
        for name, value in amounts.items()
        if not 0.0 <= value < np.inf
    ]
    for effort, early, late in zip(("careless", "careful"), game.in_time, game.late, strict=True):
        if early + late > 1.0 + 1e-12:
            problems.append(f"in_time + late ({effort}) must be at most 1, not {early + late:g}")
    if not 0 <= game.revisions <= 100:
        problems.append(f"revisions must be from 0 to 100, not {game.revisions}")
    if problems:
        raise BadUsage("; ".join(problems))


def payoffs(game: Roles) -> Floats:
    """Return the expected pay-off of each role by profile, shape (2, 2, 2, 3).

    Per question that is written for the writer, and per question that reaches them for verifiers.
    Raises BadUsage for values out of range.
    """
    check_roles(game)
    table = np.empty((2, 2, 2, 3))
    for writer, evidence, answer in product((0, 1), repeat=3):
        table[writer, evidence, answer] = _paid(game, writer, evidence, answer)
    return table


def _paid(game: Roles, writer: int, evidence: int, answer: int) -> tuple[float, float, float]:
    reads = game.accuracy if evidence else game.guess
    enough = game.sufficient[writer]
    passes = enough * reads + (1.0 - enough) * game.guess
    fails = 1.0 - passes
    rounds = range(game.revisions + 1)
    verified = 1.0 - fails ** (game.revisions + 1)
    bonus = sum((fails * game.kept) ** each * passes for each in rounds)
    revised = sum(fails**each for each in rounds if each)
    early = game.in_time[writer] if answer else game.guess
    late = game.late[writer] if answer else 0.0
    hard = 1.0 - early - late
    first = game.level_1 * bonus * (1.0 - early if game.easy_forfeits == "every bonus" else 1.0)
    last = verified * (late * game.level_1 + hard * game.level_2)
    base = game.base * (verified if game.base_on == "verified" else 1.0)
    reached = game.survives[writer]
    if game.base_on == "written":
        earned = base + reached * (first + last - revised * game.revision_cost)
    else:
        earned = reached * (base + first + last - revised * game.revision_cost)
    return (
        earned - game.cost[0] * writer,
        game.level_1 * bonus - game.cost[1] * evidence * (1.0 + revised),
        game.level_1 * early - game.cost[2] * answer,
    )


def pure_equilibria(table: Floats) -> tuple[Profile, ...]:
    """Return all equilibria in pure strategies of a game in which each player has two choices.

    ``table`` has the shape (2, ..., 2, players). Ties count: no player gains by changing alone.
    """
    found = []
    scale = max(1.0, float(np.max(np.abs(table))))
    for profile in product((0, 1), repeat=table.ndim - 1):
        gains = [_gain(table, profile, player) for player in range(table.shape[-1])]
        if max(gains) <= 1e-12 * scale:
            found.append(profile)
    return tuple(found)  # type: ignore[arg-type]


def _gain(table: Floats, profile: tuple[int, ...], player: int) -> float:
    """What the player gains by the other choice."""
    changed = list(profile)
    changed[player] = 1 - changed[player]
    return float(table[tuple(changed)][player] - table[profile][player])


def care_premiums(table: Floats, profile: Profile = CAREFUL) -> tuple[float, ...]:
    """Return for each role what care earns over carelessness if the others act by ``profile``."""
    return tuple(
        float(
            table[(*profile[:player], 1, *profile[player + 1 :])][player]
            - table[(*profile[:player], 0, *profile[player + 1 :])][player]
        )
        for player in range(table.shape[-1])
    )


def careful_standing(game: Roles) -> Standing:
    """Return whether care of all roles is the only equilibrium in pure strategies, one of several,
    or none.
    """
    found = pure_equilibria(payoffs(game))
    if CAREFUL not in found:
        return "none"
    return "only" if len(found) == 1 else "one of several"


def varied(game: Roles, values: Mapping[str, float]) -> Roles:
    """Return the game with other values; a pair's careful value is named by the pair.

    Names: ``accuracy``, ``guess``, ``survives``, ``sufficient``, ``in_time``, ``late``, amounts.
    Raises BadUsage for another name.
    """
    changes: dict[str, object] = {}
    for name, value in values.items():
        if name not in _VARIES:
            raise BadUsage(f"{name!r} cannot vary", hint=f"expected one of: {', '.join(_VARIES)}")
        held = getattr(game, name)
        changes[name] = (held[0], value) if isinstance(held, tuple) else value
    return structs.replace(game, **changes)


_VARIES = (
    "accuracy",
    "guess",
    "survives",
    "sufficient",
    "in_time",
    "late",
    "level_1",
    "level_2",
    "base",
    "revision_cost",
    "kept",
)
