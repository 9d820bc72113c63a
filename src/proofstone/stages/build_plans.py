"""From what a person asks to be built to a build whose id fixes its steps and what enters them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from proofstone.engines.pipeline import ids_digest, plain_keys
from proofstone.engines.store import Store
from proofstone.errors import BadInput, BadUsage
from proofstone.ports import BatchStep, BuildsInSteps, Maker, Model, Pipeline, StepBuilder
from proofstone.records import (
    Build,
    StepName,
    build_id,
    permits_publication,
    role_of_seat,
    seats_of,
)
from proofstone.stages.build import read_parameters
from proofstone.stages.build_reads import BuildReads, OpenIndex, OpenWebSearch, open_reads
from proofstone.stages.entering import BuildSpec, entering_rows, entering_sources
from proofstone.wording import counted

__all__ = ["PlannedBuild", "builder_for", "builder_of", "plan_build"]


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
    pipelines = method.pipelines if isinstance(method, BuildsInSteps) else {}
    if kind not in pipelines:
        known = ", ".join(pipelines) or "nothing"
        raise BadUsage(f"{method.name} does not build {kind!r} in steps; it builds {known}")
    return pipelines[kind]


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
