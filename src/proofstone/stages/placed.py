"""Placements from a build that judged where sources stand."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import structs

from proofstone.engines.store import Store
from proofstone.ports import Clock, SourcePlace
from proofstone.records import Build, Placement, placement_id

__all__ = ["place_sources"]


def place_sources(
    store: Store, build: Build, places: Iterable[SourcePlace], clock: Clock
) -> tuple[Placement, ...]:
    """Stores where a build found that sources stand, and returns the placements that hold now. One
    that says what the newest of its source says is not made again; what a person placed stays,
    unless the build places anew."""
    found = list(places)
    newest = store.placements.in_force([place.source for place in found])
    models = tuple(dict.fromkeys(build.models.values()))
    held: list[Placement] = []
    new: list[Placement] = []
    for place in found:
        former = newest.get(place.source)
        made = Placement(
            source=place.source,
            stratum=place.stratum,
            taxonomy=place.taxonomy,
            models=models,
            build=build.id,
            at=clock.now(),
            follows=None if former is None else former.id,
        )
        if former is not None and (_is_kept(former, build) or _says(former) == _says(made)):
            held.append(former)
            continue
        made = structs.replace(made, id=placement_id(made))
        new.append(made)
        held.append(made)
    store.placements.add(new)
    return tuple(held)


def _is_kept(former: Placement, build: Build) -> bool:
    return former.actor is not None and not build.params.get("anew")


def _says(placement: Placement) -> tuple[object, ...]:
    return placement.stratum, placement.taxonomy, placement.models, placement.build
