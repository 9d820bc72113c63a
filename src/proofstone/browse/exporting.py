"""Export: what of a workspace goes into a file, by the kind of row that is named."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from proofstone.browse.export import export_responses
from proofstone.build.rows import ended_fields
from proofstone.errors import BadUsage
from proofstone.files.write import write_rows
from proofstone.ingest.bank_files import export_bank, export_items
from proofstone.method import find_method
from proofstone.results.reading import leaderboard, selection_of
from proofstone.run.run_facts import plan_row
from proofstone.session.models import family_of_model
from proofstone.session.session import Session, method_of
from proofstone.session.targets import Target, find_target
from proofstone.store.lookup import Found

if TYPE_CHECKING:
    from proofstone.records.scores import ScoreTable


What = Literal["facts", "items", "responses", "scores", "leaderboard", "verdicts", "triples"]


EXPORTED: tuple[What, ...] = get_args(What)


_USUAL: dict[str, What] = {"bank": "facts", "form": "items", "run": "responses"}


def write_export(
    session: Session, /, target: Target, path: Path | str, what: What | None = None, **options: Any
) -> int:
    """Writes rows to a file by its suffix (JSONL, CSV, TSV, Parquet, Excel); returns how many.

    Of a bank its facts, of a form its items, of a run its responses, of a plan the plan, of
    a build the rows that it dropped or that are held up, each with why, or with ``what``
    "verdicts" every ballot of its judges; with ``what`` also the
    "scores" or the "leaderboard" of a bank, form or run, for which ``options`` are those of
    ``leaderboard``, and of a run that elicits them its "triples" (with
    ``fold_near``, a cosine, those in other words folded) and, once verified, "verdicts": a row
    each with its evidence and columns that people fill. Facts and items can be
    imported again. Raises BadUsage for what a row has none of.
    """
    found = find_target(session.store, target, ("bank", "form", "run", "plan", "build"))
    n_rows = _export(session, found, Path(path), what, options)
    if what not in ("scores", "leaderboard") and found.kind != "plan":
        session.store.written.add(Path(path), found.kind, [found.id], session.clock.now())
    return n_rows


def _export(
    session: Session, found: Found, path: Path, what: What | None, options: dict[str, Any]
) -> int:
    if found.kind == "build":
        return _export_build(session, found, Path(path), what)
    if found.kind == "plan":
        return write_rows(Path(path), [plan_row(session.store.plans.one(found.key))])
    what = what or _USUAL[found.kind]
    file = Path(path)
    if what in ("scores", "leaderboard"):
        return _export_results(session, found, file, what, options)
    if what == "verdicts" or (what == "triples" and found.kind == "run"):
        return _export_verifiable(session, found, file, what, options)
    if what != _USUAL[found.kind]:
        raise BadUsage(
            f"a {found.kind} has no {what}",
            hint=f"it has: {_USUAL[found.kind]}, scores, leaderboard",
        )
    writers: dict[str, Callable[[Found, Path], int]] = {
        "bank": partial(_export_bank, session),
        "form": partial(_export_form, session),
        "run": partial(_export_run, session),
    }
    return writers[found.kind](found, file)


def score_table(session: Session, /, *targets: Target, **options: Any) -> ScoreTable:
    """The scores of runs, forms or a bank as columns; ``to_arrow()``, ``to_pandas()`` and
    ``to_polars()`` of it are tables of these libraries. ``view`` as in ``leaderboard``."""
    from proofstone.results.table import read_scores  # noqa: PLC0415 - numpy

    selection = selection_of(session, targets)
    method = find_method(selection.method)
    return read_scores(
        session.store, method, selection, family=partial(family_of_model, session), **options
    )


def _export_results(
    session: Session, found: Found, file: Path, what: What, options: dict[str, Any]
) -> int:
    if what == "leaderboard":
        from proofstone.results.board import board_rows  # noqa: PLC0415 - numpy

        return write_rows(file, board_rows(leaderboard(session, found, **options)))
    from proofstone.browse.export import score_rows  # noqa: PLC0415 - numpy

    return write_rows(file, score_rows(score_table(session, found, **options)))


def _export_build(session: Session, found: Found, file: Path, what: What | None) -> int:
    from proofstone.build.rows import verdict_fields  # noqa: PLC0415

    if what not in (None, "verdicts"):
        raise BadUsage(f"a build has no {what}", hint="it has: its dropped rows, verdicts")
    fields = ended_fields if what is None else verdict_fields
    return write_rows(file, fields(session.store, found))


def _export_bank(session: Session, found: Found, file: Path) -> int:
    method = find_method(session.store.knowledge.bank(found.id).method)
    return export_bank(session.store, method, found.id, file)


def _export_form(session: Session, found: Found, file: Path) -> int:
    method = find_method(session.store.items.item_set(found.id).method)
    return export_items(session.store, method, found.id, file)


def _export_verifiable(
    session: Session, found: Found, file: Path, what: What, options: dict[str, Any]
) -> int:
    """What a method exports whose replies hold what can be verified."""
    if what == "triples":
        method, lacks = method_of(session, found), "replies of {} hold no triples"
    else:
        method = find_method(selection_of(session, [found]).method)
        lacks = "runs of {} hold no triples to verify"
    if method.verifying is None:
        raise BadUsage(lacks.format(method.name))
    rows = method.verifying.said_rows if what == "triples" else method.verifying.verdict_rows
    return write_rows(file, rows(session, found, options))


def _export_run(session: Session, found: Found, file: Path) -> int:
    _key, run = session.store.runs.run(found.id)
    return export_responses(session.store, find_method(run.method), found.id, file)
