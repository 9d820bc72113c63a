"""What enters a build: a method's own rows, or the passages of sources and of books of sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from heapq import nsmallest
from itertools import islice
from operator import itemgetter
from typing import Any

from msgspec import Struct

from proofstone.draws import Draws
from proofstone.engines.pipeline import make_row
from proofstone.engines.store import EnteringRow, Store
from proofstone.errors import BadInput
from proofstone.ports import StepBuilder
from proofstone.records import PageRegion, SourcedPassage
from proofstone.stages.sampled_sources import placed_source, sampled_source

__all__ = ["BuildSpec", "entering_rows"]


class BuildSpec(Struct, frozen=True, kw_only=True):
    """What to build: a kind of facts from inputs, by which models (by seat: the role, numbered
    where several hold it), with which settings over those of the roles. ``per_input`` rows of each
    input enter, drawn by the seed; ``limit`` lets only the first rows of them all enter.
    ``regions`` are what enters where the kind is built from pictures of pages."""

    kind: str
    inputs: tuple[str, ...]
    name: str
    params: dict[str, Any] = {}
    models: dict[str, str] = {}
    settings: dict[str, Any] = {}
    seed: int = 0
    limit: int | None = None
    per_input: int | None = None
    regions: tuple[PageRegion, ...] | None = None


def entering_rows(
    store: Store, builder: StepBuilder, spec: BuildSpec, params: Mapping[str, Any]
) -> Iterator[EnteringRow]:
    """The rows that enter a build, in order, read anew. Raises NotFound for an input that names
    neither a source nor a book that sources are of."""
    if spec.regions is not None:
        return iter([EnteringRow(make_row(each), each.source.id) for each in spec.regions])
    return islice(_all(store, builder, spec, params), spec.limit)


def _all(
    store: Store, builder: StepBuilder, spec: BuildSpec, params: Mapping[str, Any]
) -> Iterator[EnteringRow]:
    if builder.rows is not None:
        read = partial(_own, builder.rows, params)
    else:
        read = partial(_sampled if builder.enters == "sources" else _passages, store)
    if spec.per_input is None:
        yield from read(spec.inputs)
        return
    for name in spec.inputs:
        yield from _drawn(read([name]), spec.per_input, spec.seed)


def _drawn(rows: Iterator[EnteringRow], n: int, seed: int) -> list[EnteringRow]:
    """``n`` of the rows, in their order. A row's place in the draw rests on itself alone: with a
    larger ``n``, or among more rows, those drawn before that still fit stay, and with them what a
    build made of them."""

    def drawn_at(placed: tuple[int, EnteringRow]) -> tuple[float, int]:
        place, entering = placed
        number = int.from_bytes(entering.row.id[:8], "big")
        return Draws(seed, number, "enters a build").uniform(), place

    drawn = sorted(nsmallest(n, enumerate(rows), key=drawn_at), key=itemgetter(0))
    return [entering for _place, entering in drawn]


def _own(
    rows: Callable[[Sequence[str], Mapping[str, Any]], Iterable[Struct]],
    params: Mapping[str, Any],
    names: Sequence[str],
) -> Iterator[EnteringRow]:
    yield from (EnteringRow(make_row(value)) for value in rows(tuple(names), params))


def _passages(store: Store, names: Sequence[str]) -> Iterator[EnteringRow]:
    for name in names:
        if name.startswith("passage:"):
            yield _passage(store, name)
            continue
        for identity in _named(store, name):
            source = placed_source(store, identity)
            for passage in store.knowledge.passages_of(identity):
                yield EnteringRow(make_row(SourcedPassage(passage, source)), identity)


def _passage(store: Store, name: str) -> EnteringRow:
    """A single passage, the same row as among those of its source. Raises BadInput where its text
    was purged."""
    found = store.lookup.find(name, ("passage",))
    passage = store.knowledge.passages([found.id])[found.id]
    if not passage.text:
        raise BadInput(f"the text of {name} was purged")
    source = placed_source(store, passage.source)
    return EnteringRow(make_row(SourcedPassage(passage, source)), passage.source)


def _sampled(store: Store, names: Sequence[str]) -> Iterator[EnteringRow]:
    for identity in dict.fromkeys(each for name in names for each in _named(store, name)):
        yield EnteringRow(make_row(sampled_source(store, identity)), identity)


def _named(store: Store, name: str) -> list[bytes]:
    """All sources of the book of this name, else the source of this name. The book goes first: its
    title page often has its title, and is still known by its digits."""
    of_book = [source.id for source in store.knowledge.sources_of_book(name)]
    return of_book or [store.lookup.find(name, ("source",)).id]
