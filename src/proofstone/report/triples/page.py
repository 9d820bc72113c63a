"""One HTML page of verified triples: no network, no store, nothing but the records handed in."""

from __future__ import annotations

from proofstone.report.figures import draw
from proofstone.report.figures.ahead import BeginDrawing, DrawnAhead
from proofstone.report.page import MOST_LANES, page_environment, page_policy
from proofstone.report.page_paper import paper_line
from proofstone.report.page_script import page_script
from proofstone.report.shown_text import visible
from proofstone.report.ties import tie_lanes
from proofstone.report.triples.answer import ranked_rows
from proofstone.report.triples.browsing import held_json
from proofstone.report.triples.shown import TriplePage, triple_page_for
from proofstone.report.triples.standing import (
    LEADING,
    openness_of,
    rows_together,
    triples_an_entity,
    why_unranked,
)
from proofstone.report.triples.words import MEASURE_HELP, MEASURE_NAMES

__all__ = ["render_triple_page"]


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
