"""The order of a results page: its chapters, its navigation, and what is folded away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct

from proofstone.page.section import Section
from proofstone.results.board import BoardRow, Standings
from proofstone.results.corrections import correction_notes
from proofstone.results.page_parts import PageData, by_remedy, open_questions
from proofstone.results.plan import plan_lines, unplanned_line
from proofstone.results.sentences import part_name, where_lines
from proofstone.wording.messages import counted, joined, listed, noted, say, say_of, word

ChapterName = Literal["groups", "pairwise", "power", "details", "items", "analyses", "quality"]


class Chapter(Struct, frozen=True, kw_only=True):
    """Sections under one heading: the ``leads`` open, the ``folds`` closed."""

    name: ChapterName
    title: str
    leads: tuple[Section, ...] = ()
    folds: tuple[Section, ...] = ()


# The chapter of each section by its name; sections not named here are further analyses.
_CHAPTER_OF: Mapping[str, ChapterName] = {
    "strata": "groups",
    "documents": "groups",
    "spread": "groups",
    "interaction": "groups",
    "pairs": "pairwise",
    "factors": "pairwise",
    "alignment": "pairwise",
    "benchmarks": "pairwise",
    "power": "power",
    "stability": "power",
    "samples": "power",
    "best-of": "power",
    "items": "items",
    "keys": "items",
    "statements": "items",
    "item-model": "items",
    "positions": "items",
    "orders": "items",
    "roles": "quality",
    "judge": "quality",
    "annotators": "quality",
    "panel": "quality",
    "judges-and-people": "quality",
    "build-funnel": "quality",
    "review-funnel": "quality",
    "metrics": "quality",
    "consistency": "quality",
}

_TITLES: Mapping[ChapterName, str] = {
    "groups": noted("By group"),
    "pairwise": noted("Pairwise"),
    "power": noted("Power and stability"),
    "details": noted("Details"),
    "items": noted("Items"),
    "analyses": noted("Further analyses"),
    "quality": noted("Data quality"),
}

# Sections whose findings are shown open; those of others are folded.
_LEADS = ("strata", "pairs", "power", "stability", "items")

# With fewer items or ranked models these sections have little power and share one fold.
FEWEST_ITEMS = 100
FEWEST_MODELS = 3
_NEED_DATA = ("pairs", "factors", "power", "stability", "interaction", "positions", "orders")


def is_small(data: PageData) -> bool:
    """Return True below 100 items or 3 ranked models."""
    n_ranked = max((len(group.ranked) for group in data.board.standings), default=0)
    return data.board.n_items < FEWEST_ITEMS or n_ranked < FEWEST_MODELS


def chapters(data: PageData) -> tuple[Chapter, ...]:
    """Arrange the sections of a page into chapters, in page order.

    Empty chapters are omitted, except items and data quality, which has other content.
    """
    small = is_small(data)
    held: dict[ChapterName, list[Section]] = {name: [] for name in _TITLES}
    for section in data.sections:
        name = _CHAPTER_OF.get(section.name, "analyses")
        held["details" if small and section.name in _NEED_DATA else name].append(section)
    found = tuple(_chapter(name, sections) for name, sections in held.items())
    return tuple(
        chapter
        for chapter in found
        if chapter.leads
        or chapter.folds
        or (chapter.name == "items" and data.items)
        or (chapter.name == "quality" and (data.trust or data.files or data.controls))
    )


def details_note(data: PageData) -> str:
    """Return a note on how few items and models the details have."""
    n_ranked = max((len(group.ranked) for group in data.board.standings), default=0)
    return say(
        "{items}, {models}. Below {fewest_items} items or {fewest_models} models, these analyses "
        "often have little power.",
        items=counted(data.board.n_items, "item"),
        models=counted(n_ranked, "model"),
        fewest_items=FEWEST_ITEMS,
        fewest_models=FEWEST_MODELS,
    )


def _chapter(name: ChapterName, sections: list[Section]) -> Chapter:
    leads = [] if name == "details" else [each for each in sections if each.name in _LEADS]
    return Chapter(
        name=name,
        title=say(_TITLES[name]),
        leads=tuple(leads),
        folds=tuple(each for each in sections if each not in leads),
    )


# The anchors of the navigation, at most six.
_IN_NAVIGATION = ("groups", "pairwise", "items", "quality")


def contents(data: PageData) -> tuple[tuple[str, str], ...]:
    """Return the id and title of each entry of the navigation, at most six, in page order."""
    inner = [
        (chapter.name, chapter.title)
        for chapter in chapters(data)
        if chapter.name in _IN_NAVIGATION
    ]
    first = [] if data.board.is_of_labels else [("leaderboard", say("Leaderboard"))]
    return (*first, *inner, ("methods", say("Methods")))


def context_line(data: PageData) -> str:
    """Return one line: models, items, groups, measure, CI level, date and audience."""
    board = data.board
    groups = next((part for group in board.standings for part in group.breakdowns), None)
    parts = [
        counted(len({row.name for row in board.rows}), "model") if board.rows else "",
        counted(board.n_items, "item") if board.n_items else "",
        say("{title} ({n})", title=counted(len(groups.groups), "group"), n=word(groups.by))
        if groups
        else "",
        word(board.measure) if board.measure else "",
        say("{level:g}% CI", level=100 * board.confidence) if board.rows else "",
        data.provenance.made_at[:10],
        say("public") if data.audience == "public" else say("internal"),
    ]
    return " \u00b7 ".join(filter(None, parts))


def partial_lines(data: PageData) -> Iterator[str]:
    """Yield one sentence for each way in which the results are partial."""
    board = data.board
    rows = [row for row in board.rows if not row.is_complete]
    if rows:
        yield say_of(
            len(rows),
            "Partial run: scores of {n} of {models} are missing. It is not ranked.",
            "Partial run: scores of {n} of {models} are missing. They are not ranked.",
            n=len(rows),
            models=counted(len(board.rows), "model"),
        )
    parts = dict.fromkeys(part_name(row.part) for row in board.rows if row.part is not None)
    if parts:
        yield say("Partial run: only {parts} were asked.", parts=joined(list(parts)))
    yield from where_lines(board.where, board.left_out, ())


def limitations(data: PageData) -> tuple[str, ...]:
    """Return the limitations of these results without repetition, one paragraph each."""
    board = data.board
    found = [
        *data.notes,
        *(said for group in board.standings for said in _of_standing(group)),
        *open_questions(data),
        *plan_lines(board),
        unplanned_line(board, is_ours=not data.files),
        *board.notes,
        *correction_notes(board),
    ]
    return tuple(dict.fromkeys(filter(None, found)))


def _of_standing(group: Standings) -> Iterator[str]:
    if group.ranked and not group.is_common:
        yield say("These models share no item, so they are not ranked against each other.")
    for remedy, cases in by_remedy(group).items():
        yield say("{cases}. To try: {remedy}.", cases=listed(cases), remedy=remedy)


def unrecorded(data: PageData) -> str:
    """Return one sentence listing what these results do not record; empty if nothing."""
    names = [line.about for line in data.trust if not line.known]
    if not names:
        return ""
    return say("Not recorded: {names}.", names=listed([n[:1].lower() + n[1:] for n in names]))


def shared_setting(group: Standings) -> str:
    """Return the prompting method and settings common to all rows; empty if they differ."""
    shared = {setting_of(row) for row in group.rows}
    return shared.pop() if len(shared) == 1 else ""


def setting_of(row: BoardRow) -> str:
    """Return the prompting method of a row with its settings."""
    return f"{row.prompt_method} {row.settings}".strip()
