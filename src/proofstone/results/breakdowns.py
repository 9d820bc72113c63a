"""A leaderboard by groups of items, as text: a table a grouping and measure, or of one respondent
all measures side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from proofstone.errors import BadUsage
from proofstone.page.numbers import MISSING, points, shown_interval, shown_share
from proofstone.page.text import aligned, cell_width, printable, widths
from proofstone.records.runs import Estimate
from proofstone.results.board import WARN_ABOVE, Advice, Breakdown, Rate, Standings
from proofstone.results.board_text import Leaderboard
from proofstone.wording.messages import listed, noted, say, word

# A group of fewer items has wide intervals.
FEW_ITEMS = 30


_ALIASES = {"position": "gold position"}


_NAMED = 8


def render_breakdowns(board: Leaderboard, by: Sequence[str], *, width: int = 100) -> Iterator[str]:
    """Each of the breakdowns that ``by`` names, as text ending in a newline; ``width`` in cells.

    Raises BadUsage for one that these results do not have, naming those they do.
    """
    for name in by:
        wanted = _ALIASES.get(name, name)
        found = [
            text
            for group in board.standings
            for breakdown in group.all_breakdowns
            if breakdown.is_named(wanted)
            for text in _tables(board, group, breakdown, width)
        ]
        if not found:
            named = {b.by for group in board.standings for b in group.all_breakdowns}
            known = sorted({*named, *(["document"] if board.has_documents else [])})
            raise BadUsage(f"no breakdown by {name!r}", hint=_instead(board, known))
        yield from found


def _instead(board: Leaderboard, known: Sequence[str]) -> str:
    """What there is to break down by, or why there is nothing."""
    if known:
        return f"there is: {', '.join(known)}"
    if any(group.ranked for group in board.standings):
        return "these items are in no groups"
    return "no respondent is whole yet: the leaderboard without --by says what is missing of each"


def _tables(
    board: Leaderboard, group: Standings, breakdown: Breakdown, width: int
) -> Iterator[str]:
    """The headline by group, and the other measures that are shown so."""
    others = breakdown.other_measures
    notes = _few(breakdown)
    if len(group.ranked) == 1 and others:
        head = [breakdown.by, "n", board.measure, *(other.label for other in others)]
        rows = [
            [
                *_named(entry.name, entry.n),
                *(_cell(e) for e in (*entry.estimates, *(o.estimates[0] for o in entry.others))),
            ]
            for entry in breakdown.groups
        ]
        yield _text([*_fitted(head, rows, width), *notes])
        return
    labels = [printable(row.label) for row in group.ranked]
    title = f"{breakdown.by}, {board.measure}" if others else breakdown.by
    rows = [
        [*_named(entry.name, entry.n), *map(_cell, entry.estimates)] for entry in breakdown.groups
    ]
    yield _text([*_fitted([title, "n", *labels], rows, width), *notes])
    for place, other in enumerate(others):
        rows = [
            [*_named(entry.name, entry.n), *map(_cell, entry.others[place].estimates)]
            for entry in breakdown.groups
        ]
        yield _text(_fitted([f"{breakdown.by}, {other.label}", "n", *labels], rows, width))


def _named(name: str, n: int) -> list[str]:
    return [printable(name) or "not stated", str(n)]


def _cell(estimate: Estimate) -> str:
    """The value with its interval; a dash for an interval that one item, or one group of items that
    hang together, would have to give."""
    shown = points(estimate.value)
    if shown == MISSING:
        return shown
    if estimate.effective_n < 2:
        return f"{shown} {MISSING}"
    return f"{shown} {shown_interval(estimate.low, estimate.high)}"


def _few(breakdown: Breakdown) -> list[str]:
    """A line on the groups that hold little, where there are such."""
    few = [each for each in breakdown.groups if each.n < FEW_ITEMS]
    small = [f"{printable(each.name)} ({each.n})" for each in few]
    if not small:
        return []
    more = f" and {len(small) - _NAMED} more" if len(small) > _NAMED else ""
    named = ", ".join(small[:_NAMED]) + more
    lone = any(e.effective_n < 2 for each in breakdown.groups for e in each.estimates)
    dash = (
        f"; {MISSING} marks fewer than two independent groups of questions, which leave no interval"
        if lone
        else ""
    )
    return [f"groups with fewer than {FEW_ITEMS} questions (wide intervals): {named}{dash}"]


def _fitted(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Groups as rows; where the names of columns are too long for the width, columns are numbered
    as the lines above the table are, and in as many blocks as the width asks for."""
    lines = aligned([head, *rows], left=[0])
    if max(map(cell_width, lines)) <= width:
        return lines
    labels = head[2:]
    numbers = [str(number) for number in range(1, len(labels) + 1)]
    keys = aligned([[f"{n})", label] for n, label in zip(numbers, labels, strict=True)], left=[1])
    return [*keys, *_blocks([[*head[:2], *numbers], *rows], width)]


def _blocks(rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """The rows in blocks of whole columns, each with the first two, at least one other in each."""
    widest = widths(rows)
    place = 2
    while place < len(widest):
        end, taken = place + 1, sum(widest[:2]) + 4 + widest[place]
        while end < len(widest) and taken + 2 + widest[end] <= width:
            taken += 2 + widest[end]
            end += 1
        yield from aligned([[*row[:2], *row[place:end]] for row in rows], left=[0])
        place = end


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


# Warnings on a row, each with what to try.

_TRY: Mapping[str, str] = {
    "truncated": noted("raise --max-tokens, or lower --reasoning-effort, and run again"),
    "unparsed": noted(
        "read some (proofstone show RUN --outcome unparsed -n 5), or try another --ask"
    ),
}


_TRY_IN_FILES: Mapping[str, str] = {
    "truncated": noted("the score counts them as wrong: rerun with a higher limit on tokens"),
    "unparsed": noted(
        "the score counts them as wrong, so it measures answer extraction too: read some "
        "responses, or score them again with another filter or scorer"
    ),
}


_TRY_JUDGED = noted(
    "the judge's replies held no label, which is not the model's doing: read some (proofstone show "
    "RUN --outcome unparsed -n 5), or try another judge (proofstone score RUN --judge OTHER)"
)


def advise(
    rates: Sequence[Rate], *, judged: bool = False, is_ours: bool = True
) -> tuple[Advice, ...]:
    """A warning for each of truncated and unparsed that more than 2% of the replies are; where they
    are ``judged``, unparsed is what a judge said. ``is_ours``: runs of a workspace, which commands
    can show and repeat; else a file's scores."""
    remedies = _TRY if is_ours else _TRY_IN_FILES
    return tuple(
        Advice(
            what=say(
                "{share} {outcome} ({count:,} of {n:,})",
                share=shown_share(rate.share),
                outcome=word(rate.outcome),
                count=rate.count,
                n=rate.n,
            ),
            try_next=say(
                _TRY_JUDGED if judged and rate.outcome == "unparsed" else remedies[rate.outcome]
            ),
        )
        for rate in rates
        if rate.outcome in _TRY and rate.share > WARN_ABOVE
    )


def advise_of_served(served: Sequence[tuple[str, int]]) -> tuple[Advice, ...]:
    """A warning where more than one model answered under the respondent's name."""
    if len(served) < 2:
        return ()
    models = listed([f"{model} {replies:,}" for model, replies in served])
    return (
        Advice(
            what=say("answered by {n} served models ({models})", n=len(served), models=models),
            try_next=say("ask one alone: a dated model name, or all afresh with --replicate NAME"),
        ),
    )
