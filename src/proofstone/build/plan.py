"""From what a person asks to be built to a build whose id fixes its steps and what enters them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from msgspec import Struct, structs

from proofstone.build.flow import ids_digest, plain_keys
from proofstone.build.inputs import (
    BuildSpec,
    builder_for,
    builder_of,
    entering_rows,
    entering_sources,
    read_parameters,
    whole_document,
)
from proofstone.build.taxonomy_label import PLACING
from proofstone.errors import BadInput, BadUsage
from proofstone.method import find_method, method_names
from proofstone.models.budget import Budget, Spending
from proofstone.records.builds import (
    BatchStep,
    Build,
    Maker,
    Pipeline,
    StepBuilder,
    StepName,
    build_id,
    role_of_slot,
    seated,
    slots_of,
)
from proofstone.records.calls import CacheUse, EmbeddingModel, Model, Searcher
from proofstone.records.items import SEARCH_METHODS, SearchMethod
from proofstone.records.knowledge import Fact, WholeDocument, permits_publication
from proofstone.records.models import WEB_SEARCHES
from proofstone.run.retriever import read_search
from proofstone.search.index import SentenceEncoder
from proofstone.search.sources import JointSearcher, LocalSearcher, SourceIndex, read_search_source
from proofstone.store.store import Store
from proofstone.wording.messages import counted

# The request, and the model of each slot.

# A model for all roles that build, or models by role: several where a panel holds it.
Models = str | Mapping[str, str | Sequence[str]]


class BuildAsked(Struct, frozen=True, kw_only=True):
    """Hold the request for a build in steps. Each field is a keyword of ``build_in_steps``,
    ``forecast_build`` and ``prompts_of_build``; ``params`` are the parameters of the kind.

    ``models`` names the model of each role, or one for all roles that build. ``judge`` is the model
    or panel of the roles that judge. ``per_input`` rows of each input are sampled with the seed
    (default: all); ``limit`` keeps only the first, ``languages`` only passages in these languages.
    ``settings`` override those of the roles. ``budget`` and ``cache`` are as of ``run``.
    """

    name: str = ""
    models: Models = ""
    judge: str | Sequence[str] = ""
    seed: int = 0
    limit: int | None = None
    per_input: int | None = None
    languages: Sequence[str] = ()
    method: str | None = None
    settings: Mapping[str, Any] | None = None
    max_connections: int | None = None
    cache: CacheUse = "same"
    budget: Budget | str | Spending | None = None
    params: dict[str, Any] = {}


def read_asked(keywords: Mapping[str, Any]) -> BuildAsked:
    """The request that keywords make: what is none of its fields is a parameter."""
    own = {name: keywords[name] for name in BuildAsked.__struct_fields__ if name in keywords}
    others = {name: value for name, value in keywords.items() if name not in own}
    return BuildAsked(**own | {"params": own.get("params", {}) | others})


def maker_of_kind(kind: str) -> Maker:
    """Who builds ``kind`` in steps: a method, or what places sources. Raises BadUsage."""
    makers: list[Maker] = [PLACING, *map(find_method, method_names())]
    found = next((maker for maker in makers if kind in maker.pipelines), None)
    if found is None:
        raise BadUsage(f"no method builds {kind!r} in steps")
    return found


def models_by_slot(
    method: Maker, kind: str, models: Models, judge: str | Sequence[str]
) -> dict[str, str]:
    """Return the model of each slot: the one named for the role, or the one for all roles of its
    purpose.

    The slots of a panel are in alphabetical order of the models, so their order in the request does
    not change the build. Raises BadUsage for a model that no role takes.
    """

    def listed(named: str | Sequence[str]) -> list[str]:
        return [each for each in ([named] if isinstance(named, str) else named) if each]

    by_role = {} if isinstance(models, str) else {r: listed(m) for r, m in models.items()}
    usual = {"build": listed(models) if isinstance(models, str) else [], "judge": listed(judge)}
    roles = builder_of(method, kind).roles
    purposes = {declared.purpose for declared in roles.values()}
    unused = [one for purpose, named in usual.items() if purpose not in purposes for one in named]
    if unused:
        named = ", ".join(roles)
        raise BadUsage(
            f"no step of {kind} takes {', '.join(unused)}",
            hint=f"name its role: {named}" if named else "leave the model out; no step asks one",
        )
    for role, declared in roles.items():
        if role not in by_role and not declared.optional and usual.get(declared.purpose):
            by_role[role] = usual[declared.purpose]
    return {
        slot: model
        for role, named in by_role.items()
        for slot, model in seated(role, sorted(named)).items()
    }


# What steps of a build read: searches of the workspace's sources and of the web, and banks; with
# the state of each, which is in the keys of those steps.


class WebSearch(Searcher, Protocol):
    """A search of the web."""

    @property
    def key(self) -> bytes:
        """Another one where the same answers of the search would give other texts."""


OpenIndex = Callable[[SearchMethod], SourceIndex]


OpenWebSearch = Callable[[str], WebSearch]


_DOCUMENTS, _EMBEDDINGS = "documents", "embeddings"


class BuildReads(Struct, frozen=True):
    """What is read, by its names in ``Step.reads``: ``keys`` are the states."""

    keys: dict[str, Any] = {}
    searches: dict[str, Searcher] = {}
    banks: dict[str, Sequence[Fact]] = {}
    documents: Callable[[bytes], WholeDocument] | None = None
    embedding: EmbeddingModel = SentenceEncoder()

    def search(self, reads: Sequence[str]) -> Searcher | None:
        """The search that a step reads, or all that it reads together; None where it reads none."""
        found = self._found(reads)
        return JointSearcher(found) if len(found) > 1 else next(iter(found), None)

    def searches_sources(self, reads: Sequence[str]) -> bool:
        """Whether a step reads what a search of the workspace's sources finds."""
        return any(isinstance(each, LocalSearcher) for each in self._found(reads))

    def searches_web(self, reads: Sequence[str]) -> bool:
        """Whether a step reads what a search of the web finds."""
        return not all(isinstance(each, LocalSearcher) for each in self._found(reads))

    def banks_of(self, reads: Sequence[str]) -> Mapping[str, Sequence[Fact]]:
        """The facts of the banks that a step reads, by their names as it wrote them."""
        return {
            name.removeprefix("bank:"): self.banks[name] for name in reads if name in self.banks
        }

    def document(self, reads: Sequence[str]) -> Callable[[bytes], WholeDocument] | None:
        """What returns a source's whole text to a step that reads such."""
        return self.documents if _DOCUMENTS in reads else None

    def embedding_of(self, reads: Sequence[str]) -> EmbeddingModel | None:
        """The encoder, for a step that reads embeddings."""
        return self.embedding if _EMBEDDINGS in reads else None

    def _found(self, reads: Sequence[str]) -> list[Searcher]:
        return [self.searches[name] for name in reads if name in self.searches]


def open_reads(
    store: Store, pipeline: Pipeline, open_index: OpenIndex, open_web: OpenWebSearch
) -> BuildReads:
    """Opens what the steps of a pipeline read; nothing is sent yet.

    Raises BadUsage where there is nothing to search, for a search that is none or is not set up,
    and what finding a bank raises.
    """
    found = BuildReads(documents=partial(whole_document, store))
    for name in dict.fromkeys(name for step in pipeline.steps for name in step.reads):
        kind, _, sought = name.partition(":")
        if kind == "bank":
            bank = store.lookup.find(sought, ("bank",)).id
            found.keys[name] = bank.hex()
            found.banks[name] = store.knowledge.bank(bank).facts()
        elif name == _DOCUMENTS:
            found.keys[name] = ""  # the rows fix the text
        elif name == _EMBEDDINGS:
            found.embedding.embed([])  # a missing package is an error now, before anything is sent
            found.keys[name] = found.embedding.name
        elif kind != "search":
            raise ValueError(
                f"a step reads {name!r}: neither search:NAME, bank:NAME, "
                f"{_DOCUMENTS} nor {_EMBEDDINGS}"
            )
        elif sought in SEARCH_METHODS:
            index = open_index(read_search(sought))
            if not index.n_chunks:
                raise BadUsage(
                    "there is nothing to search: no source of this workspace has passages",
                    hint="proofstone ingest FILE... reads documents",
                )
            found.keys[name] = index.key.hex()
            found.searches[name] = LocalSearcher(index, read_search(sought))
        elif sought.partition(":")[0] in WEB_SEARCHES:
            read_search_source(sought)
            web = open_web(sought)
            found.keys[name] = web.key.hex()
            found.searches[name] = web
        else:
            raise BadUsage(
                f"nothing can be searched by the name {sought!r}",
                hint=f"the workspace's sources: {', '.join(SEARCH_METHODS)}; the web: "
                f"{', '.join(WEB_SEARCHES)}, or engines of SearXNG: searxng:bing+baidu",
            )
    return found


# The plan of a build.


class PlannedBuild(Struct, frozen=True, kw_only=True):
    """Hold a build with its pipeline, the settings of the model in each slot, and what its steps
    read of the workspace."""

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


def plan_build(
    store: Store,
    method: Maker,
    spec: BuildSpec,
    models: Mapping[str, Model],
    open_index: OpenIndex,
    open_web: OpenWebSearch,
) -> PlannedBuild:
    """Return the build that ``spec`` describes, not yet stored; ``models`` are by slot.

    The rows that enter are read once for their ids. ``open_index`` and ``open_web`` return what
    steps search. Raises BadUsage for invalid parameters and roles without a model, BadInput if
    nothing enters, and what reading the inputs raises.
    """
    builder = builder_for(method, spec.kind, spec.inputs)
    params = read_parameters(builder.parameters, spec.params)
    is_open = builder.documents and params[builder.documents] == "auto"
    note = _settle_documents(store, builder, spec, params) if is_open else ""
    _check_slots(builder, spec.models)
    pipeline = builder.make(params, spec.models)
    if note:
        pipeline = structs.replace(pipeline, notes=(*pipeline.notes, note))
    asked = dict.fromkeys(role for step in pipeline.steps for role in step.asks)
    if lacking := [role for role in asked if role not in spec.models]:
        told = "; ".join(f"{role}: {builder.roles[role].help}" for role in lacking)
        raise BadUsage(f"no model is named for {told}", hint="name it with -m ROLE=PROVIDER/NAME")
    settings: dict[str, dict[str, Any]] = {}
    for slot in spec.models:
        wanted = {**builder.roles[role_of_slot(slot)].settings, **spec.settings}
        settings[slot] = {name: v for name, v in sorted(wanted.items()) if v is not None}
    tools = {
        role: {"model": models[role].name, "endpoint": models[role].endpoint, "settings": sent}
        for role, sent in settings.items()
    }
    reads = open_reads(store, pipeline, open_index, open_web)
    keys = plain_keys(pipeline.steps, {**tools, **reads.keys}, spec.seed)
    n_inputs = 0

    def ids() -> Iterator[bytes]:
        nonlocal n_inputs
        for entering in entering_rows(store, builder, spec, params):
            n_inputs += 1
            yield entering.row.id

    inputs = ids_digest(ids())
    if not n_inputs:
        wanted_in = f" in {', '.join(spec.languages)}" if spec.languages else ""
        others = " in other languages," if spec.languages else ""
        raise BadInput(
            f"nothing of {', '.join(spec.inputs)}{wanted_in} enters the build",
            hint=f"look at the inputs: are they empty,{others} or was their text purged?",
        )
    build = Build(
        kind=spec.kind, method=method.name, name=spec.name, inputs=inputs, n_inputs=n_inputs,
        steps=tuple(
            StepName(step.name, step.version, key, step.reasons, isinstance(step, BatchStep))
            for step, key in zip(pipeline.steps, keys, strict=True)
        ),
        seed=spec.seed, params=params, models=dict(spec.models),
        simulated=any(model.simulated for model in models.values()),
    )  # fmt: skip
    build = structs.replace(build, id=build_id(build))
    return PlannedBuild(
        build=build, builder=builder, pipeline=pipeline, spec=spec, settings=settings, reads=reads
    )


def _settle_documents(
    store: Store, builder: StepBuilder, spec: BuildSpec, params: dict[str, Any]
) -> str:
    """Set the document option in ``params`` if it was not stated, and return a note.

    Documents are private if the license of any does not permit publication. Rows of files have no
    document and are public.
    """
    params[builder.documents] = "public"
    if builder.rows is not None:
        return ""
    sources = store.knowledge.sources(entering_sources(store, spec.inputs)).values()
    private = [each for each in sources if not permits_publication(each.license)]
    option = builder.documents.replace("_", "-")
    if private:
        params[builder.documents] = "private"
        one = private[0]
        why = f"license {one.license!r}" if one.license else "no license"
        return (
            f"{len(private):,} of {counted(len(sources), 'document')} may not be published by the "
            f"license stated, as {one.title!r} ({why}): the build is of private documents; "
            f"--{option} public changes that"
        )
    stated = ", ".join(sorted({source.license for source in sources}))
    return (
        f"the documents count as public by their license ({stated}); --{option} private changes "
        "that"
    )


def _check_slots(builder: StepBuilder, models: Mapping[str, str]) -> None:
    roles = list(dict.fromkeys(map(role_of_slot, models)))
    unknown = [role for role in roles if role not in builder.roles]
    if unknown:
        raise BadUsage(
            f"unknown role '{unknown[0]}'",
            hint=f"choose from: {', '.join(builder.roles)}" if builder.roles else "no step has one",
        )
    for role in roles:
        slots = slots_of(role, models)
        if len(slots) > 1 and not builder.roles[role].panel:
            raise BadUsage(
                f"the {role} is one model, not {len(slots)}: {', '.join(slots.values())}",
                hint=f"name it by its role: -m {role}=PROVIDER/NAME",
            )
        twice = [model for model, n in Counter(slots.values()).items() if n > 1]
        if twice:
            raise BadUsage(f"{', '.join(twice)} would judge twice; each judge has one vote")
