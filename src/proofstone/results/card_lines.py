"""What is said of cards: the heading of a group of rows, whom a filter left out, notes."""

from __future__ import annotations

from collections.abc import Iterator

from proofstone.methods.bequ.report.board import TripleBoard
from proofstone.page.numbers import shown_estimate
from proofstone.page.text import printable
from proofstone.results.board import Leaderboard, RowGroup
from proofstone.wording.messages import counted, listed, say, word


def group_heading(field: str, group: RowGroup) -> str:
    """``kind: reasoning (2 respondents, mean 61.2 [58.0, 64.3])``."""
    said = counted(len(group.ranked), "respondent")
    if group.mean is not None and len(group.ranked) > 1:
        mean = shown_estimate(group.mean)
        said = say("{respondents}, mean {mean}", respondents=said, mean=mean)
    name = printable(word(group.name))
    return say("{field}: {name} ({said})", field=word(field), name=name, said=said)


def where_lines(board: Leaderboard | TripleBoard) -> Iterator[str]:
    """What was filtered and who is left out by it, then what to know of models and cards."""
    if board.where:
        n = len(board.left_out)
        names = [
            say("{name} ({why})", name=entry.name, why=word(entry.why)) for entry in board.left_out
        ]
        left_out = (
            say(
                "only {where}; left out {models}: {names}",
                where=board.where,
                models=counted(n, "model"),
                names=listed(names),
            )
            if n
            else say("only {where}; nobody is left out", where=board.where)
        )
        yield printable(left_out)
    yield from (printable(note) for note in board.notes)
