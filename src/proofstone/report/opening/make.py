"""The half page, made from what the sections are made from."""

from __future__ import annotations

import math
from collections.abc import Iterator

from proofstone.report.board import Leaderboard, Standings
from proofstone.report.opening.best import best_sentences
from proofstone.report.opening.costs import cost_sentences
from proofstone.report.opening.opening import Opening, OpeningPart
from proofstone.report.opening.side_by_side import side_by_side
from proofstone.report.opening.undecided import undecided_sentences
from proofstone.report.sections.ranked_values import values_of
from proofstone.report.sections.section import Evidence
from proofstone.report.sections.stability import probability_of_best
from proofstone.report.sentences import scale_head
from proofstone.report.sheet import Sheet
from proofstone.wording import joined, say, word

__all__ = ["make_opening"]


def make_opening(evidence: Evidence) -> Opening:
    """A part for each ranking of real respondents; of simulated ones only where there are no
    others. No part without scores."""
    board = evidence.board
    ranked = (group for group in board.standings if not group.experiment)
    groups = [g for g in ranked if board.is_simulated_only or not g.simulated]
    return Opening(
        parts=tuple(_part(evidence, group) for group in groups),
        words=tuple(_words(board)) if groups else (),
    )


def _part(evidence: Evidence, group: Standings) -> OpeningPart:
    return OpeningPart(
        heading=scale_head(group),
        best=(*best_sentences(group), *_probability(evidence, group)),
        table=side_by_side(group, evidence.sheet),
        told=(
            *cost_sentences(group, is_of_files=_is_of_files(evidence)),
            *_endings_unknown(evidence.sheet),
        ),
        undecided=tuple(undecided_sentences(evidence, group)),
    )


def _probability(evidence: Evidence, group: Standings) -> Iterator[str]:
    ranked = values_of(evidence, group)
    if ranked is not None and (told := probability_of_best(ranked)):
        yield told


def _is_of_files(evidence: Evidence) -> bool:
    """Whether these are other people's results: items of files have names, accuracies no items."""
    return evidence.sheet is None or bool(evidence.sheet.table.item_names)


def _endings_unknown(sheet: Sheet | None) -> Iterator[str]:
    if sheet is None:
        yield say("How many answers were wrong, refused or unreadable is not known.")
    elif not sheet.table.tells_outcomes:
        yield say(
            "Which replies were refused, unreadable or cut off is not known: the files do not say. "
            "Such a reply counts as its score says."
        )
    elif sheet.table.unknown_outcomes:
        yield say(
            "The files do not record which responses were {outcomes}.",
            outcomes=joined([word(name) for name in sheet.table.unknown_outcomes]),
        )


def _words(board: Leaderboard) -> Iterator[str]:
    yield say("A point is one question in a hundred.")
    yield say(
        "Brackets show {confidence:g}% confidence intervals. Over repeated tests with new "
        "questions of the same kind, about {confidence:g}% of such intervals contain the true "
        "score.",
        confidence=100 * board.confidence,
    )
    if any(not math.isnan(group.chance) for group in board.standings):
        yield say("Chance is what guessing would score.")
