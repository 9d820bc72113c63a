"""Run requests on a workspace: performed, and saved as run files that mean the same runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import structs

from proofstone import __version__
from proofstone.errors import BadInput, BadUsage, NotFound, StoreFailed
from proofstone.files.tables import SUFFIXES, RowReader
from proofstone.ingest.bank_files import read_form
from proofstone.method import USUAL_METHOD, every_method, find_method, find_preset
from proofstone.models.budget_account import Spending
from proofstone.models.config import ModelConfig
from proofstone.models.entries import Entry, merged
from proofstone.records.items import ItemSet, Preset, shown_name
from proofstone.run.campaign import RunResult, kin_of_specs, run_specs
from proofstone.run.dry_run import forecast_specs
from proofstone.run.forecast import DryRun
from proofstone.run.forms import forms_of
from proofstone.run.plan import RunSpec
from proofstone.run.request import Asking, RunRequest
from proofstone.run.run_file import run_file_text
from proofstone.run.self_preference import Kin
from proofstone.session.costs import start_spending
from proofstone.session.session import Session, method_of


def perform_request(
    session: Session, request: RunRequest, *, spending: Spending | None = None, **watching: Any
) -> list[RunResult]:
    """Runs what a request means; ``watching`` as for ``Workspace.run``. ``spending`` is that of the
    request's budget, where other calls share it."""
    connections = _connections(session, request)
    if spending is not None:
        connections["spending"] = spending
    return run_specs(session, specs_of_request(session, request), **connections, **watching)


def forecast_request(
    session: Session, request: RunRequest, *, pilot: int, spending: Spending, **watching: Any
) -> DryRun:
    """What the runs of a request would take; ``watching`` as for ``Workspace.run``, ``spending`` as
    for ``perform_request``."""
    return forecast_specs(
        session,
        specs_of_request(session, request),
        pilot=pilot,
        **{**_connections(session, request), "spending": spending},
        **watching,
    )


def kin_of_request(session: Session, request: RunRequest) -> tuple[Kin, ...]:
    """The contestants of a request that had a part in what they are asked."""
    return kin_of_specs(session, specs_of_request(session, request))


def specs_of_request(session: Session, request: RunRequest) -> list[RunSpec]:
    """The runs that a request means. Its entries of models are in force from now on."""
    session.config = with_entries(session.config, request.entries)
    return request.specs(item_sets_of(session, request.targets))


def _connections(session: Session, request: RunRequest) -> dict[str, Any]:
    asked = request.asked
    return {
        "max_connections": asked.max_connections,
        "cache": asked.cache,
        "spending": start_spending(session, asked.budget or None),
    }


def save_request(session: Session, request: RunRequest, path: Path) -> None:
    """Writes the resolved request as a run file. Raises StoreFailed where it cannot be written."""
    item_sets = item_sets_of(session, request.targets)
    names = {
        f"form:{identity.hex()}": shown_name(session.store.items.item_set(identity))
        for identity in item_sets
    }
    resolved = request.resolved(tuple(names), defaults_of(session, item_sets))
    day = datetime.fromtimestamp(session.clock.now(), UTC).strftime("%Y-%m-%d")
    heading = f"Resolved by proofstone {__version__} on {day}: nothing is left to defaults."
    text = run_file_text(resolved, path.parent, heading=heading, names=names)
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise StoreFailed(
            f"cannot write {path}: {error.strerror or error}", hint="name another file with --save"
        ) from error


def preset_of(session: Session, request: RunRequest) -> Preset | None:
    """The preset that a request names, by the method of its first target; None where it names
    none."""
    if not request.asked.preset:
        return None
    return find_preset(method_of(session, request.targets[0]), request.asked.preset)


def with_preset(session: Session, request: RunRequest) -> RunRequest:
    """The request over the choices of its preset, which everything that it says itself overrides.

    Raises NotFound where a target's method has no preset of that name.
    """
    if not request.asked.preset:
        return request
    for target in request.targets:
        values = find_preset(method_of(session, target), request.asked.preset).values("run")
        ways, efforts = _listed(values, "ask"), _listed(values, "reasoning_effort")
        counts = {key: values.pop(key) for key in ("shots", "samples") if key in values}
        swept = {} if request.says_effort() or not efforts else {"reasoning_effort": efforts}
        request = structs.replace(
            request,
            for_all=request.for_all.over(Asking(**counts, settings=values)),
            ways=request.ways or {way: Asking() for way in ways},
            whole={**swept, **request.whole},
        )
    return request


def _listed(values: dict[str, Any], name: str) -> tuple[str, ...]:
    """What a preset says of something that may be asked once with each; taken out of ``values``."""
    said = values.pop(name, ())
    return (said,) if isinstance(said, str) else tuple(said)


def item_sets_of(session: Session, targets: Sequence[str]) -> list[bytes]:
    """The item sets that targets mean, each once."""
    found = [
        identity
        for target in targets
        for identity in forms_of(session.store, session.find(target, "form", "bank", "run"))
    ]
    return list(dict.fromkeys(found))


def with_entries(config: ModelConfig, entries: Mapping[str, Entry]) -> ModelConfig:
    """The configuration with a run file's entries of models over its own."""
    models = {**config.models}
    for name, entry in entries.items():
        models[name] = merged([models.get(name, Entry()), entry])
    return replace(config, models=models)


def defaults_of(session: Session, item_sets: Sequence[bytes]) -> Callable[[str], Mapping[str, Any]]:
    """The method's default settings of a way. Raises BadUsage where there are several methods."""
    names = {session.store.items.item_set(identity).method for identity in item_sets}
    if len(names) != 1:
        raise BadUsage(
            f"these targets are of {len(names)} methods ({', '.join(sorted(names))}), whose "
            "defaults one run file cannot hold",
            hint="save a run file for each",
        )
    return find_method(names.pop()).settings


# Files of questions: which method reads one as items or as facts, and ``run FILE``.

_LOOKED_AT = 20  # rows whose columns tell what a file holds


def is_question_file(target: str) -> bool:
    """Whether a target is a file of rows; no form or bank is named so."""
    path = Path(target)
    suffix = path.suffixes[-2:][0] if path.suffix == ".gz" else path.suffix
    return suffix.lower() in SUFFIXES and path.is_file()


def method_of_bank_file(path: Path, *, encoding: str = "") -> str:
    """The name of the method that reads a file as facts, by its columns; the usual one where none
    says so. Raises BadUsage where several do, and what reading raises."""
    columns = _columns(RowReader(path, encoding=encoding))
    found = [method.name for method in every_method() if method.recognises_facts(columns)]
    if len(found) > 1:
        raise _ambiguous(path, found, "bank")
    return found[0] if found else USUAL_METHOD


def method_of_reference(path: Path, *, encoding: str = "") -> str:
    """The name of the method that reads a file as a reference. Raises BadInput where it says
    nothing of what it names, and what reading raises."""
    reader = RowReader(path, encoding=encoding)
    columns = _columns(reader)
    known = [each for each in every_method() if each.verifying is not None]
    for method in known:
        if method.verifying is not None and method.verifying.has_reference(columns):
            return method.name
    wanted = "; or ".join(each.verifying.reference_columns for each in known if each.verifying)
    raise BadInput(
        f"{path} holds no reference: its columns are {', '.join(columns) or 'none'}",
        reader.problems,
        hint=f"expected {wanted}",
    )


def method_of_list(called: str) -> str:
    """The name of the method whose items are called so. Raises NotFound where there is none."""
    found = [method.name for method in every_method() if method.items_called == called]
    if not found:
        raise NotFound(f"no method that is installed asks of {called}")
    return found[0]


def method_of_file(path: Path, *, otherwise: str = "", encoding: str = "") -> str:
    """The name of the method that reads the questions of a file, by its columns; ``otherwise``
    where none does.

    Raises BadInput where there is none, BadUsage where several would, and what reading raises.
    """
    reader = RowReader(path, encoding=encoding)
    columns = _columns(reader)
    found = list(_reading(columns))
    if not found and otherwise:
        return otherwise
    if not columns:
        raise BadInput(f"{path} holds no questions", reader.problems)
    if len(found) > 1:
        raise _ambiguous(path, found, "form")
    if not found:
        raise BadInput(
            f"{path} holds no questions that are known here: its columns are {', '.join(columns)}",
            hint="expected question and answer; or question, options and answer; "
            "of entities: proofstone import FILE --as entities",
        )
    return found[0]


def with_question_files(
    session: Session, request: RunRequest, tell: Callable[[ItemSet], None] | None = None
) -> RunRequest:
    """The request with the form of each file among its targets in the file's place, imported where
    it is not there yet; each is told of."""
    targets = []
    for target in request.targets:
        if not is_question_file(target):
            targets.append(target)
            continue
        path = Path(target)
        form = read_form(session, path, method=method_of_file(path))
        if tell is not None:
            tell(form)
        targets.append(f"form:{form.id.hex()}")
    return structs.replace(request, targets=tuple(targets))


def _columns(reader: RowReader) -> dict[str, None]:
    """The columns of the first rows, each once."""
    return {name: None for row in islice(reader, _LOOKED_AT) for name in row.values}


def _ambiguous(path: Path, found: Sequence[str], kind: str) -> BadUsage:
    return BadUsage(
        f"{path} could be read by {' and '.join(found)}",
        hint=f"say which: proofstone import FILE --as {kind} --method NAME",
    )


def _reading(columns: dict[str, None]) -> Iterator[str]:
    return (method.name for method in every_method() if method.recognises(columns))
