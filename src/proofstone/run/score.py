"""Score stored responses; only judges are called."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from proofstone.errors import BadUsage, WorkspaceUnusable
from proofstone.files.tables import read_checked
from proofstone.method import FileGrades, Method, Verifying, find_method, method_names
from proofstone.models.ask import Asker
from proofstone.models.budget import Budget, Spending
from proofstone.models.config import load_config
from proofstone.records.calls import CacheUse, Judge
from proofstone.records.ids import short
from proofstone.records.items import Unit
from proofstone.records.runs import Run, Score, VerifiedRun
from proofstone.records.tables import Row
from proofstone.run.campaign import loads_of_judging
from proofstone.run.dry_run import forecast_of_responses
from proofstone.run.forecast import JudgingForecast
from proofstone.run.forms import select_runs
from proofstone.run.judges import (
    Judges,
    JudgeSpec,
    judge_spec,
    loads_of,
    seated,
)
from proofstone.run.scorings import Judging, Scored, score_run, score_units
from proofstone.run.self_preference import SelfEvaluation, self_evaluation_of
from proofstone.session.askers import with_askers
from proofstone.session.egress import let_out
from proofstone.session.folders import find_folder
from proofstone.session.models import family_of_model
from proofstone.session.permits import AskEgress
from proofstone.session.progress import Background, Watch, start_spending
from proofstone.session.session import Session, Target, create_session, find_target
from proofstone.store.provenance import Origin

T = TypeVar("T")


_DIGITS = 12  # of an id: longer than people type, so that ids of a list stay distinct


def score(
    session: Session,
    run: Target,
    *,
    again: bool = False,
    judge: Judges = (),
    reference: Target | Path | None = None,
    settings: Struct | None = None,
    max_connections: int | None = None,
    cache: CacheUse = "same",
    budget: Budget | str | None = None,
) -> Scored:
    """Score a run's stored responses; return how many have scores.

    Makes no API calls without a ``judge``, and never calls the evaluated model. Another judge makes
    another scoring. With a ``reference`` knowledge base, a sample of its triples is verified as
    ``settings`` say (see ``verify_runs``, which takes several runs).

    Raises what stopped the judges (EndpointUnusable, BudgetReached) after their verdicts are
    stored. Raises BadUsage if a reference is missing, or if nothing can be verified against one.
    """
    if reference is not None:
        (verified,) = verify_runs(session,
            [run], judge=judge, reference=reference, settings=settings,
            again=again, max_connections=max_connections, cache=cache, budget=budget,
        )  # fmt: skip
        return Scored(n=verified.n, waiting=verified.waiting)
    found = find_target(session.store, run, ("run",))
    key, record = session.store.runs.run(found.id)
    method = find_method(record.method)
    spec = judge_spec(judge)
    if spec is not None:
        _check_judged(method, record)
        let_out(session, loads_of_judging(session, [record.item_set], spec))

    scored = partial(
        score_run, session.store, method, key, record, clock=session.clock, again=again
    )
    if spec is None:
        return Background(lambda _stop: scored()).wait()
    return _seated(
        session, spec, lambda judging: scored(judging=judging),
        max_connections=max_connections, cache=cache, budget=budget,
    )  # fmt: skip


def score_forecast(
    session: Session,
    run: Target,
    judge: Judges,
    *,
    again: bool = False,
    max_connections: int | None = None,
) -> JudgingForecast:
    """Estimate what ``score`` would take with these judges. Makes no API calls, stores nothing."""
    found = find_target(session.store, run, ("run",))
    key, record = session.store.runs.run(found.id)
    spec = judge_spec(judge)
    if spec is None:
        raise BadUsage("no judge is given, so there is nothing to estimate",
                       hint="--judge PROVIDER/NAME")  # fmt: skip
    _check_judged(find_method(record.method), record)

    return with_askers(
        session,
        spec.models,
        lambda askers: forecast_of_responses(
            session.store, find_method(record.method), key, record, spec, list(askers.values()),
            again=again,
        ),
        max_connections=max_connections,
    )  # fmt: skip


def _check_judged(method: Method, run: Run) -> None:
    """Raise BadUsage for a run whose responses judges do not score without a reference."""
    if method.verifying is not None:
        method.verifying.check_judged(run)


def verify_runs(
    session: Session,
    runs: Sequence[Target],
    *,
    judge: Judges,
    reference: Target | Path,
    settings: Struct | None = None,
    again: bool = False,
    max_connections: int | None = None,
    cache: CacheUse = "same",
    budget: Budget | str | Spending | None = None,
    watch: Watch | None = None,
    on_interrupt: Callable[[], None] | None = None,
) -> Sequence[VerifiedRun]:
    """Verify a sample of runs' triples against a reference knowledge base, in both directions.

    The reference is a bank made by ``build reference``, a file or a folder. Each run's verdicts are
    a scoring of it, complete once none is pending. The same call resumes an interrupted one. Makes
    no calls to evaluated models.

    ``watch`` receives the number of triples done and their total. Raises BadUsage for runs without
    triples, and what stopped a judge after its verdicts are stored.
    """
    verifying = verifying_of(session, runs)[1]
    return verifying.verify(
        session, runs, judge=judge, reference=reference, settings=settings or verifying.settings(),
        again=again, max_connections=max_connections, cache=cache, budget=budget, watch=watch,
        on_interrupt=on_interrupt,
    )  # fmt: skip


def verify_forecast(
    session: Session,
    runs: Sequence[Target],
    *,
    judge: Judges,
    reference: Target | Path,
    settings: Struct | None = None,
    again: bool = False,
    max_connections: int | None = None,
) -> JudgingForecast:
    """Estimate what ``verify_runs`` would take. Makes no API calls and stores nothing."""
    verifying = verifying_of(session, runs)[1]
    found: JudgingForecast = verifying.forecast(
        session, runs, judge=judge, reference=reference, settings=settings or verifying.settings(),
        again=again, max_connections=max_connections,
    )  # fmt: skip
    return found


def verifying_of(session: Session, runs: Sequence[Target]) -> tuple[Method, Verifying]:
    """Return the method of these runs and how it verifies them.

    Raises BadUsage for runs without anything to verify.
    """
    found = [find_target(session.store, each, ("run",)) for each in runs]
    names = sorted({session.store.runs.run(each.id)[1].method for each in found})
    if not names:
        raise BadUsage("no run is given", hint="proofstone list run")
    verifying = [how_to_verify(find_method(name)) for name in names]
    return find_method(names[0]), verifying[0]


def how_to_verify(method: Method) -> Verifying:
    """Return how runs of a method are verified. Raises BadUsage if they cannot be."""
    if method.verifying is None:
        raise BadUsage(
            f"runs of {method.name} hold no triples to verify against a reference knowledge base",
            hint="remove --reference and its options",
        )
    return method.verifying


def judge_units(
    session: Session,
    method: Method,
    units: Sequence[Unit],
    judges: JudgeSpec,
    *,
    name: str,
    max_connections: int | None = None,
    cache: CacheUse = "same",
    budget: Budget | str | None = None,
) -> list[Score]:
    """Return the scores of units without a run, by rule and by ``judges``.

    Calls are stored; ``name`` says what the units belong to. Raises what stopped a judge.
    """
    return with_judges(session,
        judges, lambda judge: score_units(method, units, judge), names=(name,), n=len(units),
        max_connections=max_connections, cache=cache, budget=budget,
    )  # fmt: skip


def with_judges(
    session: Session,
    judges: JudgeSpec,
    ask: Callable[[Judge], Awaitable[T]],
    *,
    names: Sequence[str],
    n: int,
    about: int = 0,
    max_connections: int | None = None,
    cache: CacheUse = "same",
    budget: Budget | str | None = None,
) -> T:
    """Return what ``ask`` makes with ``judges``; their calls are stored.

    ``names`` say what the texts belong to. Judges see at most ``n`` texts, of ``about`` characters
    each. Raises what stopped a judge.
    """
    origins = [Origin(name, "", n, (name,)) for name in names]
    texts = {names[0].encode(): (origins, n)}
    more = {"about": about} if about else {}
    let_out(session, loads_of(judges, session.config, texts, **more))
    return _seated(
        session, judges, lambda judging: ask(judging.judge),
        max_connections=max_connections, cache=cache, budget=budget,
    )  # fmt: skip


def _seated(
    session: Session,
    judges: JudgeSpec,
    ask: Callable[[Judging], Awaitable[T]],
    *,
    max_connections: int | None,
    cache: CacheUse,
    budget: Budget | str | None,
) -> T:
    """Return what ``ask`` makes with these judges at work."""

    async def sit(askers: dict[str, Asker]) -> T:
        async with seated(session.store, judges, askers, session.clock) as judging:
            return await ask(judging)

    return with_askers(
        session, judges.models, sit, max_connections=max_connections, cache=cache,
        spending=start_spending(session, budget),
    )  # fmt: skip


def runs_meant(session: Session, targets: Sequence[str]) -> tuple[str, ...]:
    """Return the runs of texts: a single run, or all of a form, a list or a bank.

    Raises NotFound if nothing was run on one.
    """
    meant: list[str] = []
    for target in targets:
        found = find_target(session.store, target, ())
        if found.kind == "run":
            meant.append(target)
            continue
        for _key, run in select_runs(session.store, [found]).runs:
            meant.append(f"run:{short(run.id, _DIGITS)}")
    return tuple(dict.fromkeys(meant))


def respondent_of(session: Session, run: Target) -> str:
    """Return the model of a run."""
    found = find_target(session.store, run, ("run",))
    return session.store.runs.run(found.id)[1].respondent


def self_evaluation_of_judges(
    session: Session, judge: Judges, evaluated_models: Sequence[str]
) -> tuple[SelfEvaluation, ...]:
    """Return the judges that would evaluate responses of the same model or model family.

    Makes no API calls.
    """
    spec = judge_spec(judge)
    held = [("contestant", name) for name in evaluated_models]
    return (
        ()
        if spec is None
        else self_evaluation_of(spec.models, held, partial(family_of_model, session))
    )


# Grading of responses in a file: by rule and by judges, whose calls are stored if there is a
# workspace.


class GradedFile(Struct, frozen=True):
    """Hold the rows with the outcomes of their responses; ``waiting`` of them need a judge."""

    rows: tuple[dict[str, Any], ...]
    waiting: int


class _Responses(Struct, frozen=True):
    rows: tuple[Row, ...]
    units: Sequence[Unit]


def grading_method(name: str = "") -> tuple[Method, FileGrades]:
    """Return the method that grades files, by name or the first one. Raises BadUsage."""
    for each in [name] if name else method_names():
        method = find_method(each)
        if method.grading_files is not None:
            return method, method.grading_files
    raise BadUsage(f"the method {name or 'wanted'} does not grade files")


def metrics_of_file(
    path: Path, by: Sequence[str] = (), *, against: str = "", encoding: str = ""
) -> dict[str, Any]:
    """Return the metrics of a file of grades, overall and by values of the columns ``by``.

    Adds the agreement with human grades in the column ``against``. Raises what reading raises.
    """
    _method, grading = grading_method()
    return read_checked(path, lambda rows: grading.metrics_of(rows, by, against), encoding=encoding)


def grade_file(
    path: Path,
    *,
    judge: Judges = (),
    folder: Path | None = None,
    ask_egress: AskEgress | None = None,
    max_connections: int | None = None,
    cache: CacheUse = "same",
    budget: Budget | str | None = None,
    encoding: str = "",
) -> GradedFile:
    """Grade the responses of a file.

    Judge calls are stored in the workspace of ``folder`` or the nearest one; without one, nothing
    is stored. Raises what reading a file raises, and what stopped a judge.
    """
    method, grading = grading_method()
    responses = read_checked(path, lambda rows: _read(grading, rows), encoding=encoding)
    spec = judge_spec(judge)
    if spec is None:
        scores = Background(lambda _stop: score_units(method, responses.units, None)).wait()
    else:
        with passing_workspace(folder) as session:
            session.ask_egress = ask_egress
            scores = judge_units(session,
                method, responses.units, spec, name=path.name, max_connections=max_connections,
                cache=cache, budget=budget,
            )  # fmt: skip
    by_unit: dict[int, list[Score]] = {}
    for score in scores:
        by_unit.setdefault(score.unit, []).append(score)
    made = [
        grading.graded_row(row.values, by_unit.get(place, ()))
        for place, row in enumerate(responses.rows)
    ]
    return GradedFile(tuple(made), waiting=len(made) - len(by_unit))


def _read(grading: FileGrades, rows: Iterable[Row]) -> _Responses:
    held = tuple(rows)
    return _Responses(held, grading.read_responses(held))


@contextmanager
def passing_workspace(folder: Path | None) -> Iterator[Session]:
    """Yield the workspace of a folder, or the nearest one.

    Without one, yields a temporary workspace with the model settings of the current folder.
    """
    try:
        found = find_folder(folder or Path.cwd())
    except WorkspaceUnusable:
        if folder is not None:
            raise
    else:
        with Session(found) as session:
            yield session
        return
    with (
        tempfile.TemporaryDirectory(prefix="proofstone-") as passing,
        create_session(passing) as session,
    ):
        session.config = load_config(other_tables=frozenset({"workspace"}))
        yield session
