"""Run requests on a workspace: performed, and saved as run files that mean the same runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from proofstone import __version__
from proofstone.engines.models import Entry, ModelConfig
from proofstone.engines.models.entries import merged
from proofstone.errors import BadUsage, StoreFailed
from proofstone.methods import find_method, find_preset
from proofstone.stages.run_file_text import run_file_text
from proofstone.stages.run_request import Asking, RunRequest
from proofstone.stages.summarise import shown_name
from proofstone.wiring.targets import forms_of

if TYPE_CHECKING:
    from proofstone.engines.models import Spending
    from proofstone.records import Preset
    from proofstone.stages.campaign import RunResult
    from proofstone.stages.forecasts import DryRun
    from proofstone.stages.kin import Kin
    from proofstone.stages.planning import RunSpec
    from proofstone.wiring.workspace import Workspace

__all__ = [
    "defaults_of",
    "forecast_request",
    "item_sets_of",
    "kin_of_request",
    "perform_request",
    "preset_of",
    "save_request",
    "specs_of_request",
    "with_entries",
    "with_preset",
]


def perform_request(
    workspace: Workspace, request: RunRequest, *, spending: Spending | None = None, **watching: Any
) -> list[RunResult]:
    """Runs what a request means; ``watching`` as for ``Workspace.run``. ``spending`` is that of the
    request's budget, where other calls share it."""
    connections = _connections(workspace, request)
    if spending is not None:
        connections["spending"] = spending
    return workspace.run_specs(specs_of_request(workspace, request), **connections, **watching)


def forecast_request(
    workspace: Workspace, request: RunRequest, *, pilot: int, spending: Spending, **watching: Any
) -> DryRun:
    """What the runs of a request would take; ``watching`` as for ``Workspace.run``, ``spending`` as
    for ``perform_request``."""
    return workspace.forecast_specs(
        specs_of_request(workspace, request),
        pilot=pilot,
        **{**_connections(workspace, request), "spending": spending},
        **watching,
    )


def kin_of_request(workspace: Workspace, request: RunRequest) -> tuple[Kin, ...]:
    """The contestants of a request that had a part in what they are asked."""
    return workspace.kin_of_specs(specs_of_request(workspace, request))


def specs_of_request(workspace: Workspace, request: RunRequest) -> list[RunSpec]:
    """The runs that a request means. Its entries of models are in force from now on."""
    workspace.config = with_entries(workspace.config, request.entries)
    return request.specs(item_sets_of(workspace, request.targets))


def _connections(workspace: Workspace, request: RunRequest) -> dict[str, Any]:
    return {
        "max_connections": request.max_connections,
        "cache": "any" if request.cache == "any" else "same",
        "spending": workspace.spending(request.budget or None),
    }


def save_request(workspace: Workspace, request: RunRequest, path: Path) -> None:
    """Writes the resolved request as a run file. Raises StoreFailed where it cannot be written."""
    item_sets = item_sets_of(workspace, request.targets)
    names = {
        f"form:{identity.hex()}": shown_name(workspace.store.items.item_set(identity))
        for identity in item_sets
    }
    resolved = request.resolved(tuple(names), defaults_of(workspace, item_sets))
    day = datetime.fromtimestamp(workspace.clock.now(), UTC).strftime("%Y-%m-%d")
    heading = f"Resolved by proofstone {__version__} on {day}: nothing is left to defaults."
    text = run_file_text(resolved, path.parent, heading=heading, names=names)
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise StoreFailed(
            f"cannot write {path}: {error.strerror or error}", hint="name another file with --save"
        ) from error


def preset_of(workspace: Workspace, request: RunRequest) -> Preset | None:
    """The preset that a request names, by the method of its first target; None where it names
    none."""
    if not request.preset:
        return None
    return find_preset(workspace.method_of(request.targets[0]), request.preset)


def with_preset(workspace: Workspace, request: RunRequest) -> RunRequest:
    """The request over the choices of its preset, which everything that it says itself overrides.

    Raises NotFound where a target's method has no preset of that name.
    """
    if not request.preset:
        return request
    for target in request.targets:
        values = find_preset(workspace.method_of(target), request.preset).values("run")
        ways, efforts = _listed(values, "ask"), _listed(values, "reasoning_effort")
        counts = {key: values.pop(key) for key in ("shots", "samples") if key in values}
        request = structs.replace(
            request,
            for_all=request.for_all.over(Asking(**counts, settings=values)),
            ways=request.ways or {way: Asking() for way in ways},
            efforts=request.efforts or (() if request.says_effort() else efforts),
        )
    return request


def _listed(values: dict[str, Any], name: str) -> tuple[str, ...]:
    """What a preset says of something that may be asked once with each; taken out of ``values``."""
    said = values.pop(name, ())
    return (said,) if isinstance(said, str) else tuple(said)


def item_sets_of(workspace: Workspace, targets: Sequence[str]) -> list[bytes]:
    """The item sets that targets mean, each once."""
    found = [
        identity
        for target in targets
        for identity in forms_of(workspace.store, workspace.find(target, "form", "bank", "run"))
    ]
    return list(dict.fromkeys(found))


def with_entries(config: ModelConfig, entries: Mapping[str, Entry]) -> ModelConfig:
    """The configuration with a run file's entries of models over its own."""
    models = {**config.models}
    for name, entry in entries.items():
        models[name] = merged([models.get(name, Entry()), entry])
    return replace(config, models=models)


def defaults_of(
    workspace: Workspace, item_sets: Sequence[bytes]
) -> Callable[[str], Mapping[str, Any]]:
    """The method's default settings of a way. Raises BadUsage where there are several methods."""
    names = {workspace.store.items.item_set(identity).method for identity in item_sets}
    if len(names) != 1:
        raise BadUsage(
            f"these targets are of {len(names)} methods ({', '.join(sorted(names))}), whose "
            "defaults one run file cannot hold",
            hint="save a run file for each",
        )
    return find_method(names.pop()).settings
