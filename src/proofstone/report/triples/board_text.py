"""The leaderboard of verified triples as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from proofstone.records.results import Estimate
from proofstone.report.board import RowGroup
from proofstone.report.card_lines import group_heading, where_lines
from proofstone.report.card_values import card_value, group_order
from proofstone.report.columns import aligned, printable
from proofstone.report.numbers import MISSING, points, shown_estimate
from proofstone.report.terminal import SIMULATED_BANNER
from proofstone.report.triples.board import TripleBoard, TripleRow
from proofstone.report.triples.ranked_text import (
    TIED,
    fits,
    narrowed,
    people_line,
    rank_cell,
    shown_name,
)
from proofstone.wording import counted

__all__ = ["render_triple_board"]

_LABEL = 11
_ASK_TWICE = 0.02  # of verdicts: above it a figure's denominator holds too much that nobody judged
_YELLOW, _PLAIN = "\x1b[33m", "\x1b[0m"
_BOTH = ("precision", "recall")


def render_triple_board(
    board: TripleBoard,
    *,
    card_columns: Sequence[str] = (),
    width: int = 100,
    colour: bool = False,
) -> str:
    """All of it but the breakdowns, ending in a newline. Models first, simulated respondents apart
    under a banner, each with those below that cannot be ranked. Where rows do not fit in ``width``
    cells, intervals of the second table give way, then names are cut."""
    lines = [*_heading(board, width), ""]
    for simulated in (False, True):
        rows = [row for row in board.rows if row.simulated == simulated]
        if rows:
            banner = [_tinted(SIMULATED_BANNER, colour)] if simulated else []
            lines += [*banner, *_standing(board, rows, card_columns, width), ""]
    notes = [*_warnings(board, colour), *_people(board), *where_lines(board)]
    lines += [line for note in notes for line in _wrapped(note, width)]
    lines += [*_wrapped(_how(board), width), *_wrapped(_legend(board), width)]
    return "".join(f"{line}\n" for line in lines)


def _heading(board: TripleBoard, width: int) -> Iterator[str]:
    who = {simulated: len({row.group.model for row in board.rows if row.simulated == simulated})
           for simulated in (False, True)}  # fmt: skip
    said = counted(who[False], "model") + (f" and {who[True]:,} simulated" if who[True] else "")
    said += f" over {counted(board.entities, 'entity', 'entities')}"
    each = [_range(row.measured.estimates[side].n for row in board.rows
                   if side in row.measured.estimates) for side in _BOTH]  # fmt: skip
    judged = f"{each[0]} triples of each, {each[1]} of the reference"
    labelled = {
        "triples": f"{said}; in the sample {judged}",
        "asked": board.setting,
        "sample": board.sampling,
        "judge": board.judges,
        "reference": board.reference,
    }
    for label, text in labelled.items():
        if text:
            first, *others = textwrap.wrap(printable(text), max(width - _LABEL, 30))
            yield f"{label:<{_LABEL}}{first}"
            yield from (" " * _LABEL + line for line in others)


def _range(numbers: Iterator[int]) -> str:
    found = sorted(numbers)
    if not found:
        return "no"
    low, high = found[0], found[-1]
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _standing(
    board: TripleBoard, rows: Sequence[TripleRow], cards: Sequence[str], width: int
) -> Iterator[str]:
    ranked = [row for row in rows if not row.stands_apart]
    if ranked:
        yield from _table(board, ranked, cards, width)
        yield ""
        yield from _beside(board, ranked, width)
        if any(row.ties for row in ranked):
            yield TIED
        if not board.is_common and len(ranked) > 1 and ranked[0].rank is None:
            yield "These runs are of different entities, so they are not ranked against each other."
    experiments = [row for row in rows if row.experiment]
    if experiments:
        yield "experiments with other settings, not ranked (report --study compares them):"
        head = ["", "F1", "P", "R"]
        cells = [
            [shown_name(board, row.group), *(_estimate(row, name) for name in ("f1", *_BOTH))]
            for row in experiments
        ]
        yield from aligned(narrowed([head, *cells], 0, width), left=[0])
    rest = [row for row in rows if row not in ranked and not row.experiment]
    if rest:
        yield "not ranked:"
        yield from aligned(
            narrowed([_not_ranked(board, row) for row in rest], 0, width), left=[0, 1, 2]
        )


def _table(
    board: TripleBoard, rows: Sequence[TripleRow], cards: Sequence[str], width: int
) -> list[str]:
    """Ranks, F1, precision and recall; under headings where rows are grouped by their cards."""
    has_ranks = any(row.rank for row in rows) and len(rows) > 1
    head = [*(["rank"] * has_ranks), "model", *cards, "F1", "P", "R"]
    body = [
        [
            *([rank_cell(row.rank, row.ties)] * has_ranks),
            shown_name(board, row.group),
            *(printable(card_value(row.card, column)) for column in cards),
            *(_estimate(row, name) for name in ("f1", *_BOTH)),
        ]
        for row in rows
    ]
    name = head.index("model")
    left = range(name + 1 + len(cards))
    first, *lines = aligned(narrowed([head, *body], name, width), left=left)
    return [first, *_by_group(board, rows, lines)]


def _by_group(board: TripleBoard, rows: Sequence[TripleRow], lines: Sequence[str]) -> list[str]:
    """The lines of rows, those whose cards say the same under their heading."""
    field = board.group_by
    if not field:
        return list(lines)
    values = [card_value(row.card, field) for row in rows]
    found: list[str] = []
    for value in sorted(set(values), key=lambda value: group_order(field, value)):
        places = tuple(place for place, own in enumerate(values) if own == value)
        found.append(group_heading(field, RowGroup(name=value, ranked=places)))
        found += [lines[place] for place in places]
    return found


def _beside(board: TripleBoard, rows: Sequence[TripleRow], width: int) -> list[str]:
    """What stands beside the headline, with intervals where there is room for them."""
    has_fictional = any(row.fictional_given for row in rows)
    head = ["model", "contradicted", "abstained", *(["fictional"] * has_fictional), "per entity",
            "unparsed", "no ref."]  # fmt: skip
    tables = [
        [
            head,
            *(
                [
                    shown_name(board, row.group),
                    *_beside_cells(row, has_fictional, with_intervals=full),
                ]
                for row in rows
            ),
        ]
        for full in (True, False)
    ]
    chosen = tables[0] if fits(tables[0], width) else tables[1]
    return aligned(narrowed(chosen, 0, width), left=[0])


def _beside_cells(row: TripleRow, has_fictional: bool, *, with_intervals: bool) -> list[str]:
    def shown(estimate: Estimate | None) -> str:
        if estimate is None:
            return MISSING
        return shown_estimate(estimate) if with_intervals else points(estimate.value)

    said, estimates = row.volunteered, row.measured.estimates
    unparsed = [estimates.get(name) for name in ("unparsed", "recall_unparsed")]
    return [
        shown(estimates.get("contradiction")),
        shown(row.abstention),
        *([f"{said.fictional_given:,} of {said.fictional:,}"] * has_fictional),
        f"{said.triples / said.entities:.1f}" if said.entities else MISSING,
        points(max((each.value for each in unparsed if each), default=float("nan"))),
        _points(estimates.get("without_reference")),
    ]


def _not_ranked(board: TripleBoard, row: TripleRow) -> list[str]:
    counts = row.measured.counts
    n = sum(sum(side.values()) for side in counts.values())
    if row.waiting:
        why = f"{row.waiting:,} of {counted(n, 'triple')} wait for a judge"
    elif not n:
        why = "nothing of it is verified"
    elif row.other_entities:
        differ = counted(row.other_entities, "entity", "entities")
        why = f"held against other entities than most: {differ} differ"
    else:
        side = next(side for side in _BOTH if side not in row.measured.estimates)
        why = f"nothing is known of its {side}"
    so_far = [f"{text} {points(row.measured.estimates[name].value)}"
              for name, text in (("precision", "P"), ("recall", "R"))
              if name in row.measured.estimates]  # fmt: skip
    return [shown_name(board, row.group), why, f"so far {', '.join(so_far)}" if so_far else ""]


def _warnings(board: TripleBoard, colour: bool) -> Iterator[str]:
    for row in board.rows:
        estimates = row.measured.estimates
        for name, what in _WARNED.items():
            found = estimates.get(name)
            if found is not None and found.value > _ASK_TWICE:
                text = f"! {shown_name(board, row.group)}: {100 * found.value:.1f}% {what}"
                yield _tinted(text, colour)


_WARNED = {
    "unparsed": "of verdicts on its triples could not be read, and count against it: see what "
    "the judge said ('show'), or ask another judge",
    "recall_unparsed": "of verdicts on what it may have said could not be read, and count against "
    "it: see what the judge said ('show'), or ask another judge",
    "without_reference": "of its triples are about entities without a reference, and count against "
    "it: precision over the others is precision_judged (--json)",
}


def _people(board: TripleBoard) -> Iterator[str]:
    for row in board.rows:
        if row.people is not None:
            yield printable(
                people_line(
                    shown_name(board, row.group),
                    row.people.n,
                    row.people.estimates,
                    row.people.scattered,
                )
            )
    if board.people_elsewhere:
        yield f"people's labels on triples that are in no row: {board.people_elsewhere:,}"


def _how(board: TripleBoard) -> str:
    share = f"{100 * board.confidence:g}%"
    return (
        f"{share} intervals: entities are drawn again, in both directions and for all models at "
        "once. Rank ranges hold for all models together."
    )


def _legend(board: TripleBoard) -> str:
    has_fictional = any(row.fictional_given for row in board.rows)
    fictional = "fictional: entities that do not exist and got triples; " * has_fictional
    return (
        "contradicted, unparsed, no ref.: points of the triples in the sample; abstained: of the "
        f"entities; {fictional}per entity: triples that a model gave."
    )


def _estimate(row: TripleRow, name: str) -> str:
    found = row.measured.estimates.get(name)
    return MISSING if found is None else shown_estimate(found)


def _points(estimate: Estimate | None) -> str:
    return MISSING if estimate is None else points(estimate.value)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, max(width, 40), break_on_hyphens=False, subsequent_indent="  ")


def _tinted(text: str, colour: bool) -> str:
    return f"{_YELLOW}{text}{_PLAIN}" if colour else text
