"""What is read of results: leaderboard, report, audit and studies of runs that were scored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from msgspec import structs

from proofstone.errors import BadUsage
from proofstone.method import Verifying, every_method, find_method
from proofstone.models.tokens import load_cl100k
from proofstone.page.section import Section
from proofstone.records.ids import short
from proofstone.records.items import ItemSet
from proofstone.records.tables import Audience, Tabulation
from proofstone.results.audit.audit import Audit, audit_evidence, benchmark_beside, write_work_list
from proofstone.results.board_text import Leaderboard
from proofstone.results.methods_paragraph import methods_text
from proofstone.results.page_files import (
    BesideAsked,
    FiguresAsked,
    FiguresWritten,
    PageWritten,
    TablesAsked,
    check_drawn,
    write_drawn,
    write_page,
)
from proofstone.results.page_parts import PageData
from proofstone.results.report import BoardMade, make_board, page_data
from proofstone.results.sections.catalogue import (
    asked_options,
    make_sections,
    perform_study,
    study_kind,
)
from proofstone.results.sections.items import work_list
from proofstone.results.sections.judges import parts_by_judge
from proofstone.results.sections.parts import (
    Analysis,
    drawn_figures,
    parts_by_form,
    parts_together,
    write_figure_data,
)
from proofstone.results.summary import make_opening
from proofstone.results.table import CURRENT
from proofstone.results.trust import trust_lines
from proofstone.run.forms import Selection, select_runs
from proofstone.run.run_facts import ControlReport
from proofstone.session.models import family_of_model
from proofstone.session.session import Session, Target, find_target
from proofstone.store.lookup import Found
from proofstone.store.store import Store


def leaderboard(session: Session, /, *targets: Target, **options: Any) -> Leaderboard:
    """The leaderboard of runs, forms or a bank; ``str()`` of it is the terminal's table.

    ``group_by`` and ``where`` ("kind=reasoning,openness=open") go by the models' cards;
    ``view`` says which scores are read (``results.table.View``). With ``by_document`` its
    standings have ``documents``.
    """
    return board_of(session, selection_of(session, targets), options).board


def verifying_of_runs(session: Session, *targets: Target) -> Verifying | None:
    """How what these runs said is verified; None where it cannot be."""
    return find_method(selection_of(session, targets).method).verifying


def verified_board(session: Session, /, *targets: Target, **options: Any) -> Any:
    """The leaderboard of what was verified of runs, forms or a bank; None where nothing is, or
    where their replies hold nothing to verify.

    ``group_by``, ``where``, ``card_columns`` and ``view`` are as in ``leaderboard``; ``by``
    names the breakdowns that are wanted, ``people`` a file of verdicts that people filled in.
    """
    selection = selection_of(session, targets)
    verifying = find_method(selection.method).verifying
    return None if verifying is None else verifying.board(session, selection, **options)


def describe(session: Session, target: Target) -> Sequence[Tabulation]:
    """The tables by which its method describes a bank or a form, tokens counted offline."""

    return tabulate(session.store, find_target(session.store, target, ()))


def write_report(
    session: Session,
    /,
    *targets: Target,
    path: Path | str | None = None,
    tables: TablesAsked | None = None,
    figures: FiguresAsked | None = None,
    control: ControlReport | None = None,
    command: str = "",
    unverified: bool = False,
    **options: Any,
) -> PageWritten:
    """Writes the leaderboard of the targets with its evidence as one HTML page, and its tables
    and figures where they are asked for; for the ``audience`` "public" without any text of
    items and replies. Where the file of one may not be written, neither is the page.

    Of triples that were verified it is their page, unless ``unverified`` is asked for."""

    selection = selection_of(session, targets)
    place = None if path is None else Path(path)
    beside = BesideAsked(tables, figures)
    method = find_method(selection.method)
    if not unverified and method.verifying is not None:
        verified: PageWritten | None = method.verifying.write_page(
            session, selection, place, beside, options=options, control=control, command=command
        )
        if verified is not None:
            return verified
    made = board_of(session, selection, {**options, "by_document": True})
    data = _page(session, made, options, control=control, command=command)
    written = write_page(data, place, beside)
    if place is not None:
        forms = [item_set.id for item_set in selection.item_sets]
        session.store.written.add(place, "form", forms, session.clock.now())
    return written


def audit_runs(session: Session, /, *targets: Target, **options: Any) -> Audit:
    """What runs, forms or a bank show: the leaderboard and the sections that follow from it."""

    made = board_of(session, selection_of(session, targets), {**options, "by_document": True})
    audit = audit_evidence(made.evidence, made.selection, options.get("audience", "internal"))
    data = _page(session, made, {**options, "audience": "public"}, sections=audit.sections)
    return structs.replace(audit, methods=methods_text(data))


def _page(
    session: Session,
    made: BoardMade,
    options: Mapping[str, Any],
    *,
    control: ControlReport | None = None,
    command: str = "",
    sections: tuple[Section, ...] | None = None,
) -> PageData:
    """All that the page of a leaderboard shows; ``sections`` are made where there are none."""

    sheet = made.evidence.sheet
    if sections is None:
        audience = options.get("audience", "internal")
        built = bank_sections(session.store, made.selection.item_sets, audience)
        own = (make(made.evidence) for make in find_method(made.selection.method).sections)
        sections = (*make_sections(made.evidence), *filter(None, own), *built)
    return page_data(
        session.store,
        made.selection,
        made.board,
        opening=make_opening(made.evidence),
        trust=trust_lines(made.evidence),
        sections=sections,
        now=session.clock.now(),
        control=control,
        command=command,
        card_columns=options.get("card_columns", ()),
        audience=options.get("audience", "internal"),
        seed=made.evidence.seed,
        method=find_method(made.selection.method),
        table=None if sheet is None else sheet.table,
        view=options.get("view", CURRENT),
    )


def write_item_work_list(
    session: Session, /, *targets: Target, path: Path | str, **options: Any
) -> int:
    """Writes all items and statements to look at, one row each, by the suffix of ``path``; how
    many there are."""

    made = board_of(session, selection_of(session, targets), options)
    return write_work_list(work_list(made.evidence), Path(path))


def make_study(session: Session, /, name: str, *targets: Target, **options: Any) -> Analysis:
    """A study of runs, forms or banks: ``estimand``, ``confidence`` and what the study takes as
    options; ``beside`` names the other benchmark of a study of rankings.

    Raises BadUsage for a name that is none, or targets that it cannot stand on.
    """

    found = _found(session, targets)
    view, n_items = options.pop("view", CURRENT), options.pop("beside_items", 0)
    for method in every_method():
        if name in method.studies and method.make_study is not None:
            asked = asked_options(name, (), **options)
            selection = selection_of(session, targets)
            made: Analysis = method.make_study(session, name, selection, view, **asked)
            return made
    kind = study_kind(name)
    if view.scorings:
        raise BadUsage(f"the study {name} reads the current scorings, not those named",
                       hint="--scoring goes with studies of verified triples")  # fmt: skip
    if kind.parts == "by judge" and verifying_of_runs(session, *targets) is not None:
        raise BadUsage("verdicts on triples are not graded replies",
                       hint="leaderboard --scoring ID shows them under one judge")  # fmt: skip
    if kind.parts == "by judge":
        parts = parts_by_judge(session.store, find_method, found)
    else:
        read = parts_by_form if kind.parts == "by form" else parts_together
        parts = read(session.store, find_method, found, lengths=kind.lengths, origins=kind.origins)
    if named := options.pop("beside", ""):
        options["beside"] = benchmark_beside(
            session.store, find_method, lambda text: _found(session, [text])[0], named, n_items
        )
    return perform_study(name, parts, **options)


def write_study_figures(session: Session, study: Analysis, asked: FiguresAsked) -> FiguresWritten:
    """Draws a study's figures into a folder. Raises BadUsage for a study without a point."""

    figures = drawn_figures(study)
    if not figures:
        raise BadUsage(f"the study {study.name} found nothing that could be drawn")
    check_drawn(figures, asked)
    return write_drawn(figures, list(dict.fromkeys(mark.row for mark in study.data.marks)), asked)


def write_study_data(session: Session, study: Analysis, path: Path | str) -> None:
    """Writes the data of a study's figure, one row a mark, by the suffix of ``path``."""

    write_figure_data(study, Path(path))


def selection_of(session: Session, targets: Sequence[Target]) -> Selection:
    """The runs that these targets mean."""
    return select_runs(session.store, _found(session, targets))


def _found(session: Session, targets: Sequence[Target]) -> list[Found]:
    return [find_target(session.store, target, ("bank", "form", "run")) for target in targets]


def board_of(session: Session, selection: Selection, options: dict[str, Any]) -> BoardMade:
    """The leaderboard, the runs that stand on it, and what its report is made from."""

    return make_board(
        session.store,
        lambda: session.config,
        selection,
        family=partial(family_of_model, session),
        **options,
    )


def tabulate(store: Store, found: Found) -> Sequence[Tabulation]:
    """The method's tables of a bank or a form; none where it declares none.

    Raises BadUsage for another kind of thing.
    """
    if found.kind == "bank":
        method = find_method(store.knowledge.bank(found.id).method)
        pages = store.knowledge.pages_of_bank(found.key)
        return method.fact_statistics((fact for page in pages for fact in page), load_cl100k())
    if found.kind == "form":
        method = find_method(store.items.item_set(found.id).method)
        items = (stored.loaded for page in store.items.pages(found.id) for stored in page)
        of_items = method.item_statistics(items, load_cl100k())
        if method.verifying is None:
            return of_items
        return (
            *of_items,
            *method.verifying.statistics(store, method, store.runs.of_sets([found.id])),
        )
    if found.kind == "run":
        key, run = store.runs.run(found.id)
        method = find_method(run.method)
        if method.verifying is not None:
            return method.verifying.statistics(store, method, [(key, run)])
    raise BadUsage(
        f"statistics are of a bank or a form; {found.kind}:{short(found.id)} is neither",
        hint="proofstone list bank, or proofstone list form, names them",
    )


# Each has ``bank_sections(store, item_sets, audience)``; they stand on a page in this order.
_MAKERS = ("build.funnel", "review.section", "check.semantic_map")


def bank_sections(
    store: Store, item_sets: Iterable[ItemSet], audience: Audience = "internal"
) -> tuple[Section, ...]:
    """How the banks of these item sets were built and reviewed, and where they and the sets lie in
    meaning, for a page."""
    sets = list(item_sets)
    makers = (import_module(f"proofstone.{name}").bank_sections for name in _MAKERS)
    return tuple(section for make in makers for section in make(store, sets, audience))
