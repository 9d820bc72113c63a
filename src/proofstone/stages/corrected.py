"""The scores of a selection as people corrected them, or as the scorer left them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import Struct

from proofstone.engines.store import Retired, Store
from proofstone.engines.store.scores import ScoringInfo
from proofstone.errors import BadUsage, NotFound
from proofstone.identity import short
from proofstone.records import ItemSet, Measure, Run, ScoreTable
from proofstone.stages.dates import minute

if TYPE_CHECKING:
    from proofstone.report.corrected import TableRuling

__all__ = ["CURRENT", "View", "chosen_scorings", "corrected", "newer_forms"]

FIRST = "first"


class View(Struct, frozen=True, kw_only=True):
    """Which scores are read. ``as_scored``: no ruling and no retirement is applied. ``scorings``
    are digits of scorings that stand for the current ones of their runs, or "first". ``until``:
    as it stood at that time, with nothing that was scored, ruled or retired since."""

    as_scored: bool = False
    scorings: tuple[str, ...] = ()
    until: float | None = None


CURRENT = View()


def corrected(
    store: Store,
    table: ScoreTable,
    runs: Mapping[bytes, int],
    retired: Retired,
    measure: Measure,
    until: float | None = None,
) -> ScoreTable:
    """``table`` with rulings applied and ``retired`` items left out. ``runs`` are ids and keys.

    Rulings are over whole replies, and hold for each part of one that is scored by itself.
    """
    from proofstone.report.corrected import (  # noqa: PLC0415 - numpy is loaded here
        apply_rulings,
        leave_out,
    )

    rulings = _rulings(store, table, runs, retired, until)
    kept = replace(leave_out(table, retired.ids), n_retired=len(retired.ids))
    return apply_rulings(kept, rulings, measure)


def _rulings(
    store: Store,
    table: ScoreTable,
    runs: Mapping[bytes, int],
    retired: Retired,
    until: float | None,
) -> list[TableRuling]:
    """The rulings in force over what the table's respondents replied."""
    from proofstone.report.corrected import TableRuling  # noqa: PLC0415 - numpy is loaded here

    place = {runs[run]: at for at, who in enumerate(table.respondents) for run in who.runs}
    return [
        TableRuling(place[found.run], found.ruling.item, found.sample, found.ruling.verdict)
        for found in store.rulings.in_force(list(place), until)
        if found.ruling.item not in retired.ids
    ]


def newer_forms(store: Store, item_sets: Sequence[ItemSet]) -> tuple[str, ...]:
    """A sentence on each of these sets that was corrected, naming its newer versions."""
    said = []
    for item_set in item_sets:
        found = store.lookup.find(f"form:{item_set.id.hex()}")
        newer = [
            f"{item_set.name}-{short(identity, 4)}"
            for identity in store.corrections.newer("form", found.key)
        ]
        if newer:
            name = f"{item_set.name}-{short(item_set.id, 4)}"
            said.append(f"{name} was corrected; the newer version: {', '.join(newer)}")
    return tuple(said)


def chosen_scorings(
    store: Store, runs: Sequence[tuple[int, Run]], view: View
) -> dict[int, ScoringInfo]:
    """The scoring to read of each run that has one, by the run's key.

    Raises NotFound for digits that are no whole scoring of these runs, BadUsage where they fit
    several.
    """
    known = {key: _whole_by(store, key, view.until) for key, _run in runs}
    if view.scorings == (FIRST,):
        return {key: scorings[0] for key, scorings in known.items() if scorings}
    chosen = {key: _latest(scorings) for key, scorings in known.items() if scorings}
    every = [scoring for scorings in known.values() for scoring in scorings]
    for text in view.scorings:
        digits = text.removeprefix("scoring:")
        found = [scoring for scoring in every if digits and scoring.id.hex().startswith(digits)]
        if not found:
            listed = ", ".join(f"{short(s.id)} ({minute(s.created_at)})" for s in every[:8])
            raise NotFound(f"no scoring of these runs is {text!r}", hint=f"there is: {listed}")
        if len(found) > 1:
            raise BadUsage(f"{text!r} names {len(found)} scorings", hint="give more digits")
        chosen[found[0].run] = found[0]
    return chosen


def _whole_by(store: Store, run: int, until: float | None) -> list[ScoringInfo]:
    """The whole scorings of a run, oldest first; only those that were whole at a time."""
    scorings = store.scores.of_run(run)
    if until is None:
        return scorings
    return [each for each in scorings if each.completed_at and each.completed_at <= until]


def _latest(scorings: Sequence[ScoringInfo]) -> ScoringInfo:
    """The one that became whole last."""
    return max(scorings, key=lambda each: (each.completed_at or 0.0, each.key))
