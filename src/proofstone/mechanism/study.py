"""A game as a study: sections for terminal, JSON and a page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from proofstone import __version__
from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.files.fields import Fields
from proofstone.files.tables import read_checked
from proofstone.mechanism.game_file import (
    About,
    RatingGame,
    Stated,
    TournamentGame,
    find_game,
    read_game,
    with_values,
)
from proofstone.mechanism.pilot import PilotReview, bars_around, calibrate
from proofstone.mechanism.study_games import pilot_section, study_ratings, study_roles
from proofstone.mechanism.study_tournament import study_tournament
from proofstone.page.figure import draw
from proofstone.page.html import page_script
from proofstone.page.section import Section, section_text
from proofstone.page.text import visible
from proofstone.records.tables import Row
from proofstone.results.page import ROWS_OPEN, page_environment, page_policy
from proofstone.results.page_parts import Provenance, paper_line


class Study(Struct, frozen=True, kw_only=True):
    """A game with what was found."""

    about: About
    sections: tuple[Section, ...]


class StudyPage(Struct, frozen=True, kw_only=True):
    """The page of a study."""

    title: str
    provenance: Provenance
    sections: tuple[Section, ...]
    stated: tuple[Stated, ...] = ()
    audience: str = "public"


def study_game(name: str, values: Mapping[str, Any], *, pilot: Path | None, seed: int) -> Study:
    """Return the study of a game, by name or TOML file, with other values and a pilot.

    Raises NotFound, BadUsage and BadInput with all problems.
    """
    asked = read_game(with_values(find_game(name), values))
    if pilot is not None and not isinstance(asked, TournamentGame):
        raise BadUsage("a pilot calibrates a tournament", hint="this game is of another kind")
    if isinstance(asked, TournamentGame):
        first = [] if pilot is None else [_calibrated(pilot, asked.game.bar, seed)]
        sections = (*first, *study_tournament(asked, seed=seed))
    elif isinstance(asked, RatingGame):
        sections = tuple(study_ratings(asked))
    else:
        sections = tuple(study_roles(asked))
    return Study(about=asked.about, sections=sections)


def _calibrated(pilot: Path, bar: float, seed: int) -> Section:
    reviews = read_checked(pilot, read_pilot)
    found = calibrate(reviews, bar, seed=seed)
    known = [one for one in found if one.identified != "nothing"]
    others = [each for each in bars_around(reviews, bar) if each != bar]
    by_bar = (
        [one for each in others for one in calibrate(reviews, each, seed=seed)] if known else []
    )
    return pilot_section(found, sorted(by_bar, key=lambda one: (one.group, one.bar)))


def read_pilot(rows: Iterable[Row]) -> Sequence[PilotReview]:
    """Return the reviews of a pilot: columns reviewer, score, and effort (low, high) or pay.

    ``group`` (discipline) and ``cost`` are optional. Raises BadInput with all problems.
    """
    problems: list[Problem] = []
    reviews = []
    for row in rows:
        fields = Fields(row, problems)
        effort = fields.text("effort").strip().lower()
        if effort not in ("", "low", "high"):
            fields.wrong("effort", "expected low or high")
        review = PilotReview(
            reviewer=fields.required_text("reviewer").strip(),
            score=_number(fields, "score", is_needed=True),
            group=fields.label("group", "discipline"),
            effort=effort,
            pay=_number(fields, "pay", least=0.0),
            cost=_number(fields, "cost"),
        )
        if fields.is_sound:
            reviews.append(review)
    if problems:
        raise BadInput("cannot read the pilot", problems)
    return reviews


def _number(
    fields: Fields, name: str, *, is_needed: bool = False, least: float = -math.inf
) -> float:
    """Return a finite number, also from text; NaN if it is missing."""
    value = fields.find(name)[1]
    if value is None:
        if is_needed:
            fields.wrong(name, "is missing or empty")
        return math.nan
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, bool) or not math.isfinite(number) or number < least:
        above = f" of at least {least:g}" if math.isfinite(least) else ""
        fields.wrong(name, f"expected a finite number{above}, got {value!r}")
    return number


def study_page(study: Study, *, now: str, command: str) -> str:
    """Return the page of a study as HTML text."""
    page = StudyPage(
        title=study.about.title,
        provenance=Provenance(version=__version__, made_at=now, command=command),
        sections=study.sections,
        stated=study.about.choices,
    )
    environment = page_environment()
    style = environment.get_template("page.css.jinja").render(
        n_lanes=0,
        rows_open=ROWS_OPEN,
        paper_line=visible(paper_line(page.title, page.provenance)),
    )
    script = page_script()
    return environment.get_template("study.html.jinja").render(
        data=page,
        models=(),
        drawn=draw,
        style=style,
        script=script,
        policy=page_policy(style, script),
        contents=tuple((part.name, part.title) for part in page.sections),
        context_line=study.about.source,
    )


def study_text(study: Study) -> str:
    """Return a study as text for a terminal, ending in a newline."""
    head = "".join(f"{line}\n" for line in (study.about.title, study.about.source) if line)
    return "\n".join([head, *(section_text(part) for part in study.sections)])
