"""Texts of the page that its templates say: messages as HTML, and headings made of several."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from markupsafe import Markup, escape

from proofstone.report.board import Leaderboard, Standings
from proofstone.report.page_parts import EstimateTable
from proofstone.report.sentences import apart_name, scale_head
from proofstone.wording import (
    counted,
    filled,
    joined,
    language,
    language_tag,
    listed,
    paragraph,
    say,
    word,
)

__all__ = ["page_texts"]


def page_texts() -> Mapping[str, Callable[..., Any]]:
    """What templates say texts with, by name. Messages come out as HTML: what fills their places
    is escaped unless it is HTML already."""
    return {
        "band_sentence": _band_sentence,
        "code": lambda text: Markup("<code>{}</code>").format(text),
        "counted": counted,
        "estimates_heading": _estimates_heading,
        "joined": joined,
        "language_tag": language_tag,
        "listed": listed,
        "paragraph": _paragraph,
        "plot_subtitle": _plot_subtitle,
        "plot_title": _plot_title,
        "say": _say,
        "say_of": lambda n, one, many, **values: _say(one if n == 1 else many, **values),
        "scale_sentence": _scale_sentence,
        "stressed": lambda text: Markup("<em>{}</em>").format(text),
        "word": word,
    }


def _say(message: str, /, **values: object) -> Markup:
    if language() == "en":
        return escape(message).format(**values)
    return Markup(filled(str(escape(word(message))), values, _escaped))  # noqa: S704 - escaped


def _escaped(value: object, spec: str) -> str:
    return str(value if isinstance(value, Markup) and not spec else escape(format(value, spec)))


def _paragraph(*sentences: str) -> Markup:
    return Markup(paragraph(*(str(escape(sentence)) for sentence in sentences)))  # noqa: S704


def _scale_sentence(board: Leaderboard) -> str:
    """What the leaderboard's numbers are, and what their intervals speak of."""
    said = say(
        "{measure} in points out of 100, with the {confidence:g}% interval for {estimand}.",
        measure=word(board.measure).capitalize(),
        confidence=100 * board.confidence,
        estimand=word(board.estimand),
    )
    if board.level == "sample":
        return said
    return paragraph(said, say("Each {level} counts the same.", level=word(board.level)))


def _band_sentence(group: Standings, has_lanes: bool) -> str:
    """How ties are drawn; empty where there are none."""
    if not group.ties:
        return ""
    if has_lanes:
        return say(
            "Models that share a letter and a band are not significantly different "
            "(adjusted for all pairs)."
        )
    return say("A bar shows the rank range, with first place at the left.")


def _plot_title(board: Leaderboard, group: Standings) -> str:
    said = say("{measure} by respondent", measure=word(board.measure))
    return f"{scale_head(group)}{said}" if apart_name(group) else said[:1].upper() + said[1:]


def _plot_subtitle(board: Leaderboard, group: Standings) -> str:
    dots = say(
        "dots with {confidence:g}% intervals for {estimand}, in points out of 100",
        confidence=100 * board.confidence,
        estimand=word(board.estimand),
    )
    if not group.is_common:
        return dots
    return say("{items}; {dots}", items=counted(group.n_items, "item"), dots=dots)


def _estimates_heading(group: Standings, table: EstimateTable) -> str:
    """The first letter is large, the others as they are."""
    simulated = say("simulated: {said}", said="") if group.simulated else ""
    said = f"{simulated}{scale_head(group)}{table.about}"
    return said[:1].upper() + said[1:]
