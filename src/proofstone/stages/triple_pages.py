"""Pages of verified runs, with what lies beside them: entities and verdicts, tables, figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from proofstone import __version__
from proofstone.engines.store import Store
from proofstone.identity import short
from proofstone.records.audience import Audience
from proofstone.records.triples import Group, VerifiedRuns
from proofstone.report import Leaderboard, PageData, Provenance
from proofstone.report.figures.on_page import page_figures
from proofstone.report.sections.section import Section
from proofstone.report.triples.answer import answer_of, partial_notes
from proofstone.report.triples.board import TripleBoard, without_shared_setting
from proofstone.report.triples.findings import findings_of
from proofstone.report.triples.page import render_triple_page
from proofstone.report.triples.sections import triple_sections
from proofstone.report.triples.shown import TriplePage
from proofstone.report.triples.standing import f1_figure, standing_table
from proofstone.stages.control import ControlReport
from proofstone.stages.dates import minute
from proofstone.stages.held_files import folder_beside, hold
from proofstone.stages.page_files import NOTHING, BesideAsked, PageWritten, write_text
from proofstone.stages.pages import asked_shown, controls_shown, forms_shown
from proofstone.stages.summarise import Selection
from proofstone.stages.table_files import check_tables, write_tables
from proofstone.wording import say

if TYPE_CHECKING:
    from proofstone.report.figures.ahead import BeginDrawing

__all__ = ["triple_page", "write_triple_page"]


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
    from proofstone.stages.figure_files import check_drawn, write_drawn  # noqa: PLC0415

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
