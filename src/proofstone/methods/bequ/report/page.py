"""One HTML page of verified triples: no network, no store, nothing but the records handed in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from proofstone import __version__
from proofstone.errors import BadUsage
from proofstone.files.write import write_rows
from proofstone.method import find_method
from proofstone.methods.bequ.experiments.evidence import experiment_of
from proofstone.methods.bequ.experiments.groups import experiment_sections
from proofstone.methods.bequ.report.board import TripleBoard, without_shared_setting
from proofstone.methods.bequ.report.held import Held, folder_beside, held_json, hold
from proofstone.methods.bequ.report.sections import (
    LEADING,
    answer_of,
    f1_figure,
    findings_of,
    openness_of,
    partial_notes,
    ranked_rows,
    rows_together,
    standing_table,
    triple_sections,
    triples_an_entity,
    why_unranked,
)
from proofstone.methods.bequ.report.verified_boards import make_verified_board
from proofstone.methods.bequ.report.words import MEASURE_HELP, MEASURE_NAMES
from proofstone.methods.bequ.verification.records import Group, VerifiedRuns
from proofstone.methods.bequ.verification.rows import result_tables, verdict_row
from proofstone.page.figure import BeginDrawing, DrawnAhead, draw
from proofstone.page.html import page_script
from proofstone.page.section import Section, tie_lanes
from proofstone.page.text import visible
from proofstone.records.ids import short
from proofstone.records.tables import Audience
from proofstone.results.board_text import Leaderboard
from proofstone.results.page import MOST_LANES, page_environment, page_policy
from proofstone.results.page_files import (
    NOTHING,
    BesideAsked,
    MoreTables,
    PageWritten,
    check_drawn,
    check_tables,
    page_figures,
    write_drawn,
    write_tables,
    write_text,
)
from proofstone.results.page_parts import (
    Asked,
    Control,
    FormShown,
    PageData,
    Provenance,
    paper_line,
)
from proofstone.results.report import asked_shown, controls_shown, forms_shown
from proofstone.run.forms import Selection
from proofstone.run.run_facts import ControlReport
from proofstone.session.session import Session
from proofstone.session.terminal import minute
from proofstone.store.store import Store
from proofstone.wording.messages import say

# All that a page of verified triples shows; plain records, filled by the caller.


class TriplePage(Struct, frozen=True, kw_only=True):
    """A page of verified runs. ``sections`` are the parts after the leaderboard, ``studies`` those
    of experiments, shown one at a time. ``setting`` is that of all rows, whose labels then leave it
    out; ``card_columns`` are facts of the models' cards. ``notes`` stand above all else.
    ``held`` are its entities and verdicts, None on a page for the public: the names of entities are
    what was asked, triples are replies, and passages are the reference's. ``forms``, ``asked`` and
    ``controls`` say how models were asked."""

    title: str
    board: TripleBoard
    provenance: Provenance
    setting: str = ""
    card_columns: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    studies: tuple[Section, ...] = ()
    notes: tuple[str, ...] = ()
    held: Held | None = None
    forms: tuple[FormShown, ...] = ()
    asked: tuple[Asked, ...] = ()
    controls: tuple[Control, ...] = ()
    audience: Audience = "internal"


def triple_page_for(page: TriplePage) -> TriplePage:
    """The page as its audience may see it: for the public without entities, triples and passages,
    and without replies to control completions."""
    if page.audience == "internal":
        return page
    controls = tuple(structs.replace(control, reply="") for control in page.controls)
    return structs.replace(page, held=None, controls=controls)


def render_triple_page(page: TriplePage, begin_drawing: BeginDrawing | None = None) -> str:
    """The page as HTML text, the same for the same ``page``; its policy is that of every page."""
    page = triple_page_for(page)
    models = tuple(row.label for row in page.board.rows)
    parts = (*page.sections, *page.studies)
    drawn = draw
    if begin_drawing is not None:
        figures = (figure for part in parts for figure in part.figures)
        drawn = DrawnAhead(begin_drawing, figures, models).draw
    environment = page_environment()
    n_ranked = len(ranked_rows(page.board))
    lanes = tie_lanes(page.board.ties)
    style = environment.get_template("page.css.jinja").render(
        n_lanes=max(lanes, default=-1) + 1,
        paper_line=visible(paper_line(page.title, page.provenance)),
    )
    script = page_script(browses=True)
    return environment.get_template("triples/page.html.jinja").render(
        data=page,
        board=page.board,
        models=models,
        drawn=drawn,
        style=style,
        script=script,
        browses=True,
        policy=page_policy(
            style, script, more_scripts=page.held is not None and page.held.is_beside
        ),
        held_json=None if page.held is None else held_json(page.held),
        lane_of=lanes if max(lanes, default=0) < MOST_LANES else (),
        leading=LEADING,
        measure_names=MEASURE_NAMES,
        measure_help=MEASURE_HELP,
        openness_of=openness_of,
        triples_an_entity=triples_an_entity,
        why_unranked=why_unranked,
        rows_together=rows_together,
        ranked_place=lambda rank: round(100 * (rank - 1) / max(n_ranked, 1), 2),
        with_settings=any(row.group.setting for row in page.board.rows),
        with_fictional=any(row.fictional_given is not None for row in page.board.rows),
        with_waiting=any(row.waiting for row in page.board.rows),
    )


# Pages of verified runs, with what lies beside them: entities and verdicts, tables, figures.


def triple_page(
    store: Store,
    selection: Selection,
    board: TripleBoard,
    *,
    now: float,
    studies: tuple[Section, ...] = (),
    control: ControlReport | None = None,
    command: str = "",
    card_columns: Sequence[str] = (),
    audience: Audience = "internal",
) -> TriplePage:
    """Everything a page of verified runs shows its ``audience``, but for what it holds of entities
    and verdicts."""
    shown = without_shared_setting(board)
    return TriplePage(
        title=", ".join(sorted({item_set.name for item_set in selection.item_sets})),
        board=shown,
        setting=board.setting,
        card_columns=tuple(card_columns),
        provenance=Provenance(
            version=__version__,
            made_at=minute(now),
            runs=tuple(f"run:{short(run.id)}" for _key, run in selection.runs),
            command=command,
        ),
        answers=answer_of(shown),
        findings=findings_of(shown),
        sections=triple_sections(shown),
        studies=studies,
        notes=partial_notes(shown),
        forms=forms_shown(selection),
        asked=asked_shown(store, selection),
        controls=controls_shown(control),
        audience=audience,
    )


def write_triple_page(
    page: TriplePage,
    verified: VerifiedRuns,
    path: Path | None,
    beside: BesideAsked = NOTHING,
    begin_drawing: BeginDrawing | None = None,
) -> PageWritten:
    """Writes the page with its entities and verdicts, its tables and its figures, each where it is
    asked for; nothing where the files of one may not be written. A page for the public holds no
    entity and no verdict. Raises what ``hold``, ``check_tables``, ``check_drawn`` and
    ``write_text`` do."""

    data = _as_page(page)
    drawn = page_figures(data)
    if beside.tables is not None:
        check_tables(data, beside.tables, beside.others)
    if beside.figures is not None:
        check_drawn(drawn, beside.figures)
    if path is not None:
        if page.audience == "internal":
            if page.setting:
                groups = tuple(Group(group.model) for group in verified.groups)
                verified = replace(verified, groups=groups)
            page = structs.replace(page, held=hold(verified, path))
        write_text(path, render_triple_page(page, begin_drawing))
    needed = path is not None and page.held is not None and page.held.is_beside
    models = tuple(row.label for row in page.board.rows)
    return PageWritten(
        page=None if path is None else str(path),
        tables=None if beside.tables is None else write_tables(data, beside.tables, beside.others),
        figures=None if beside.figures is None else write_drawn(drawn, models, beside.figures),
        methods=(),
        rows=str(folder_beside(path)) if needed and path is not None else None,
    )


def _as_page(page: TriplePage) -> PageData:
    """The page as others are, for its tables and figures as files: the leaderboard is a section,
    and nobody stands on the board of respondents."""
    figure = f1_figure(page.board)
    leading = Section(
        name="leaderboard",
        title=say("Leaderboard"),
        finding="",
        tables=(standing_table(page.board),),
        figures=() if figure is None else (figure,),
    )
    nobody = Leaderboard(
        measure="f1", denominator="", counts=(), estimand="", level="",
        confidence=page.board.confidence, n_items=page.board.entities, forms=(), standings=(),
    )  # fmt: skip
    return PageData(
        title=page.title,
        board=nobody,
        provenance=page.provenance,
        seed=page.board.seed,
        sections=(leading, *page.sections, *page.studies),
        forms=page.forms,
        asked=page.asked,
        controls=page.controls,
        audience=page.audience,
    )


# From verified runs to their page, with the experiments that they carry.

# Options of scores of items, by their usual values: each triple counts once, and intervals are over
# entities.
OF_ITEMS: Mapping[str, str] = {"level": "sample", "estimand": "knowledge"}


# Options that leaderboards of verified triples take, too.
_OF_BOARDS = ("group_by", "where", "card_columns", "view", "seed")


def write_verified_page(
    session: Session,
    selection: Selection,
    path: Path | None,
    beside: BesideAsked,
    *,
    options: Mapping[str, Any],
    control: ControlReport | None = None,
    command: str = "",
) -> PageWritten | None:
    """Writes the page of a leaderboard of verified triples, and what was asked for ``beside`` it;
    None where nothing is verified. The tables of verified runs hold the texts of passages, and are
    not for the public.

    Raises BadUsage for options that go with scores of items, and what ``write_triple_page`` does.
    """
    store = session.store
    taken = {name: options[name] for name in _OF_BOARDS if name in options}
    made = make_verified_board(store, lambda: session.config, selection, **taken)
    if made is None:
        return None
    if options.get("audience", "internal") != "public":
        beside = beside._replace(others=tables_of(made.verified, made.board))
    other = [f"--{name}" for name, usual in OF_ITEMS.items() if options.get(name, usual) != usual]
    if other:
        raise BadUsage(
            f"{', '.join(other)}: not of verified triples",
            hint="with --unverified the page ranks by how much models say",
        )
    method = find_method(made.selection.method)
    found = experiment_of(store, method, made.selection, made.verified, made.board)
    page = triple_page(
        store,
        made.selection,
        found.board,
        now=session.clock.now(),
        studies=experiment_sections(found),
        control=control,
        command=command,
        card_columns=options.get("card_columns", ()),
        audience=options.get("audience", "internal"),
    )
    return write_triple_page(page, made.verified, path, beside)


_DETAILED = "results_detailed.csv"


_ABOUT = {
    "results.csv": "verdicts of each model by direction, counted",
    "combined_results.csv": "F1, precision and recall of each model, in all and by domain",
    "results_by_category.csv": "verdicts of each model by domain",
    "results_by_popularity.csv": "verdicts of each model by popularity",
    _DETAILED: "every verdict with its passage, and columns for people",
}


def tables_of(verified: VerifiedRuns, board: TripleBoard) -> MoreTables:
    """What writes the tables of a board, and every verdict behind it, one by one; by domain and
    popularity where the board has such parts."""
    return MoreTables(tuple(_ABOUT), partial(_write, verified, board))


def _write(verified: VerifiedRuns, board: TripleBoard, folder: Path) -> dict[str, str]:
    measured = [row.measured for row in board.rows]
    for name, rows in result_tables(measured, board.parts).items():
        write_rows(folder / name, rows)
    write_rows(folder / _DETAILED, _detailed(verified))
    return {name: about for name, about in _ABOUT.items() if (folder / name).exists()}


def _detailed(verified: VerifiedRuns) -> Iterator[dict[str, Any]]:
    """A row a verdict, with the stored reply that it is on."""
    for found in verified.read():
        row = verdict_row(found, verified.groups, verified.entities)
        yield {**row, "response": found.response}
