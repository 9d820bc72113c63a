"""A source placed by a person: a row that names who, why and the former placement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from proofstone.engines.store import Found, Store
from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.ports import Clock
from proofstone.records import TAXONOMY_LEVELS, Placement, Stratum, placement_id
from proofstone.stages.acting import Who, stated_reason
from proofstone.stages.sampled_sources import placed_source

__all__ = ["levels_of", "place_by_hand"]


def levels_of(store: Store, found: Found) -> dict[str, str]:
    """The levels of the place where a source stands now."""
    return dict(msgspec.structs.asdict(placed_source(store, found.id).stratum))


def place_by_hand(
    store: Store,
    found: Found,
    changes: Mapping[str, Any],
    *,
    reason: str,
    who: Who,
    clock: Clock,
) -> Placement:
    """Places a source, levels that ``changes`` leaves out as they are; None empties one.

    Raises BadInput for what is no level or no text, and for a level below an empty one; BadUsage
    where nothing would change.
    """
    problems = [
        Problem(name, f"cannot be changed; there is: {', '.join(TAXONOMY_LEVELS)}")
        for name in changes
        if name not in TAXONOMY_LEVELS
    ]
    problems += [
        Problem(name, f"expected a text, came {value!r}")
        for name, value in changes.items()
        if value is not None and not isinstance(value, str)
    ]
    if problems:
        raise BadInput("the source cannot be placed so; nothing was stored", problems)
    before = levels_of(store, found)
    levels = {**before, **{name: " ".join((v or "").split()) for name, v in changes.items()}}
    _refuse_gaps(levels)
    if levels == before:
        raise BadUsage("the source stands there already, so nothing is changed")
    former = store.placements.in_force([found.id]).get(found.id)
    why = stated_reason(reason)
    made = Placement(
        source=found.id,
        stratum=Stratum(**levels),
        actor=who().actor,
        reason=why,
        at=clock.now(),
        follows=None if former is None else former.id,
    )
    made = msgspec.structs.replace(made, id=placement_id(made))
    store.placements.add([made])
    return made


def _refuse_gaps(levels: Mapping[str, str]) -> None:
    above = TAXONOMY_LEVELS[0]
    for name in TAXONOMY_LEVELS[1:-1]:  # a book may be known without the others
        if levels[name] and not levels[above]:
            what = f"is {levels[name]}, and its {above} is empty"
            raise BadInput("the source cannot be placed so", [Problem(name, what)])
        above = name
