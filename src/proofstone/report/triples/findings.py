"""Key findings of a page of verified triples: each computed, and said only as far as its interval
carries it."""

from __future__ import annotations

from collections.abc import Callable

from proofstone.records.results import Estimate
from proofstone.records.triples import Breakdown
from proofstone.report.numbers import shown_estimate
from proofstone.report.triples.answer import ranked_rows
from proofstone.report.triples.board import TripleBoard, TripleRow
from proofstone.report.triples.carried import is_above
from proofstone.report.triples.extremes import extreme_of, extreme_sentence
from proofstone.report.triples.fictional import fictional_finding
from proofstone.report.triples.words import counted_rows, measure_name, shown_range
from proofstone.wording import joined, say

__all__ = ["findings_of"]


def findings_of(board: TripleBoard) -> tuple[str, ...]:
    """Sentences, those first that say most of the models. None where nothing was judged."""
    return tuple(filter(None, (make(board) for make in _FINDINGS)))


def _ties(board: TripleBoard) -> str:
    """Which models share a place, by the first run of places that is tied."""
    rows = ranked_rows(board)
    if len(rows) < 2 or not board.ties:
        return (
            say("Models with adjacent ranks all differ significantly in F1.")
            if len(rows) > 1
            else ""
        )
    first, last = board.ties[0]
    return say(
        "The F1 of {models} does not differ significantly.",
        models=joined([row.label for row in rows[first : last + 1]], 6),
    )


def _gap(board: TripleBoard) -> str:
    """Whose precision and recall lie furthest apart."""
    rows = [row for row in board.rows if {"precision", "recall"} <= row.measured.estimates.keys()]
    apart = [row for row in rows if _is_apart(row, len(rows))]
    if not rows:
        return ""
    if not apart:
        return say("No model's precision differs from its recall beyond their intervals.")
    widest = max(apart, key=lambda row: abs(_precision(row).value - _recall(row).value))
    lower, upper = sorted((_precision(widest), _recall(widest)), key=lambda each: each.value)
    is_careful = _precision(widest) is upper
    return say(
        "The widest gap between precision and recall is that of {model}: {what} {high} against "
        "{other} {low}. They differ beyond their intervals in {n} of {models}.",
        model=widest.label,
        what=measure_name("precision" if is_careful else "recall"),
        other=measure_name("recall" if is_careful else "precision"),
        high=shown_estimate(upper),
        low=shown_estimate(lower),
        n=len(apart),
        models=counted_rows(rows),
    )


def _is_apart(row: TripleRow, looked: int) -> bool:
    precision, recall = _precision(row), _recall(row)
    return is_above(precision, recall, looked) or is_above(recall, precision, looked)


def _precision(row: TripleRow) -> Estimate:
    return row.measured.estimates["precision"]


def _recall(row: TripleRow) -> Estimate:
    return row.measured.estimates["recall"]


def _by(by: Breakdown, measure: str) -> Callable[[TripleBoard], str]:
    def made(board: TripleBoard) -> str:
        said = extreme_of(board, by, measure)
        return "" if said is None else extreme_sentence(said)

    return made


def _undecided(board: TripleBoard) -> str:
    """How much the reference leaves open: it bounds every precision from above."""
    shares = [found.value for row in board.rows if (found := row.measured.estimates.get("neutral"))]
    if not shares:
        return ""
    return say(
        "The reference decides neither way {share} of what models said: no precision here can be "
        "above what it knows.",
        share=shown_range(shares),
    )


_FINDINGS: tuple[Callable[[TripleBoard], str], ...] = (
    _ties,
    _gap,
    _by("popularity", "f1"),
    _by("domain", "f1"),
    _by("family", "contradiction"),
    fictional_finding,
    _undecided,
)
