"""Figures made from leaderboards: what they hold, and how a page and files show them."""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from made_up import MEASURES, right_of, table_of
from msgspec.structs import replace

from proofstone.errors import BadUsage
from proofstone.methods.bequ.report.sections import Scored, precision_recall_figure
from proofstone.page.figure import can_draw, vega_lite
from proofstone.page.section import Figure
from proofstone.page.vega import Box, named, text_width
from proofstone.records.runs import Estimate, Pace, Spent
from proofstone.records.scores import Respondent
from proofstone.results.board_text import Leaderboard
from proofstone.results.measured_scores import Sheet
from proofstone.results.page import _figures_shown, render_page
from proofstone.results.page_files import BesideAsked, FiguresAsked, leaderboard_figure, write_page
from proofstone.results.page_parts import PageData, Provenance
from proofstone.results.rankings import leaderboard
from proofstone.results.sections.catalogue import make_sections
from proofstone.results.sections.evidence import Evidence
from proofstone.results.sections.size_and_cost import costs_section
from proofstone.results.sections.strata import (
    composition_figure,
    strips_figure,
)

drawn = pytest.mark.skipif(not can_draw(), reason="the extra [figures] is not installed")
N = 60
RIGHT = (50, 30, 12)


def evidence_of() -> Evidence:
    """60 items in two disciplines by turns, models of 50, 30 and 12 right, guessing 1 in 5."""
    rows = [row for who, right in enumerate(RIGHT) for row in right_of(N, right, who)]
    names = [Respondent(name, "") for name in ("strong", "middle", "weak")]
    table = table_of(names, rows, n_units=N, discipline=["Law", "Physics"] * (N // 2))
    sheet = Sheet(table, MEASURES[0].counts)
    return Evidence(board=leaderboard(table, MEASURES, "accuracy"), sheet=sheet)


def board_of() -> Leaderboard:
    return evidence_of().board


def page_of() -> PageData:
    evidence = evidence_of()
    return PageData(
        title="made up",
        board=evidence.board,
        sections=make_sections(evidence),
        provenance=Provenance(version="0", made_at="now"),
    )


def test_the_leaderboard_as_a_figure() -> None:
    board = board_of()
    figure = leaderboard_figure(board, board.standings[0])
    assert figure is not None
    assert [(mark.row, mark.value, mark.n) for mark in figure.marks] == [
        ("strong", 50 / 60, 60),
        ("middle", 30 / 60, 60),
        ("weak", 12 / 60, 60),
    ]
    (chance,) = figure.levels
    assert (chance.value, chance.text) == (pytest.approx(0.2), "chance 20.0")
    assert [(span.first, span.last) for span in figure.spans] == list(board.standings[0].ties)


def test_strips_hold_every_model_in_every_group() -> None:
    """Of the first 50 right items every second is of one discipline: 25 of 30."""
    board = board_of()
    group = board.standings[0]
    figure = strips_figure(board, group, group.breakdowns[0])
    assert figure is not None
    assert len(figure.marks) == 2 * 3
    assert figure.marks[0].row == "Law"
    assert figure.marks[0].value == pytest.approx(25 / 30)
    assert figure.levels[0].text == "chance 20.0"


def test_composition_counts_items() -> None:
    sheet = evidence_of().sheet
    assert sheet is not None
    figure = composition_figure(sheet.table)
    assert figure is not None
    assert [(mark.row, mark.value) for mark in figure.marks] == [("Law", 30.0), ("Physics", 30.0)]


def twenty(n: int = 20) -> Figure:
    """Models of much the same precision and recall, as on a leaderboard of 2026."""
    rng = np.random.default_rng(3)
    return precision_recall_figure([
        Scored(
            label=f"lab-{place}/model-{place}-instruct"[: 12 + place % 9],
            precision=Estimate(value=up, n=200, low=up - 0.035, high=up + 0.03),
            recall=Estimate(value=across, n=200, low=across - 0.03, high=across + 0.04),
        )
        for place, (up, across) in enumerate(
            zip(rng.uniform(0.5, 0.6, n).tolist(), rng.uniform(0.25, 0.35, n).tolist(), strict=True)
        )
    ])  # fmt: skip


def test_names_of_twenty_models_cover_neither_each_other_nor_points() -> None:
    """By the boxes that the drawn texts and points take."""
    spec = vega_lite(twenty())
    rows = [row for rows in spec["datasets"].values() for row in rows]
    names = [row for row in rows if {"is_far", "text"} <= set(row)]
    assert len(names) == 20
    boxes = [
        Box(row["at"], row["up"] - 5.5, row["at"] + text_width(row["text"], 11), row["up"] + 5.5)
        for row in names
    ]
    points = [
        Box(row["from_x"] - 4, row["from_y"] - 4, row["from_x"] + 4, row["from_y"] + 4)
        for row in names
    ]
    assert not [(a, b) for a, b in combinations(boxes, 2) if a.meets(b)]
    assert not [(box, point) for box in boxes for point in points if box.meets(point)]


@pytest.mark.parametrize(("n", "is_crowded"), [(6, False), (7, True)])
def test_more_than_six_points_have_light_ellipses(n: int, is_crowded: bool) -> None:
    """Their axes end where both intervals end."""
    figure = twenty(n)
    rows = [row for rows in vega_lite(figure)["datasets"].values() for row in rows]
    outline = [row for row in rows if row.get("mark") == 0]
    assert bool(outline) == is_crowded
    assert ("ellipse" in figure.subtitle) == is_crowded
    if is_crowded:
        (name,) = [row for row in rows if row.get("text") == named(figure.marks[0].row)]
        left, right = (pick(row["at"] for row in outline) for pick in (min, max))
        assert (right - name["from_x"]) / (name["from_x"] - left) == pytest.approx(4 / 3, abs=0.01)


def test_precision_and_recall_have_intervals_on_both_axes() -> None:
    half = Estimate(value=0.5, n=40, low=0.4, high=0.6)
    (mark,) = precision_recall_figure([Scored(label="m", precision=half, recall=half)]).marks
    assert (mark.x_low, mark.x, mark.x_high) == (mark.low, mark.value, mark.high) == (0.4, 0.5, 0.6)


def test_lines_of_equal_f_lie_where_the_models_do() -> None:
    """Recalls of a few points leave no room for F = 0.2; those of half the facts do."""

    def lines(*shares: tuple[float, float]) -> list[str]:
        scored = [
            Scored(
                label="m",
                precision=Estimate(value=p, n=40, low=p - 0.05, high=p + 0.05),
                recall=Estimate(value=r, n=40, low=r - 0.02, high=r + 0.02),
            )
            for p, r in shares
        ]
        return [curve.text for curve in precision_recall_figure(scored).curves]

    assert lines((0.6, 0.04), (0.4, 0.03)) == ["F1 = 0.05", "F1 = 0.1"]
    assert lines((0.3, 0.3), (0.9, 0.9)) == ["F1 = 0.4", "F1 = 0.6", "F1 = 0.8"]
    assert lines((0.9, 0.0)) == ["F1 = 0.01", "F1 = 0.02", "F1 = 0.03"]
    assert lines() == ["F1 = 0.2", "F1 = 0.4", "F1 = 0.6", "F1 = 0.8"]


def test_cost_is_for_a_thousand_questions() -> None:
    """60 questions for 0.03 USD: 1,000 for 0.5; a model without a price is left out, and said."""
    board = board_of()
    (group,) = board.standings
    spent = (
        Spent(calls=60, cost_usd=0.03),
        Spent(calls=60, cost_usd=0.3),
        Spent(calls=60, unpriced=60),
    )
    rows = tuple(
        replace(row, spent=s, pace=Pace(n_questions=60))
        for row, s in zip(group.ranked, spent, strict=True)
    )
    found = costs_section(Evidence(board=replace(board, standings=(replace(group, ranked=rows),))))
    assert found is not None
    assert found.tables[0].rows[0][2] == pytest.approx(0.5)
    assert found.finding == (
        "strong costs least, 0.5 USD per 1,000 questions at 83.3 points; middle most, 5 USD at "
        "50.0."
    )
    assert found.cannot == "The cost of 1 of 3 models is not known: they have no price."
    assert costs_section(Evidence(board=board)) is None


def test_the_table_that_a_figure_names_is_there() -> None:
    for section in page_of().sections:
        for figure in section.figures:
            assert figure.table <= len(section.tables), figure.name


@drawn
def test_each_figure_of_a_page_is_told_and_leads_to_its_numbers() -> None:
    """No two things of the page have one id, and every link within it leads somewhere."""
    html = render_page(page_of())
    figures = html.count('<figure class="drawn">')
    shown = [figure for part in page_of().sections for figure in _figures_shown(part)]
    assert 0 < figures == len(shown) < sum(len(part.figures) for part in page_of().sections)
    assert html.count(">Data table<") == figures
    ids = re.findall(r'(?<![\w-])id="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', html)) <= set(ids)


@drawn
def test_figures_as_files(tmp_path: Path) -> None:
    """Each in every kind, the same twice; a page to point at names no address that it would ask."""
    folder = tmp_path / "figures"
    asked = FiguresAsked(folder, ("svg", "png", "html"))
    written = write_page(page_of(), None, BesideAsked(figures=asked)).figures
    assert written is not None
    names = {name.split(".", 1)[0] for name in written.files}
    assert {"leaderboard", "by-discipline", "by-discipline-strips", "composition"} <= names
    assert {name.split(".", 1)[1] for name in written.files} == {"svg", "png", "html", "vl.json"}
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    write_page(page_of(), None, BesideAsked(figures=asked))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert before["leaderboard.png"].startswith(b"\x89PNG")
    assert b"<title>Accuracy by model</title>" in before["leaderboard.svg"]
    page = before["leaderboard.html"].decode()
    assert "default-src 'none'" in page
    own = page.partition('<script type="module">')[0]
    assert not re.search(r"<[^>]+(?:src|href)=", own)
    spec = json.loads(before["leaderboard.vl.json"])
    board = board_of()
    figure = leaderboard_figure(board, board.standings[0])
    assert figure is not None
    models = ["strong", "middle", "weak"]
    assert spec == json.loads(json.dumps(vega_lite(figure, models, is_titled=True)))


@drawn
def test_what_is_not_as_it_was_written_is_not_written_over(tmp_path: Path) -> None:
    asked = FiguresAsked(tmp_path, ("svg",))
    (tmp_path / "leaderboard.svg").write_text("mine", encoding="utf-8")
    with pytest.raises(BadUsage, match=r"leaderboard\.svg") as raised:
        write_page(page_of(), tmp_path / "page.html", BesideAsked(figures=asked))
    assert "--figures-to DIR" in str(raised.value.hint)
    assert not (tmp_path / "page.html").exists()
