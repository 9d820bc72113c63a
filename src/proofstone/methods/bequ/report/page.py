"""Render the HTML page of verified triples from records, without network or store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from proofstone import __version__
from proofstone.errors import BadUsage
from proofstone.files.write import write_rows
from proofstone.method import find_method
from proofstone.methods.bequ.experiments.evidence import experiment_of
from proofstone.methods.bequ.experiments.groups import experiment_sections
from proofstone.methods.bequ.records import Group, VerifiedRuns
from proofstone.methods.bequ.report.board import (
    TripleBoard,
    make_verified_board,
    without_shared_setting,
)
from proofstone.methods.bequ.report.findings import (
    MEASURE_HELP,
    MEASURE_NAMES,
    answer_of,
    findings_of,
    partial_notes,
    ranked_rows,
)
from proofstone.methods.bequ.report.held import Held, held_json, hold
from proofstone.methods.bequ.report.sections import (
    LEADING,
    f1_figure,
    openness_of,
    rows_together,
    standing_table,
    triple_sections,
    why_unranked,
)
from proofstone.methods.bequ.verification.measures import outcome_of, result_tables, verdict_row
from proofstone.page.figure import draw
from proofstone.page.html import TRIPLE_SCRIPT, page_script
from proofstone.page.section import Section, tie_lanes
from proofstone.page.text import visible
from proofstone.records.ids import short
from proofstone.records.tables import Audience
from proofstone.results.board_text import Leaderboard
from proofstone.results.page import MOST_LANES, ROWS_OPEN, page_environment, page_policy
from proofstone.results.page_files import (
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
from proofstone.results.page_pieces import folder_beside
from proofstone.results.report import asked_shown, controls_shown, forms_shown
from proofstone.run.forms import Selection
from proofstone.run.run_facts import ControlReport
from proofstone.session.session import Session
from proofstone.session.terminal import minute
from proofstone.wording.messages import counted, say


class TriplePage(Struct, frozen=True, kw_only=True):
    """Hold a page of verified runs.

    ``sections`` follow the leaderboard; ``analyses`` are those of experiments, shown one at a time.
    ``setting`` is common to all rows and omitted from their labels. ``card_columns`` are facts from
    model cards. ``notes`` come first. ``held`` has entities and verdicts; None on a public page,
    which shows no prompts, responses and reference texts. ``forms``, ``asked`` and ``controls``
    describe the prompts.
    """

    title: str
    board: TripleBoard
    provenance: Provenance
    setting: str = ""
    card_columns: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    analyses: tuple[Section, ...] = ()
    notes: tuple[str, ...] = ()
    held: Held | None = None
    forms: tuple[FormShown, ...] = ()
    asked: tuple[Asked, ...] = ()
    controls: tuple[Control, ...] = ()
    audience: Audience = "internal"


def render_triple_page(page: TriplePage) -> str:
    """Render the page as HTML text, deterministic for the same ``page``.

    It has the content security policy of every page. A public page has no entities, triples,
    passages or sanity-check responses.
    """
    if page.audience != "internal":
        controls = tuple(structs.replace(control, response="") for control in page.controls)
        page = structs.replace(page, held=None, controls=controls)
    board, held = page.board, page.held
    environment = page_environment("proofstone.methods.bequ")
    n_ranked = len(ranked_rows(board))
    lanes = tie_lanes(board.ties)
    style = environment.get_template("page.css.jinja").render(
        n_lanes=max(lanes, default=-1) + 1,
        rows_open=ROWS_OPEN,
        paper_line=visible(paper_line(page.title, page.provenance)),
    )
    script = page_script(*TRIPLE_SCRIPT)
    return environment.get_template("triple_page.html.jinja").render(
        data=page,
        board=board,
        models=tuple(row.label for row in board.rows),
        drawn=draw,
        style=style,
        script=script,
        browses="triples",
        policy=page_policy(style, script, more_scripts=held is not None and held.is_beside),
        contents=_contents(page),
        context_line=_context_line(page),
        limitations=(*page.notes, *board.notes),
        held_json=None if held is None else held_json(held),
        lane_of=lanes if max(lanes, default=0) < MOST_LANES else (),
        leading=LEADING,
        measure_names=MEASURE_NAMES,
        measure_help=MEASURE_HELP,
        openness_of=openness_of,
        outcome_of=outcome_of,
        why_unranked=why_unranked,
        rows_together=rows_together,
        ranked_place=lambda rank: round(100 * (rank - 1) / max(n_ranked, 1), 2),
        with_settings=any(row.group.setting for row in board.rows),
        with_nonexistent=any(row.nonexistent_given is not None for row in board.rows),
        with_waiting=any(row.waiting for row in board.rows),
    )


def _contents(page: TriplePage) -> tuple[tuple[str, str], ...]:
    """Return the id and title of each entry of the navigation."""
    found = [("leaderboard", say("Leaderboard"))]
    found += [("experiments", say("Experiments"))] if page.analyses else []
    if page.held is not None:
        found += [("entities", say("Entities")), ("triples", say("Triples and their verdicts"))]
    return (*found, ("methods", say("Methods")))


def _context_line(page: TriplePage) -> str:
    """Return what the page is of, in one line."""
    board = page.board
    parts = (
        counted(len(board.rows), "model"),
        counted(board.entities, "entity", "entities"),
        say("{level:g}% CI", level=100 * board.confidence),
        page.provenance.made_at[:10],
        say("public") if page.audience == "public" else say("internal"),
    )
    return " \u00b7 ".join(parts)


# From verified runs to their page, with the experiments that they carry, and what lies beside it:
# entities and verdicts, tables, figures.

# Options for item scores, by default value: here each triple counts once, and CIs are over
# entities.
OF_ITEMS: Mapping[str, str] = {"level": "sample", "population": "domain"}


# Options that leaderboards of verified triples support, too.
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
    """Write the page of a leaderboard of verified triples, with its data and files in ``beside``.

    Returns None if nothing is verified, and writes nothing if a file cannot be written. A public
    page has no entities, verdicts or tables of verified runs, since these contain passages.

    Raises BadUsage for options of item scores, and the errors of ``hold``, ``check_tables``,
    ``check_drawn`` and ``write_text``.
    """
    store = session.store
    taken = {name: options[name] for name in _OF_BOARDS if name in options}
    made = make_verified_board(store, lambda: session.config, selection, **taken)
    if made is None:
        return None
    audience = options.get("audience", "internal")
    if audience != "public":
        beside = beside._replace(others=_tables_of(made.verified, made.board))
    other = [f"--{name}" for name, usual in OF_ITEMS.items() if options.get(name, usual) != usual]
    if other:
        raise BadUsage(
            f"{', '.join(other)}: not available for verified triples",
            hint="with --unverified the page ranks by the number of triples",
        )
    if beside.brief is not None:
        raise BadUsage(
            "--brief: not available for verified triples",
            hint="with --unverified the brief ranks by the number of elicited triples",
        )
    selection = made.selection
    method = find_method(selection.method)
    found = experiment_of(store, method, selection, made.verified, made.board)
    board = without_shared_setting(found.board)
    page = TriplePage(
        title=", ".join(sorted({item_set.name for item_set in selection.item_sets})),
        board=board,
        setting=found.board.setting,
        card_columns=tuple(options.get("card_columns", ())),
        provenance=Provenance(
            version=__version__,
            made_at=minute(session.clock.now()),
            runs=tuple(f"run:{short(run.id)}" for _key, run in selection.runs),
            command=command,
        ),
        answers=answer_of(board),
        findings=findings_of(board),
        sections=triple_sections(board),
        analyses=experiment_sections(found),
        notes=partial_notes(board),
        forms=forms_shown(selection),
        asked=asked_shown(store, selection),
        controls=controls_shown(control),
        audience=audience,
    )
    data = _as_page(page)
    drawn = page_figures(data)
    if beside.tables is not None:
        check_tables(data, beside.tables, beside.others)
    if beside.figures is not None:
        check_drawn(drawn, beside.figures)
    rows = None
    if path is not None:
        if audience == "internal":
            verified = made.verified
            if page.setting:
                groups = tuple(Group(group.model) for group in verified.groups)
                verified = replace(verified, groups=groups)
            page = structs.replace(page, held=(held := hold(verified, path)))
            rows = str(folder_beside(path)) if held.is_beside else None
        write_text(path, render_triple_page(page))
    models = tuple(row.label for row in page.board.rows)
    return PageWritten(
        page=None if path is None else str(path),
        tables=None if beside.tables is None else write_tables(data, beside.tables, beside.others),
        figures=None if beside.figures is None else write_drawn(drawn, models, beside.figures),
        methods=(),
        rows=rows,
        units="entities and triples",
    )


def _as_page(page: TriplePage) -> PageData:
    """Return the page in the form of others, for its tables and figures as files.

    The leaderboard is a section, and the board of models is empty.
    """
    figure = f1_figure(page.board)
    leading = Section(
        name="leaderboard",
        title=say("Leaderboard"),
        finding="",
        tables=(standing_table(page.board),),
        figures=() if figure is None else (figure,),
    )
    nobody = Leaderboard(
        measure="f1", denominator="", counts=(), population="", level="",
        confidence=page.board.confidence, n_items=page.board.entities, forms=(), standings=(),
    )  # fmt: skip
    return PageData(
        title=page.title,
        board=nobody,
        provenance=page.provenance,
        seed=page.board.seed,
        sections=(leading, *page.sections, *page.analyses),
        forms=page.forms,
        asked=page.asked,
        controls=page.controls,
        audience=page.audience,
    )


_ABOUT = {
    "results.csv": "verdict counts of each model by direction",
    "combined_results.csv": "F1, precision and recall of each model, overall and by domain",
    "results_by_category.csv": "verdicts of each model by domain",
    "results_by_popularity.csv": "verdicts of each model by popularity",
    "results_detailed.csv": "every verdict with its passage, and columns for annotators",
}


def _tables_of(verified: VerifiedRuns, board: TripleBoard) -> MoreTables:
    """Return the writers of a leaderboard's tables and of every verdict with its response.

    Includes domain and popularity if the leaderboard has these breakdowns.
    """

    def write(folder: Path) -> dict[str, str]:
        detailed = (
            {**verdict_row(each, verified.groups, verified.entities), "response": each.response}
            for each in verified.read()
        )
        tables = result_tables([row.measured for row in board.rows], board.parts)
        for name, rows in {**tables, "results_detailed.csv": detailed}.items():
            write_rows(folder / name, rows)
        return {name: about for name, about in _ABOUT.items() if (folder / name).exists()}

    return MoreTables(tuple(_ABOUT), write)
