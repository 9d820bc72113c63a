"""Games in TOML: a method's own (``games.toml`` in its folder), or a user's file."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from itertools import product
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from proofstone.errors import BadUsage, NotFound
from proofstone.mechanism.bonus import WhitelistState
from proofstone.mechanism.distributions import Distribution, read_distribution
from proofstone.mechanism.leniency import Rating
from proofstone.mechanism.roles import Roles, check_roles, varied
from proofstone.mechanism.tournament import Tournament
from proofstone.method import every_method


class Stated(Struct, frozen=True, kw_only=True):
    """One statement about a value of a game, and whether the publication fixes it."""

    what: str
    status: Literal["as published", "left open", "our choice"]
    here: str


class About(Struct, frozen=True, kw_only=True):
    """What a game file says of itself; ``unit`` is that of all amounts."""

    title: str
    source: str = ""
    unit: str = ""
    choices: tuple[Stated, ...] = ()


class TournamentGame(Struct, frozen=True, kw_only=True):
    """A bonus above a bar for the better of two reviews, with private costs of effort.

    ``rate`` is the rate of high effort that the bonus should reach, ``gain`` the gain in mean
    quality (0: none is asked for).
    """

    about: About
    game: Tournament
    bonus: float
    cost: Distribution
    rate: float = 0.9
    gain: float = 0.0
    whitelist: tuple[WhitelistState, ...] = ()


class RatingGame(Struct, frozen=True, kw_only=True):
    """A bonus above a bar for the higher of two ratings of one item."""

    about: About
    game: Rating


class Sweep(Struct, frozen=True, kw_only=True):
    """Two values of a game of roles that vary, each over evenly spaced steps."""

    x: str
    x_range: tuple[float, float]
    y: str
    y_range: tuple[float, float]
    steps: int = 11


class RolesGame(Struct, frozen=True, kw_only=True):
    """A writer and two verifiers, and which of the values vary in its figures."""

    about: About
    game: Roles
    sweeps: tuple[Sweep, ...] = ()


Game = TournamentGame | RatingGame | RolesGame


def game_names() -> list[str]:
    """Return the names of the games of all methods."""
    return sorted(name for method in every_method() for name in method.games)


def find_game(name: str) -> Mapping[str, Any]:
    """Return the tables of a method's game, or of a TOML file. Raises NotFound or BadUsage."""
    if Path(name).suffix == ".toml":
        try:
            return tomllib.loads(Path(name).read_text(encoding="utf-8"))
        except FileNotFoundError as cause:
            raise NotFound(f"no such file: {name}") from cause
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as cause:
            raise BadUsage(f"{name}: not a TOML file: {cause}") from cause
    games = {key: game for method in every_method() for key, game in method.games.items()}
    if name not in games:
        near = get_close_matches(name, games, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        known = ", ".join(sorted(games)) or "none"
        raise NotFound(f"unknown game {name!r}", hint=f"{hint}known: {known}; or a .toml file")
    return games[name]


def with_values(tables: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables with other values; ``high.mean`` is the value ``mean`` of the table
    ``high``, and ``cost.0`` the first of a list.

    Raises BadUsage with all names that do not exist.
    """
    changed = copy.deepcopy(dict(tables))
    unknown = [name for name, value in values.items() if not _set(changed, name, value)]
    if unknown:
        raise BadUsage(
            f"the game has no value {', '.join(map(repr, unknown))}",
            hint=f"its values: {', '.join(_value_names(tables))}",
        )
    return changed


def _set(tables: dict[str, Any], name: str, value: object) -> bool:
    *path, last = name.split(".")
    held: Any = tables
    for part in path:
        held = held.get(part) if isinstance(held, dict) else None
    if isinstance(held, list) and last.isdecimal() and int(last) < len(held):
        held[int(last)] = value
        return True
    if not isinstance(held, dict) or last not in held or last == "choices":
        return False
    held[last] = value
    return True


def _value_names(tables: Mapping[str, Any], above: str = "") -> list[str]:
    names: list[str] = []
    for name, value in tables.items():
        if isinstance(value, dict):
            names += _value_names(value, f"{above}{name}.")
        elif isinstance(value, list) and all(isinstance(each, int | float) for each in value):
            names += [f"{above}{name}.{place}" for place in range(len(value))]
        elif name not in ("game", "title", "source", "choices", "sweeps", "whitelist"):
            names.append(f"{above}{name}")
    return names


def read_game(tables: Mapping[str, Any]) -> Game:
    """Return a game from its tables. Raises BadUsage with all problems."""
    kinds: Mapping[str, Callable[[About, dict[str, Any]], Game]] = {
        "tournament": _tournament,
        "ratings": _ratings,
        "roles": _roles,
    }
    rest = dict(tables)
    kind = rest.pop("game", None)
    if kind not in kinds:
        raise BadUsage(
            f"game = {kind!r}: unknown kind of game", hint=f"expected one of: {', '.join(kinds)}"
        )
    own = {name: rest.pop(name) for name in About.__struct_fields__ if name in rest}
    return kinds[kind](_converted(own, About, "the game"), rest)


def _converted(given: Any, wanted: type[Any], where: str) -> Any:
    try:
        return msgspec.convert(given, wanted, strict=True)
    except msgspec.ValidationError as wrong:
        raise BadUsage(f"{where}: {wrong}") from wrong


def _distributions(given: dict[str, Any], names: Mapping[str, bool]) -> dict[str, Distribution]:
    """Take distributions out of the tables; ``names`` says whether each must be there."""
    found: dict[str, Distribution] = {}
    problems: list[str] = []
    for name, is_needed in names.items():
        table = given.pop(name, None)
        if table is None and not is_needed:
            continue
        if not isinstance(table, dict):
            problems.append(f"[{name}] with a distribution is missing")
            continue
        try:
            found[name] = read_distribution(table, f"[{name}]")
        except BadUsage as wrong:
            problems.append(str(wrong.message) + (f" ({wrong.hint})" if wrong.hint else ""))
    if problems:
        raise BadUsage("; ".join(problems))
    return found


class _TournamentValues(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    bar: float
    bonus: float
    rate: float = 0.9
    gain: float = 0.0
    whitelist: tuple[WhitelistState, ...] = ()


def _tournament(about: About, given: dict[str, Any]) -> TournamentGame:
    found = _distributions(given, {"low": True, "high": True, "noise": False, "cost": True})
    values = _converted(given, _TournamentValues, "the game")
    problems = []
    if not 0.0 <= values.bonus < float("inf"):
        problems.append(f"bonus must be a finite number of at least 0, not {values.bonus:g}")
    if not 0.0 <= values.rate < 1.0:
        problems.append(f"rate must be in [0, 1), not {values.rate:g}")
    if not values.gain >= 0.0:
        problems.append(f"gain must be at least 0, not {values.gain:g}")
    if found["cost"].shape == "empirical":
        problems.append('[cost] may not jump: use the distribution "interpolated" for values')
    if problems:
        raise BadUsage("; ".join(problems))
    return TournamentGame(
        about=about,
        game=Tournament(
            low=found["low"], high=found["high"], noise=found.get("noise"), bar=values.bar
        ),
        bonus=values.bonus, cost=found["cost"], rate=values.rate, gain=values.gain,
        whitelist=values.whitelist,
    )  # fmt: skip


class _RatingValues(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    bar: float
    bonus: float
    cost: float
    penalty: float = 0.0
    most: float = 1.0
    levels: int = 11


def _ratings(about: About, given: dict[str, Any]) -> RatingGame:
    found = _distributions(given, {"quality": True, "low_error": True, "high_error": True})
    values = _converted(given, _RatingValues, "the game")
    return RatingGame(
        about=about,
        game=Rating(
            quality=found["quality"], low_error=found["low_error"],
            high_error=found["high_error"], bar=values.bar, bonus=values.bonus, cost=values.cost,
            penalty=values.penalty, most=values.most, levels=values.levels,
        ),
    )  # fmt: skip


def _roles(about: About, given: dict[str, Any]) -> RolesGame:
    sweeps = _converted(given.pop("sweeps", []), tuple[Sweep, ...], "sweeps")
    unknown = sorted(set(given) - set(Roles.__struct_fields__))
    if unknown:
        raise BadUsage(f"unknown values: {', '.join(unknown)}")
    game = _converted(given, Roles, "the game")
    for sweep in sweeps:
        if not 2 <= sweep.steps <= 51:
            raise BadUsage(f"steps of a sweep must be from 2 to 51, not {sweep.steps}")
        for x, y in product(sweep.x_range, sweep.y_range):
            check_roles(varied(game, {sweep.x: x, sweep.y: y}))
    return RolesGame(about=about, game=game, sweeps=sweeps)
