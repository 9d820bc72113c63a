"""What the page arranges of a leaderboard: tables of estimates, warnings by remedy, anchors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from proofstone.records.results import Estimate
from proofstone.report.board import BoardRow, Leaderboard, Standings
from proofstone.report.card_lines import group_heading
from proofstone.report.page_data import FormShown, QuestionShown
from proofstone.wording import paragraph, say, word

__all__ = [
    "EstimateTable",
    "TableBody",
    "anchors",
    "by_remedy",
    "estimate_tables",
    "outcome_of",
    "same_recipe",
    "table_bodies",
]


class EstimateTable(Struct, frozen=True, kw_only=True):
    """Several estimates a ranked row: a heading and its denominator in words (or nothing) a
    column, and as many estimates for each of ``group.ranked``, in order. ``name`` and ``keys`` (one
    a column) name it and its columns for programs."""

    name: str
    keys: tuple[str, ...]
    about: str
    note: str
    heads: tuple[tuple[str, str], ...]
    cells: tuple[tuple[Estimate, ...], ...]


def estimate_tables(group: Standings, estimand: str) -> Iterator[EstimateTable]:
    """By estimand, by level of averaging, and the other measures; none without ranked rows, and
    no table that would only repeat the leaderboard's column."""
    rows = group.ranked
    if not rows:
        return
    yield EstimateTable(
        name="by-estimand",
        keys=("bank", "knowledge"),
        about=say("by estimand"),
        note=say(
            "Fresh questions from this bank alone, or other facts as well: see How to read these "
            "numbers."
        ),
        heads=(("this bank", ""), ("knowledge like this bank's", "")),
        cells=tuple((row.bank, row.knowledge) for row in rows),
    )
    if len(rows[0].levels) > 1:
        yield EstimateTable(
            name="by-level",
            keys=tuple(level.name for level in rows[0].levels),
            about=say("by level of averaging"),
            note=paragraph(
                say("Sample-wise counts each item the same."),
                say("A coarser level counts each of its groups the same, whatever its size."),
                _spoken_of(estimand),
            ),
            heads=tuple(
                (say("{level}-wise", level=word(level.name)), "") for level in rows[0].levels
            ),
            cells=tuple(tuple(level.estimate for level in row.levels) for row in rows),
        )
    measures = {other.name: other.denominator for row in rows for other in row.others}
    if measures:
        yield EstimateTable(
            name="other-measures",
            keys=tuple(measures),
            about=say("other measures"),
            note=paragraph(say("Each with its own denominator."), _spoken_of(estimand)),
            heads=tuple(measures.items()),
            cells=tuple(tuple(_measured(row, name) for name in measures) for row in rows),
        )


def _spoken_of(estimand: str) -> str:
    return say("Intervals for {estimand}.", estimand=word(estimand))


def _measured(row: BoardRow, name: str) -> Estimate:
    """A row's estimate of another measure; an undefined one where nothing of its kind was asked."""
    found = [other.estimate for other in row.others if other.name == name]
    undefined = Estimate(value=math.nan, n=0, low=math.nan, high=math.nan)
    return found[0] if found else undefined


class TableBody(Struct, frozen=True, kw_only=True):
    """Rows of the leaderboard that stand together, where it is grouped under the heading of the
    group ``name``."""

    name: str = ""
    heading: str = ""
    rows: tuple[BoardRow, ...]


def table_bodies(board: Leaderboard, group: Standings) -> Iterator[TableBody]:
    """The ranked rows of a standing, by group; all in one without a heading where there is none."""
    if not group.groups:
        yield TableBody(rows=group.ranked)
    for each in group.groups:
        if each.ranked:
            rows = tuple(group.ranked[place] for place in each.ranked)
            heading = group_heading(board.group_by, each)
            yield TableBody(name=word(each.name), heading=heading, rows=rows)


def by_remedy(group: Standings) -> dict[str, list[str]]:
    """What to try, and which respondents it is for: one remedy said once, not once a row."""
    found: dict[str, list[str]] = {}
    for row in (*group.ranked, *group.incomplete):
        for advice in row.warnings:
            found.setdefault(advice.try_next, []).append(
                say("{who}: {what}", who=row.label, what=advice.what)
            )
    return found


def anchors(questions: Sequence[QuestionShown]) -> Mapping[str, str]:
    """The id of the place where a respondent's questions are shown, by its label."""
    labels = dict.fromkeys(question.label for question in questions)
    return {label: f"replies-{place}" for place, label in enumerate(labels, start=1)}


def outcome_of(question: QuestionShown) -> str:
    """What came of a question, as readers look for it: an answer was right, wrong or partly right;
    other outcomes as they are."""
    if question.outcome != "answered" or question.value is None:
        return word(question.outcome)
    if question.value == 1:
        return say("right")
    return say("wrong") if question.value == 0 else say("partly right")


def same_recipe(forms: Sequence[FormShown]) -> bool:
    """Whether several forms were made with the same parameters, which is then said once."""
    return len(forms) > 1 and len({form.recipe for form in forms}) == 1
