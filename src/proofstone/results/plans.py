"""Which plans the runs of a leaderboard were made under, and what of it was planned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from proofstone.page.numbers import points, shown_interval
from proofstone.page.text import printable
from proofstone.results.planned import PlanMark
from proofstone.stats.flags import ESTIMANDS, estimand_name
from proofstone.wording.messages import counted, listed, say, word

if TYPE_CHECKING:
    from proofstone.results.board import Leaderboard
    from proofstone.stats.ranks import Comparison


def plan_lines(board: Leaderboard) -> Iterator[str]:
    """What was planned, when, and how this differs from it; nothing where there is no plan."""
    for mark in board.plans:
        yield printable(_head(mark))
        for text in _departures(board, mark):
            yield printable(say("departs from the plan {plan}: {how}", plan=mark.id, how=text))
        for first, second in mark.comparisons:
            found = _outcome(board, mark, first, second)
            late = mark.n_after == mark.n_runs
            said = say("named late: {found}" if late else "planned: {found}", found=found)
            yield printable(said)


def unplanned_line(board: Leaderboard, *, is_ours: bool) -> str:
    """What to say where no plan is known; nothing where there is one, or nobody was scored."""
    if board.plans or not board.standings:
        return ""
    if is_ours:
        return say(
            "Nothing was fixed before these results came in: every comparison here is exploratory."
        )
    return say(
        "It is not known whether anything was fixed before these results came in: take every "
        "comparison here as exploratory."
    )


def _head(mark: PlanMark) -> str:
    parts = [
        word(mark.measure),
        counted(mark.n_items, "item"),
        counted(mark.samples, "sample"),
    ]
    if mark.resolves is not None:
        parts.append(say("to find {points} points", points=points(mark.resolves)))
    plan = {"at": mark.made_at, "plan": mark.id, "what": listed(parts)}
    if mark.n_after == mark.n_runs:
        return say(
            "planned {at} {plan}, made after the first reply: everything here is exploratory "
            "({what})",
            **plan,
        )
    late = mark.n_after + mark.n_unplanned
    if late:
        return say(
            "planned {at} {plan}: {what}; {runs} here without a plan made before; everything else "
            "here is exploratory",
            runs=counted(late, "run"),
            **plan,
        )
    return say("planned {at} {plan}: {what}; everything else here is exploratory", **plan)


def _departures(board: Leaderboard, mark: PlanMark) -> Iterator[str]:
    names = {str(name): estimand_name(name) for name in ESTIMANDS}
    estimand = names.get(mark.estimand, mark.estimand)
    for what, here, then in (
        ("measure", board.measure, mark.measure),
        ("intervals speak of", board.estimand, estimand),
        ("averaged by", board.level, mark.level),
        ("confidence", f"{board.confidence:g}", f"{mark.confidence:g}"),
    ):
        if here != then:
            yield say(
                "{what} {here}, planned {then}", what=word(what), here=word(here), then=word(then)
            )
    if board.n_items < mark.n_items:
        yield say("{items}, planned {n:,}", items=counted(board.n_items, "item"), n=mark.n_items)


def _outcome(board: Leaderboard, mark: PlanMark, first: str, second: str) -> str:
    """What came of one planned comparison."""
    found = _compared(board, first, second)
    head = f"{first} - {second}"
    if found is None:
        return say(
            "{pair}: comparison unavailable: each model needs exactly one ranked run", pair=head
        )
    pair, sign = found
    low, high = sorted((sign * pair.low, sign * pair.high))
    k = len(mark.comparisons)
    p = min(1.0, pair.p * k)
    is_apart = p < 1 - mark.confidence
    return say(
        "{pair}: {difference} {interval} points, p {p:.2g}{times}: {told}",
        pair=head,
        difference=points(sign * pair.difference),
        interval=shown_interval(low, high),
        p=p,
        times=say(", times {k} planned", k=k) if k > 1 else "",
        told=say("significant" if is_apart else "not significant"),
    )


def _compared(board: Leaderboard, first: str, second: str) -> tuple[Comparison, int] | None:
    """The comparison of the only two ranked rows that have these names or labels."""
    for group in board.standings:
        places = [
            [at for at, row in enumerate(group.ranked) if name in (row.name, row.label)]
            for name in (first, second)
        ]
        if [len(each) for each in places] != [1, 1]:
            continue
        (a,), (b,) = places
        for pair in group.compared:
            if {pair.first, pair.second} == {a, b}:
                return pair, 1 if pair.first == a else -1
    return None
