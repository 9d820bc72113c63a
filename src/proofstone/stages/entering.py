"""What enters a build: a method's own rows, or the passages of sources and of books of sources."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from heapq import nsmallest
from itertools import islice
from operator import itemgetter
from typing import Any

from msgspec import Struct

from proofstone.draws import Draws
from proofstone.engines.pipeline import make_row
from proofstone.engines.store import EnteringRow, Store
from proofstone.errors import BadInput, BadUsage
from proofstone.ports import StepBuilder
from proofstone.records import PageRegion, Passage, Source, SourcedPassage
from proofstone.stages.passage_languages import in_languages
from proofstone.stages.sampled_sources import placed_source, sampled_source, sources_of_book

__all__ = ["BuildSpec", "entering_rows", "entering_sources", "named_sources"]

_PASSAGE = "passage"


class BuildSpec(Struct, frozen=True, kw_only=True):
    """What to build: a kind of facts from inputs, by which models (by seat: the role, numbered
    where several hold it), with which settings over those of the roles. ``per_input`` rows of each
    input enter, drawn by the seed; ``limit`` lets only the first rows of them all enter. Of
    passages only those in ``languages`` enter, where any is named. ``regions`` are what enters
    where the kind is built from pictures of pages, ``gathered`` gives what came from online, each
    row with the id of its source (empty for none)."""

    kind: str
    inputs: tuple[str, ...]
    name: str
    params: dict[str, Any] = {}
    models: dict[str, str] = {}
    settings: dict[str, Any] = {}
    seed: int = 0
    limit: int | None = None
    per_input: int | None = None
    languages: tuple[str, ...] = ()
    regions: tuple[PageRegion, ...] | None = None
    gathered: Callable[[], Iterable[tuple[Struct, bytes]]] | None = None


def entering_rows(
    store: Store, builder: StepBuilder, spec: BuildSpec, params: Mapping[str, Any]
) -> Iterator[EnteringRow]:
    """The rows that enter a build, in order, read anew; what several inputs name enters once.

    Raises NotFound for an input that names neither a source nor a book that sources are of,
    BadUsage for languages of what has none.
    """
    if spec.regions is not None:
        return iter([EnteringRow(make_row(each), each.source.id) for each in spec.regions])
    if spec.gathered is not None:
        rows = (EnteringRow(make_row(row), source or None) for row, source in spec.gathered())
        return islice(rows, spec.limit)
    return islice(_all(store, builder, spec, params), spec.limit)


def _all(
    store: Store, builder: StepBuilder, spec: BuildSpec, params: Mapping[str, Any]
) -> Iterator[EnteringRow]:
    read: Callable[[Sequence[str]], Iterator[EnteringRow]]
    if builder.rows is None and builder.enters == "passages":
        read = partial(_passages, store, languages=spec.languages)
    elif spec.languages:
        raise BadUsage(
            f"{spec.kind} are not built of passages, and languages choose among these",
            hint="leave --languages out",
        )
    elif builder.rows is not None:
        read = partial(_own, builder.rows, params)
    else:
        read = partial(_sampled, store)
    if spec.per_input is None:
        yield from read(spec.inputs)
        return
    if builder.drawn is not None:
        for name in spec.inputs:
            values = builder.drawn(name, params, spec.per_input, spec.seed)
            yield from (EnteringRow(make_row(value)) for value in values)
        return
    drawn = (each for n in spec.inputs for each in _drawn(read([n]), spec.per_input, spec.seed))
    yield from drawn if builder.rows is not None else _once(drawn)


def _once(rows: Iterable[EnteringRow]) -> Iterator[EnteringRow]:
    return iter({entering.row.id: entering for entering in rows}.values())


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


def _passages(
    store: Store, names: Sequence[str], *, languages: Collection[str]
) -> Iterator[EnteringRow]:
    """The passages that are named, and those of sources and books, in these languages."""
    sources: dict[bytes, Source] = {}
    for passage in _named_passages(store, names):
        if not in_languages(passage.language, languages):
            continue
        if passage.source not in sources:
            sources[passage.source] = placed_source(store, passage.source)
        row = make_row(SourcedPassage(passage, sources[passage.source]))
        yield EnteringRow(row, passage.source)


def _named_passages(store: Store, names: Sequence[str]) -> Iterator[Passage]:
    """Each passage once, also where its source and a book of it are named beside it."""
    single = {name: _passage(store, name) for name in names if name.startswith(f"{_PASSAGE}:")}
    alone = {passage.id for passage in single.values()}
    entered: set[bytes] = set()  # sources, and of passages those alone: sources may have many
    for name in names:
        for passage in _passages_of(store, name, single, entered):
            if passage.id not in entered:
                entered |= alone & {passage.id}
                yield passage


def _passages_of(
    store: Store, name: str, single: Mapping[str, Passage], entered: set[bytes]
) -> Iterator[Passage]:
    if name in single:
        yield single[name]
        return
    for source in named_sources(store, name):
        if source not in entered:
            entered.add(source)
            yield from store.knowledge.passages_of(source)


def _passage(store: Store, name: str) -> Passage:
    """A single passage. Raises BadInput where its text was purged."""
    found = store.lookup.find(name, (_PASSAGE,))
    passage = store.knowledge.passages([found.id])[found.id]
    if not passage.text:
        raise BadInput(f"the text of {name} was purged")
    return passage


def _sampled(store: Store, names: Sequence[str]) -> Iterator[EnteringRow]:
    for identity in dict.fromkeys(each for name in names for each in named_sources(store, name)):
        yield EnteringRow(make_row(sampled_source(store, identity)), identity)


def entering_sources(store: Store, names: Sequence[str]) -> set[bytes]:
    """The sources whose passages enter by these names. Raises as ``entering_rows``."""
    found: set[bytes] = set()
    for name in names:
        if name.startswith(f"{_PASSAGE}:"):
            found.add(_passage(store, name).source)
        else:
            found.update(named_sources(store, name))
    return found


def named_sources(store: Store, name: str) -> list[bytes]:
    """All sources of the book of this name, else the source of this name. The book goes first: its
    title page often has its title, and is still known by its digits. Raises NotFound."""
    return sources_of_book(store, name) or [store.lookup.find(name, ("source",)).id]
