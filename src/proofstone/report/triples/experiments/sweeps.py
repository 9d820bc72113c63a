"""One model asked in several ways and in nothing else differently."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from proofstone.report.triples.experiments.evidence import Asked, Experiment, Varied

__all__ = ["Sweep", "sweeps_of"]

_VARIED: tuple[Varied, ...] = ("prompts", "range", "effort")


class Sweep(Struct, frozen=True, kw_only=True):
    """A model's rows by what was varied, in the order of the grid; ``usual`` is the place of the
    one that the others are held against. ``missing`` are values of the grid that were not asked."""

    name: str
    model: str
    values: tuple[str, ...]
    asked: tuple[Asked, ...]
    usual: int
    missing: tuple[str, ...] = ()


def sweeps_of(found: Experiment, varied: Varied) -> list[Sweep]:
    """The sweeps of two values or more that were verified, in the order of the board; what was
    verified of a value twice stands as the first of it."""
    alike: dict[tuple[object, ...], list[Asked]] = {}
    for asked in found.asked:
        fixed = [getattr(asked, name) for name in _VARIED if name != varied]
        alike.setdefault((asked.row.group.model, asked.others, *fixed), []).append(asked)
    made = [_sweep(found, varied, rows) for rows in alike.values()]
    return [each for each in made if len(each.asked) > 1]


def _sweep(found: Experiment, varied: Varied, rows: Sequence[Asked]) -> Sweep:
    by_value: dict[str, Asked] = {}
    for asked in rows:
        if asked.is_verified:
            by_value.setdefault(getattr(asked, varied), asked)
    grid = found.grids[varied]
    values = [value for value in grid if value in by_value]
    values += [value for value in by_value if value not in grid]
    usual = found.usual[varied]
    known = {getattr(asked, varied) for asked in rows}
    first = rows[0]
    return Sweep(
        name=_name(found, varied, first),
        model=first.row.group.model,
        values=tuple(values),
        asked=tuple(by_value[value] for value in values),
        usual=values.index(usual) if usual in values else 0,
        missing=tuple(value for value in grid if value not in known),
    )


def _name(found: Experiment, varied: Varied, asked: Asked) -> str:
    """The model, with what is fixed and not as usual."""
    parts = [
        asked.prompts if varied != "prompts" and asked.prompts != found.usual["prompts"] else "",
        asked.range if varied != "range" and asked.range != found.usual["range"] else "",
        f"reasoning_effort={asked.effort}" if varied != "effort" and asked.effort else "",
        asked.told,
        "(simulated)" if asked.row.simulated else "",
    ]
    return " ".join([asked.row.group.model, *filter(None, parts)])
