"""How replies were read and scored, and what is the denominator."""

from __future__ import annotations

from collections.abc import Iterator

from proofstone.report.board import BoardRow, Leaderboard
from proofstone.report.page_data import PageData
from proofstone.wording import counted, joined, listed, paragraph, say, word

__all__ = ["scoring_sentences"]


def scoring_sentences(data: PageData) -> Iterator[str]:
    """The scorer, the measure with what each outcome counts as, how replies ended, rulings."""
    board = data.board
    if data.manifest is not None:
        yield from _scorer(data)
    yield say(
        "The measure is {measure}; its denominator: {denominator}.",
        measure=word(board.measure),
        denominator=word(board.denominator),
    )
    rows = [row for group in board.standings for row in (*group.ranked, *group.incomplete)]
    if any(row.rates for row in rows):
        counts = [
            say("{outcome}: {worth}", outcome=word(outcome), worth=word(worth))
            for outcome, worth in board.counts
            if outcome != "failed"
        ]
        yield say("Outcomes count as follows: {counts}.", counts=listed(counts))
        yield _endings(rows)
    yield from _corrected(board, rows)


def _scorer(data: PageData) -> Iterator[str]:
    if data.manifest is None or not data.manifest.scorers:
        return
    versions = joined([str(version) for version in data.manifest.scorers])
    judges = joined(data.manifest.judges)
    if judges:
        yield say(
            "Replies were read and scored by version {version} of the method's scorer, and judged "
            "by {judges}.",
            version=versions,
            judges=judges,
        )
    else:
        yield say(
            "Replies were read and scored by version {version} of the method's scorer, without a "
            "judge.",
            version=versions,
        )


def _endings(rows: list[BoardRow]) -> str:
    """How many replies of all were cut short, unreadable or refusals."""
    n = sum(row.n_replies for row in rows)
    ended = [
        say(
            "{n:g} {outcome}",
            n=sum(row.rate(outcome).count for row in rows),
            outcome=word(outcome),
        )
        for outcome in ("truncated", "unparsed", "refused")
        if any(row.rate(outcome).n for row in rows)
    ]
    failed = sum(row.failed for row in rows)
    told = say(
        "Of {replies}: {ended}.",
        replies=counted(n, "reply", "replies"),
        ended=joined(ended),
    )
    lost = say("Calls that brought no reply: {n}; they are no scores.", n=failed) if failed else ""
    return paragraph(told, lost)


def _corrected(board: Leaderboard, rows: list[BoardRow]) -> Iterator[str]:
    n = sum(row.corrections.total for row in rows)
    if board.as_scored:
        yield say("Neither rulings by people nor retirements of items are applied.")
    elif n:
        yield say(
            "People ruled on {replies}, and their rulings are applied.",
            replies=counted(n, "reply", "replies"),
        )
