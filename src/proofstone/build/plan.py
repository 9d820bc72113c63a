"""From what a person asks to be built to a build whose id fixes its steps and what enters them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from heapq import nsmallest
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from proofstone.build.flow import plain_keys
from proofstone.build.forms import read_parameters
from proofstone.build.journal import ids_digest, make_row
from proofstone.build.placement import PLACING
from proofstone.build.reads import BuildReads, OpenIndex, OpenWebSearch, open_reads
from proofstone.documents.passages import BETWEEN_TITLES
from proofstone.errors import BadInput, BadUsage
from proofstone.method import find_method, method_names
from proofstone.records.builds import Build, StepName, build_id, role_of_seat, seated, seats_of
from proofstone.records.calls import Model
from proofstone.records.ids import Draws
from proofstone.records.knowledge import Passage, Source, SourcedPassage
from proofstone.records.licences import permits_publication
from proofstone.records.pages import PageRegion
from proofstone.records.steps import BatchStep, Maker, Pipeline, StepBuilder
from proofstone.records.taxonomy import SampledSource
from proofstone.store.builds import EnteringRow
from proofstone.store.store import Store
from proofstone.texts.languages import in_languages
from proofstone.wording.messages import counted

# A model for all roles that build, or models by role: several where a panel holds it.
Models = str | Mapping[str, str | Sequence[str]]


def maker_of_kind(kind: str) -> Maker:
    """Who builds ``kind`` in steps: a method, or what places sources. Raises BadUsage."""

    if kind in PLACING.pipelines:
        return PLACING
    for name in method_names():
        method = find_method(name)
        if kind in method.pipelines:
            return method
    raise BadUsage(f"no method builds {kind!r} in steps")


def models_by_seat(
    method: Maker, kind: str, models: Models, judge: str | Sequence[str]
) -> dict[str, str]:
    """The model at each seat: as named by role, else the one for all roles of its purpose. The
    seats of a panel stand in the order of their models' names, so that the order in which they are
    named makes no other build."""
    roles = builder_of(method, kind).roles
    by_role = {} if isinstance(models, str) else {r: _listed(m) for r, m in models.items()}
    usual = {"build": _listed(models) if isinstance(models, str) else [], "judge": _listed(judge)}
    for role, declared in roles.items():
        if role not in by_role and not declared.optional and usual.get(declared.purpose):
            by_role[role] = usual[declared.purpose]
    return {
        seat: model
        for role, named in by_role.items()
        for seat, model in seated(role, sorted(named)).items()
    }


def purposes_of(method: Maker, kind: str, seats: Mapping[str, str]) -> dict[str, str]:
    """What the model at each seat is asked for; empty at a seat of no role."""
    roles = builder_of(method, kind).roles
    return {
        seat: roles[role].purpose if (role := role_of_seat(seat)) in roles else "" for seat in seats
    }


def _listed(models: str | Sequence[str]) -> list[str]:
    return ([models] if models else []) if isinstance(models, str) else list(models)


# Sources as builds take them: at the place that holds, and sampled so that their subject shows.

_HEADINGS = 24


_EXCERPTS = 5


_EXCERPT = 500  # characters of each


def placed_source(store: Store, identity: bytes) -> Source:
    """A source with the stratum that holds: that of its newest placement, else as stated."""
    source = store.knowledge.sources([identity])[identity]
    placement = store.placements.in_force([identity]).get(identity)
    return source if placement is None else structs.replace(source, stratum=placement.stratum)


def sources_of_book(store: Store, book: str) -> list[bytes]:
    """The sources that stand in this book, by their newest placement or as stated, in the order in
    which they came; none where no source does."""
    once = [source.id for source in store.knowledge.sources_of_book(book)]
    return [each for each in once if placed_source(store, each).stratum.book == book]


def sampled_source(store: Store, identity: bytes) -> SampledSource:
    """A source as it was taken in (a row must not change with its placement), with its first
    headings and the beginnings of passages spread evenly from the first to the last."""
    source = store.knowledge.sources([identity])[identity]
    passages = list(store.knowledge.passages_of(identity))
    tops = (passage.heading.split(BETWEEN_TITLES)[0] for passage in passages)
    return SampledSource(
        source=source,
        headings=tuple(dict.fromkeys(filter(None, tops)))[:_HEADINGS],
        excerpts=tuple(p.text[:_EXCERPT] for p in _spread(passages)),
    )


def _spread(passages: Sequence[Passage]) -> list[Passage]:
    if len(passages) <= _EXCERPTS:
        return list(passages)
    last = len(passages) - 1
    return [passages[round(at * last / (_EXCERPTS - 1))] for at in range(_EXCERPTS)]


# What enters a build: a method's own rows, or the passages of sources and of books of sources.

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


class PlannedBuild(Struct, frozen=True, kw_only=True):
    """A build with its pipeline, the settings that the model at each seat is asked with, and what
    its steps read of the workspace."""

    build: Build
    builder: StepBuilder
    pipeline: Pipeline
    spec: BuildSpec
    settings: dict[str, dict[str, Any]]
    reads: BuildReads = BuildReads()

    @property
    def keys(self) -> tuple[bytes, ...]:
        """The keys of its steps, before it is known which rows reach them."""
        return tuple(step.key for step in self.build.steps)

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles that its steps ask, in their order."""
        return tuple(dict.fromkeys(role for step in self.pipeline.steps for role in step.asks))


def builder_of(method: Maker, kind: str) -> StepBuilder:
    """How a method builds this kind in steps. Raises BadUsage where it does not."""
    if kind not in method.pipelines:
        known = ", ".join(method.pipelines) or "nothing"
        raise BadUsage(f"{method.name} does not build {kind!r} in steps; it builds {known}")
    return method.pipelines[kind]


def builder_for(method: Maker, kind: str, inputs: Sequence[str]) -> StepBuilder:
    """How a method builds this kind from these inputs: by files of rows where all of them are
    files and it takes such. Raises BadUsage where it does not build it, and for files among
    sources."""
    builder = builder_of(method, kind)
    files = [name for name in inputs if Path(name).suffix and Path(name).is_file()]
    if builder.files is None or not files:
        return builder
    if len(files) < len(inputs):
        others = ", ".join(name for name in inputs if name not in files)
        raise BadUsage(
            f"{', '.join(files)} is a file of rows, and {others} is not",
            hint=f"build {kind} of either",
        )
    return structs.replace(builder, make=builder.files.make, rows=builder.files.rows)


def plan_build(
    store: Store,
    method: Maker,
    spec: BuildSpec,
    models: Mapping[str, Model],
    open_index: OpenIndex | None = None,
    open_web: OpenWebSearch | None = None,
) -> PlannedBuild:
    """The build that ``spec`` means, not yet stored; ``models`` by seat. The rows that enter are
    read once, to know them; ``open_index`` and ``open_web`` give what steps search that do.

    Raises BadUsage for parameters that cannot be and roles without a model, BadInput where nothing
    enters, and what reading the inputs raises.
    """
    builder = builder_for(method, spec.kind, spec.inputs)
    params, note = _with_documents(
        store, builder, spec, read_parameters(builder.parameters, spec.params)
    )
    _check_seats(builder, spec.models)
    pipeline = builder.make(params, spec.models)
    pipeline = structs.replace(pipeline, notes=(*pipeline.notes, *note))
    _check_asked(builder, pipeline, spec.models)
    settings = {
        seat: _settings({**builder.roles[role_of_seat(seat)].settings, **spec.settings})
        for seat in spec.models
    }
    tools = {
        role: {"model": models[role].name, "endpoint": models[role].endpoint, "settings": asked}
        for role, asked in settings.items()
    }
    reads = open_reads(store, pipeline, open_index, open_web)
    steps = _step_names(pipeline, plain_keys(pipeline.steps, {**tools, **reads.keys}, spec.seed))
    n_inputs = 0

    def ids() -> Iterator[bytes]:
        nonlocal n_inputs
        for entering in entering_rows(store, builder, spec, params):
            n_inputs += 1
            yield entering.row.id

    inputs = ids_digest(ids())
    if not n_inputs:
        wanted = f" in {', '.join(spec.languages)}" if spec.languages else ""
        others = " in other languages," if spec.languages else ""
        raise BadInput(
            f"nothing of {', '.join(spec.inputs)}{wanted} enters the build",
            hint=f"look at the inputs: are they empty,{others} or was their text purged?",
        )
    build = Build(
        kind=spec.kind, method=method.name, name=spec.name, steps=steps, inputs=inputs,
        n_inputs=n_inputs, seed=spec.seed, params=params, models=dict(spec.models),
        simulated=any(model.simulated for model in models.values()),
    )  # fmt: skip
    build = structs.replace(build, id=build_id(build))
    return PlannedBuild(
        build=build, builder=builder, pipeline=pipeline, spec=spec, settings=settings, reads=reads
    )


def _with_documents(
    store: Store, builder: StepBuilder, spec: BuildSpec, params: dict[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The parameters, with what nobody said of the documents settled: private where a license
    permits no publication of any; and a note on that. Rows of files are of no document, and
    public."""
    name = builder.documents
    if not name or params[name] != "auto":
        return params, ()
    if builder.rows is not None:
        return {**params, name: "public"}, ()
    sources = store.knowledge.sources(entering_sources(store, spec.inputs)).values()
    private = [each for each in sources if not permits_publication(each.licence)]
    option = name.replace("_", "-")
    if private:
        one = private[0]
        why = f"license {one.licence!r}" if one.licence else "no license"
        note = (
            f"{len(private):,} of {counted(len(sources), 'document')} may not be published by the "
            f"license stated, as {one.title!r} ({why}): the build is of private documents; "
            f"--{option} public changes that"
        )
        return {**params, name: "private"}, (note,)
    stated = ", ".join(sorted({source.licence for source in sources}))
    note = (
        f"the documents count as public by their license ({stated}); --{option} private changes "
        "that"
    )
    return {**params, name: "public"}, (note,)


def _check_seats(builder: StepBuilder, models: Mapping[str, str]) -> None:
    roles = list(dict.fromkeys(map(role_of_seat, models)))
    unknown = [role for role in roles if role not in builder.roles]
    if unknown:
        raise BadUsage(
            f"no step asks {', '.join(unknown)}; roles are: {', '.join(builder.roles) or 'none'}"
        )
    for role in roles:
        seats = seats_of(role, models)
        if len(seats) > 1 and not builder.roles[role].panel:
            raise BadUsage(
                f"the {role} is one model, not {len(seats)}: {', '.join(seats.values())}",
                hint=f"name it by its role: -m {role}=PROVIDER/NAME",
            )
        twice = [model for model, n in Counter(seats.values()).items() if n > 1]
        if twice:
            raise BadUsage(f"{', '.join(twice)} would judge twice; each judge has one vote")


def _check_asked(builder: StepBuilder, pipeline: Pipeline, models: Mapping[str, str]) -> None:
    asked = dict.fromkeys(role for step in pipeline.steps for role in step.asks)
    lacking = [role for role in asked if role not in models]
    if lacking:
        told = "; ".join(f"{role}: {builder.roles[role].help}" for role in lacking)
        raise BadUsage(f"no model is named for {told}", hint="name it with -m ROLE=PROVIDER/NAME")


def _settings(asked: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in sorted(asked.items()) if value is not None}


def _step_names(pipeline: Pipeline, keys: Sequence[bytes]) -> tuple[StepName, ...]:
    return tuple(
        StepName(step.name, step.version, key, step.reasons, isinstance(step, BatchStep))
        for step, key in zip(pipeline.steps, keys, strict=True)
    )
